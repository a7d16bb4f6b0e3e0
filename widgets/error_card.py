"""What stands in place of an object that cannot be shown: what happened, with details to copy."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from widgets.icons import icon
from widgets.language import tr
from widgets.look import SPACE_PX, kind, label
from widgets.theme import Theme

_ICON = QSize(24, 24)


class ErrorCard(QWidget):
    """A heading and one sentence in the middle of the page; the rest of the window lives on.
    Attributes: `key`, by which what could not be opened may be tried `again` (a signal); empty
    where that is of no use."""

    again = Signal()

    def __init__(
        self,
        theme: Theme,
        heading: str,
        sentence: str,
        details: str = "",
        parent: QWidget | None = None,
        *,
        key: str = "",
    ) -> None:
        super().__init__(parent)
        kind(self, "page")
        self.key = key
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme = theme
        self._sign = QLabel()
        self._show_sign()
        theme.changed.connect(self._show_sign)
        card = QFrame()
        kind(card, "card")
        card.setMaximumWidth(130 * SPACE_PX)
        words = QVBoxLayout()
        words.setSpacing(2 * SPACE_PX)
        words.addWidget(label(heading, "heading", wrap=True))
        words.addWidget(label(sentence, "reading", wrap=True))
        if details:
            code = label(details, "code", wrap=True)
            code.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse
                | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
            words.addWidget(code)
        if key:
            button = QPushButton(tr("Try again"))
            button.clicked.connect(self.again)
            words.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
            self.setFocusProxy(button)
        row = QHBoxLayout(card)
        row.setContentsMargins(*[6 * SPACE_PX] * 4)
        row.setSpacing(4 * SPACE_PX)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        column = QVBoxLayout(self)
        column.addStretch(2)
        centre = QHBoxLayout()
        centre.addStretch(1)
        centre.addWidget(card, 4)
        centre.addStretch(1)
        column.addLayout(centre)
        column.addStretch(3)
        self.setAccessibleName(f"{heading}. {sentence}")

    def _show_sign(self) -> None:
        sign = icon(self._theme, "triangle-alert", "danger")
        self._sign.setPixmap(sign.pixmap(_ICON, self.devicePixelRatioF()))
