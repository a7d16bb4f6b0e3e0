"""The row above a table: tools, which cell one is in, what is in it, and the filter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QToolButton, QWidget

from widgets.icons import show_icon
from widgets.language import tr
from widgets.look import SPACE_PX, label
from widgets.theme import Theme


@dataclass(frozen=True, slots=True)
class Tool:
    """A button; one that `edits` is not for who may only look."""

    icon: str
    title: str
    run: Callable[[], None]
    edits: bool = True


class TableTools(QWidget):
    """Attributes: `address`, `formula`, `filter`."""

    def __init__(self, theme: Theme, tools: Sequence[Tool], *, editable: bool) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(2 * SPACE_PX, SPACE_PX, 2 * SPACE_PX, SPACE_PX)
        row.setSpacing(SPACE_PX)
        for tool in tools:
            button = QToolButton()
            show_icon(button, theme, tool.icon)
            button.setToolTip(tool.title)
            button.setAccessibleName(tool.title)
            button.clicked.connect(tool.run)
            button.setEnabled(editable or not tool.edits)
            row.addWidget(button)
        self.address = label("A1", "code")
        self.address.setFixedWidth(14 * SPACE_PX)
        self.address.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.formula = QLineEdit()
        self.formula.setAccessibleName(tr("What is in the cell"))
        self.formula.setPlaceholderText(tr("Text, number or =SUM(A1:A9)"))
        self.formula.setReadOnly(not editable)
        self.filter = QLineEdit()
        self.filter.setAccessibleName(tr("Show only rows that contain"))
        self.filter.setPlaceholderText(tr("Filter rows"))
        self.filter.setClearButtonEnabled(True)
        self.filter.setFixedWidth(40 * SPACE_PX)
        row.addWidget(self.address)
        row.addWidget(self.formula, 1)
        row.addWidget(self.filter)
