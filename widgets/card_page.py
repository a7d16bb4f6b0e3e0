"""A page with one card in its middle, which scrolls where it does not fit."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

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

    def describe(self) -> dict[str, Any]:
        """What can be read in the card, and where its buttons are on the screen, by their words."""
        labels = [one for one in self.findChildren(QLabel) if one.isVisible() and one.text()]
        buttons = [one for one in self.findChildren(QAbstractButton) if one.isVisible()]
        return {
            "words": [one.text() for one in labels],
            "buttons": {one.text(): _middle(one) for one in buttons},
        }


def _middle(widget: QWidget) -> tuple[int, int]:
    """Of what it shows: a tick in a wide row hears no click beyond its words."""
    across = min(widget.width(), widget.sizeHint().width())
    place = widget.mapToGlobal(QPoint(across // 2, widget.height() // 2))
    return place.x(), place.y()
