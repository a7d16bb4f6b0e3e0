"""A page with one card in its middle, which scrolls where it does not fit."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from widgets.look import SPACE_PX, kind


class CardPage(QScrollArea):
    """Attributes: `column`, the layout of what is in the card."""

    def __init__(self, width_px: int = 600, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setWidgetResizable(True)
        page = QWidget()
        kind(page, "page")
        self.setWidget(page)
        card = QFrame()
        kind(card, "card")
        card.setMaximumWidth(width_px)
        self.column = QVBoxLayout(card)
        self.column.setContentsMargins(*[7 * SPACE_PX] * 4)
        self.column.setSpacing(4 * SPACE_PX)
        outer = QVBoxLayout(page)
        outer.setContentsMargins(*[5 * SPACE_PX] * 4)
        outer.addStretch(2)
        middle = QHBoxLayout()
        middle.addStretch(1)
        middle.addWidget(card, 100)
        middle.addStretch(1)
        outer.addLayout(middle)
        outer.addStretch(3)
