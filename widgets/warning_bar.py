"""A bar across the top of a page that warns of something the person must know, with what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from widgets.icons import icon
from widgets.look import SPACE_PX, kind, label
from widgets.theme import Theme

_SIGN = QSize(20, 20)

Choice = tuple[str, Callable[[], object]]


class WarningBar(QFrame):
    """Hidden until there is something to warn of. Attributes: `text`, what it says."""

    def __init__(self, theme: Theme, choices: Sequence[Choice], parent: QWidget | None = None):
        super().__init__(parent)
        kind(self, "warning")
        self._theme = theme
        self._sign = QLabel()
        self._words = label("", "on-warning", wrap=True)
        row = QHBoxLayout(self)
        row.setContentsMargins(4 * SPACE_PX, 2 * SPACE_PX, 4 * SPACE_PX, 2 * SPACE_PX)
        row.setSpacing(3 * SPACE_PX)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self._words, 1)
        self.buttons = [self._button(*choice) for choice in choices]
        for button in self.buttons:
            row.addWidget(button)
        self._show_sign()
        theme.changed.connect(self._show_sign)
        self.hide()

    @property
    def text(self) -> str:
        return self._words.text()

    def warn(self, sentence: str) -> None:
        """Shows the sentence; an empty one hides the bar."""
        if sentence and sentence != self.text:
            self._words.setText(sentence)
            self.setAccessibleName(sentence)
        if self.isHidden() == bool(sentence):
            self.setVisible(bool(sentence))

    def _button(self, words: str, run: Callable[[], object]) -> QPushButton:
        button = QPushButton(words)
        kind(button, "on-warning")
        button.clicked.connect(lambda _checked=False: run())
        return button

    def _show_sign(self) -> None:
        sign = icon(self._theme, "triangle-alert", "raised")
        self._sign.setPixmap(sign.pixmap(_SIGN, self.devicePixelRatioF()))
