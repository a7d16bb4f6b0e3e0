"""Words that are shortened with dots where there is no room for all; a tooltip has all of them."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel

from widgets.look import SPACE_PX, kind

_LEAST_PX = 10 * SPACE_PX


class ElidedLabel(QLabel):
    """One line of a kind. `text()` is always the whole of it, and never read as markup."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        kind(self, name)
        self._whole = ""
        self._explanation = ""
        self.setText(text)

    def text(self) -> str:
        return self._whole

    def setText(self, text: str) -> None:
        self._whole = text
        self.setAccessibleName(text)
        self._elide()
        self.updateGeometry()

    def explain(self, sentence: str) -> None:
        """What the tooltip says while all words are to be seen."""
        self._explanation = sentence
        self._elide()

    def _elide(self) -> None:
        shown = self.fontMetrics().elidedText(
            self._whole, Qt.TextElideMode.ElideRight, self.contentsRect().width()
        )
        super().setText(shown)
        whole = [] if shown == self._whole else [self._whole]
        self.setToolTip("\n".join([*whole, *filter(None, [self._explanation])]))

    # Qt

    def sizeHint(self) -> QSize:
        around = self.width() - self.contentsRect().width()
        width = self.fontMetrics().horizontalAdvance(self._whole) + around + 1
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        hint = self.sizeHint()
        return QSize(min(hint.width(), _LEAST_PX), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()
