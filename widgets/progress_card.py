"""A small card over the foot of a page: what is being done to it, how far, and a way to stop."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from widgets.language import tr
from widgets.look import SPACE_PX, float_above, kind, label
from widgets.theme import Theme

_ABOVE_FOOT_PX = 6 * SPACE_PX


class ProgressCard(QFrame):
    """Lies over `page`; takes no focus from it. Attributes: `text`. Signals: `cancelled`."""

    cancelled = Signal()

    def __init__(self, theme: Theme, page: QWidget) -> None:
        super().__init__(page)
        kind(self, "float")
        self._theme = theme
        self._page = page
        self._label = label("", "plain")
        self._button = QPushButton(tr("Cancel"))
        self._button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._button.clicked.connect(self.cancelled)
        row = QHBoxLayout(self)
        row.setContentsMargins(4 * SPACE_PX, 2 * SPACE_PX, 2 * SPACE_PX, 2 * SPACE_PX)
        row.setSpacing(4 * SPACE_PX)
        row.addWidget(self._label)
        row.addWidget(self._button)
        self.hide()

    @property
    def text(self) -> str:
        return self._label.text()

    def show_progress(self, words: str) -> None:
        """Shows the card with these words."""
        if words != self.text:
            self._label.setText(words)
            self.setAccessibleName(words)
            self.place()
        if not self.isVisible():
            float_above(self, self._theme)
            self.place()
            self.show()
            self.raise_()

    def place(self) -> None:
        """Above the foot of the page, in its middle; to be called when the page is resized."""
        self.adjustSize()
        left = (self._page.width() - self.width()) // 2
        self.move(left, self._page.height() - self.height() - _ABOVE_FOOT_PX)
