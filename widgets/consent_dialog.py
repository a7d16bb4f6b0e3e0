"""The question before code of somebody else runs here for the first time."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from liveobj.packages.trust import Question
from widgets.icons import icon
from widgets.language import tr
from widgets.look import SPACE_PX, kind, label
from widgets.theme import Theme

_SIGN = QSize(28, 28)


def sentences(question: Question) -> list[str]:
    """What the person should know."""
    key = " ".join(question.publisher[i : i + 4] for i in range(0, 16, 4))
    values = {"title": question.title, "version": question.version}
    if question.confined:
        rights = tr(
            "“{title}” (version {version}) brings code of its own. It would run in a process apart,"
            " without your files and without the network.",
            **values,
        )
    else:
        rights = tr(
            "“{title}” (version {version}) brings code of its own. It would run on this computer"
            " with the same rights as this program: it can read and change your files.",
            **values,
        )
    return [
        rights,
        tr(
            "Its publisher's key begins with {key}. Ask whoever gave it to you for theirs.", key=key
        ),
    ]


class ConsentDialog(QDialog):
    """Signals: `answered(agreed)`, once. Closing it means no."""

    answered = Signal(bool)

    def __init__(self, theme: Theme, question: Question, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("May it run?"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setFixedWidth(115 * SPACE_PX)
        sign = QLabel()
        sign.setPixmap(
            icon(theme, "triangle-alert", "warning").pixmap(_SIGN, self.devicePixelRatioF())
        )
        column = QVBoxLayout()
        column.setSpacing(3 * SPACE_PX)
        column.addWidget(
            label(tr("Let “{title}” run?", title=question.title), "heading", wrap=True)
        )
        words = sentences(question)
        for sentence in words:
            column.addWidget(label(sentence, "plain", wrap=True))
        refuse = QPushButton(tr("Do not run it"))
        kind(refuse, "primary")
        refuse.setDefault(True)
        refuse.clicked.connect(self.reject)
        agree = QPushButton(tr("Trust this publisher and run it"))
        agree.setAutoDefault(False)
        agree.clicked.connect(self.accept)
        buttons = QHBoxLayout()
        buttons.addWidget(agree)
        buttons.addStretch(1)
        buttons.addWidget(refuse)
        column.addSpacing(2 * SPACE_PX)
        column.addLayout(buttons)
        row = QHBoxLayout(self)
        row.setContentsMargins(*[6 * SPACE_PX] * 4)
        row.setSpacing(4 * SPACE_PX)
        row.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 1)
        self.setAccessibleDescription(" ".join(words))
        self.finished.connect(
            lambda result: self.answered.emit(result == QDialog.DialogCode.Accepted)
        )
        refuse.setFocus()
