"""The question before work that is on no disk would be left behind."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from widgets.icons import icon
from widgets.language import tr
from widgets.look import SPACE_PX, kind, label
from widgets.theme import Theme

_SIGN = QSize(28, 28)
_NAMED_MAX = 5


class UnsavedDialog(QDialog):
    """Signals: `retry_asked`, `copy_asked`: the dialog stays; `left`: the person goes all the same.
    Closing it means to stay."""

    retry_asked = Signal()
    copy_asked = Signal()
    left = Signal()

    def __init__(
        self, theme: Theme, reason: str, leave: str, *, can_copy: bool, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Not saved"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setFixedWidth(125 * SPACE_PX)
        sign = QLabel()
        sign.setPixmap(
            icon(theme, "triangle-alert", "danger").pixmap(_SIGN, self.devicePixelRatioF())
        )
        self._titles = label("", "strong", wrap=True)
        self.said = label("", "muted", wrap=True)
        self.said.hide()
        column = QVBoxLayout()
        column.setSpacing(3 * SPACE_PX)
        column.addWidget(label(tr("Some changes are not saved"), "heading", wrap=True))
        column.addWidget(label(reason, "plain", wrap=True))
        column.addWidget(self._titles)
        column.addWidget(self.said)
        column.addSpacing(2 * SPACE_PX)
        column.addLayout(self._buttons(leave, can_copy))
        row = QHBoxLayout(self)
        row.setContentsMargins(*[6 * SPACE_PX] * 4)
        row.setSpacing(4 * SPACE_PX)
        row.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 1)
        self.setAccessibleDescription(reason)

    def _buttons(self, leave: str, can_copy: bool) -> QVBoxLayout:
        self.retry = QPushButton(tr("Try again"))
        kind(self.retry, "primary")
        self.retry.setDefault(True)
        self.retry.clicked.connect(self.retry_asked)
        self.copy = QPushButton(tr("Save a copy elsewhere…"))
        self.copy.setAutoDefault(False)
        self.copy.setVisible(can_copy)
        self.copy.clicked.connect(self.copy_asked)
        self.leave = QPushButton(leave)
        kind(self.leave, "danger")
        self.leave.setAutoDefault(False)
        self.leave.clicked.connect(self._on_left)
        self.cancel = QPushButton(tr("Cancel"))
        self.cancel.setAutoDefault(False)
        self.cancel.clicked.connect(self.reject)
        first, second = QHBoxLayout(), QHBoxLayout()
        first.addWidget(self.retry)
        first.addWidget(self.copy)
        first.addStretch(1)
        second.addWidget(self.leave)
        second.addStretch(1)
        second.addWidget(self.cancel)
        both = QVBoxLayout()
        both.setSpacing(3 * SPACE_PX)
        both.addLayout(first)
        both.addLayout(second)
        self.retry.setFocus()
        return both

    def show_titles(self, titles: Sequence[str]) -> None:
        """Names the objects that are concerned."""
        named = ", ".join(titles[:_NAMED_MAX])
        more = len(titles) - _NAMED_MAX
        self._titles.setText(
            tr("{titles} and {more} more", titles=named, more=more) if more > 0 else named
        )

    def say(self, sentence: str) -> None:
        """Shows what has come of a try."""
        self.said.setText(sentence)
        self.said.setVisible(bool(sentence))
        self.adjustSize()

    def _on_left(self) -> None:
        self.left.emit()
        self.accept()
