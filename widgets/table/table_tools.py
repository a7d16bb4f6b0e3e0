"""The row above a table: tools, which cell one is in, what is in it, and the filter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QToolButton

from widgets.icons import show_icon
from widgets.language import tr
from widgets.look import SPACE_PX, label
from widgets.table.cell_field import CellField
from widgets.theme import Theme
from widgets.tool_row import ToolRow


@dataclass(frozen=True, slots=True)
class Tool:
    """A button; one that `edits` is not for who may only look."""

    icon: str
    title: str
    run: Callable[[], None]
    edits: bool = True


class TableTools(ToolRow):
    """Attributes: `address`, `formula`, `filter`."""

    def __init__(self, theme: Theme, tools: Sequence[Tool], *, editable: bool) -> None:
        super().__init__(theme)
        for tool in tools:
            button = QToolButton()
            show_icon(button, theme, tool.icon)
            button.setToolTip(tool.title)
            button.setAccessibleName(tool.title)
            button.clicked.connect(tool.run)
            button.setEnabled(editable or not tool.edits)
            self.add_tool(button)
        self.address = label("A1", "code")
        self.address.setFixedWidth(14 * SPACE_PX)
        self.address.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.formula = CellField()
        self.formula.setMinimumWidth(36 * SPACE_PX)
        self.formula.setReadOnly(not editable)
        self.filter = QLineEdit()
        self.filter.setAccessibleName(tr("Show only rows that contain"))
        self.filter.setPlaceholderText(tr("Filter rows"))
        self.filter.setClearButtonEnabled(True)
        self.filter.setMinimumWidth(24 * SPACE_PX)
        self.filter.setMaximumWidth(40 * SPACE_PX)
        self.add(self.address)
        self.add(self.formula, 3)
        self.add(self.filter, 1)
