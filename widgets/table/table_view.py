"""The view of a table: tools above, the grid, and what the chosen cells add up to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QInputDialog,
    QMenu,
    QWidget,
)

from liveobj.documents import DocumentError
from liveobj.formulas.addresses import column_letters
from liveobj.formulas.values import shown
from liveobj.objects.table import TEMPLATE_ID, Table
from liveobj.objects.table_content import TableChange
from liveobj.opening import Opening
from widgets.action import Action
from widgets.language import tr, tr_n
from widgets.look import SPACE_PX, label, line, page_column
from widgets.object_kind import ObjectKind
from widgets.object_view import ObjectView, Surroundings
from widgets.table.arrangement import Arrangement
from widgets.table.cell_editing import CellEditing
from widgets.table.cell_field import CellName
from widgets.table.cell_painter import corners
from widgets.table.csv_files import CsvFiles
from widgets.table.grid import Grid
from widgets.table.selections import Selections
from widgets.table.table_actions import table_actions
from widgets.table.table_model import Index, TableModel
from widgets.table.table_tools import TableTools, Tool
from widgets.throttle import QtAlarm, Throttle

CSV_FILTER = "CSV (*.csv *.tsv *.txt)"
_DESCRIBED_ROWS_MAX = 100
_SUMMED_CELLS_MAX = 50_000


class TableView(ObjectView):
    """Attributes: `table`, `model`, `grid`, `edit`, `csv`, `own` (order and filter, of which the
    others see nothing), `selections` (of all who are here)."""

    def __init__(
        self, around: Surroundings, opening: Opening, parent: QWidget | None = None
    ) -> None:
        super().__init__(around, opening, parent)
        table = opening.shared
        assert isinstance(table, Table), "the kind says what is opened"
        self.table = table
        self.model = TableModel(table, self)
        self.grid = Grid(around.theme, self.model)
        self.edit = CellEditing(self.model, self.grid)
        self.own = Arrangement(table)
        self.selections = Selections(self.model, self.grid)
        self.csv = CsvFiles(table, self._show_csv, around.say, self)
        self._structure_changed = False
        self._build()
        self._throttle = Throttle(self._show_changes, QtAlarm(self))
        self._subscriptions = [
            table.content.observe(self._on_content),
            table.presence.observe(lambda _: self._throttle.request()),
        ]
        self._actions = table_actions(self)
        self._connect()
        self._show_widths()
        self.arrange()
        self.grid.go(0, 0)
        self._show_others()

    # Building

    def _build(self) -> None:
        column = page_column(self)
        editable = self.table.document.editable
        tools = TableTools(self.around.theme, self._tools(), editable=editable)
        self.address, self.formula, self.filter = tools.address, tools.formula, tools.filter
        column.addWidget(tools)
        column.addWidget(line())
        column.addWidget(self.grid, 1)
        column.addWidget(line())
        below = QHBoxLayout()
        below.setContentsMargins(3 * SPACE_PX, SPACE_PX, 3 * SPACE_PX, SPACE_PX)
        self.size_words = label("", "small")
        self.sum_words = label("", "small")
        below.addWidget(self.size_words, 1)
        below.addWidget(self.sum_words)
        column.addLayout(below)
        self.setFocusProxy(self.grid)

    def _tools(self) -> Sequence[Tool]:
        def tool(icon: str, title: str, run: Callable[[], None], *, edits: bool = True) -> Tool:
            return Tool(icon, title, lambda: self.attempt(run), edits)

        return (
            tool("rows-3", tr("Insert row above"), self.edit.insert_row),
            tool("columns-3", tr("Insert column before"), self.edit.insert_column),
            tool("arrow-up-down", tr("Sort by this column"), self.sort_here, edits=False),
            tool("sigma", tr("Sum of the column"), self.edit.sum_here),
            tool("upload", tr("Import CSV…"), self.ask_import),
            tool("download", tr("Export CSV…"), self.ask_export, edits=False),
        )

    def _connect(self) -> None:
        grid = self.grid
        grid.toggled.connect(lambda index: self.attempt(lambda: self.edit.toggle(index)))
        grid.clear_asked.connect(lambda: self.attempt(self.edit.clear))
        grid.copy_asked.connect(self.edit.copy)
        grid.cut_asked.connect(lambda: self.attempt(self.edit.cut))
        grid.paste_asked.connect(lambda: self.attempt(self.edit.paste))
        grid.head_menu_asked.connect(self._show_head_menu)
        grid.chosen.connect(self._on_chosen)
        grid.typed.connect(lambda typed: self.set_draft("cell", typed))
        self.formula.typed.connect(lambda typed: self.set_draft("field", typed))
        grid.horizontalHeader().sectionResized.connect(self._on_resized)
        self.formula.written.connect(
            lambda cell, words: self.attempt(lambda: self._write_cell(cell, words))
        )
        self.formula.entered.connect(self._go_on_below)
        self.formula.dropped.connect(self._back_to_grid)
        self.filter.textChanged.connect(lambda _: self.arrange())

    def attempt(self, intent: Callable[[], None]) -> None:
        """Does what was asked for, or says why not."""
        try:
            intent()
        except DocumentError as problem:
            self.around.say(str(problem))

    # What has changed

    def _on_content(self, change: TableChange) -> None:
        self._structure_changed |= change.structure
        if change.origin.mine:
            self._show_changes()
            self.model.show_cells(change)
        else:
            self.model.show_cells(change)
            self._throttle.request()

    def _show_changes(self) -> None:
        if self._structure_changed or self.own.sort_column or self.filter.text():
            self._structure_changed = False
            self.arrange()
            self._show_widths()
        self._show_others()
        self._show_cell()
        self._show_words()
        self.changed.emit()

    def arrange(self) -> None:
        """Puts rows into one's own order, and leaves out those that do not pass the filter."""
        words = self.filter.text().strip()
        self.model.filtered = bool(words)
        rows = self.own.rows(words, self.model.plain_text)
        self.model.show_structure(rows)
        self._show_sort_mark()
        self._show_words()

    def _show_sort_mark(self) -> None:
        head = self.grid.horizontalHeader()
        shown_mark = self.own.sort_column in self.model.columns
        head.setSortIndicatorShown(shown_mark)
        if shown_mark:
            order = (
                Qt.SortOrder.DescendingOrder if self.own.descending else Qt.SortOrder.AscendingOrder
            )
            head.setSortIndicator(self.model.columns.index(self.own.sort_column), order)

    def _show_widths(self) -> None:
        head = self.grid.horizontalHeader()
        head.blockSignals(True)
        for number, column in enumerate(self.model.columns):
            width = self.table.content.column_width(column) or head.defaultSectionSize()
            if head.sectionSize(number) != width:
                head.resizeSection(number, width)
        head.blockSignals(False)
        self.grid.updateGeometries()
        self.grid.viewport().update()

    def _on_resized(self, section: int, _old: int, new: int) -> None:
        if section < len(self.model.columns) and self.table.document.editable:
            self.table.set_column_width(self.model.columns[section], new)

    # Others

    def show_person(self, node: int) -> None:
        """Scrolls to where somebody is."""
        other = self.selections.of(node)
        if other is not None:
            self.grid.scrollTo(corners(self.model, other)[0])

    def _show_others(self) -> None:
        others = self.selections.others()
        if others != self.grid.others:
            self.grid.others = others
            self.grid.viewport().update()

    def _on_chosen(self) -> None:
        self._show_cell()
        self.selections.tell_mine()
        self._show_words()
        self.changed.emit()

    def _show_cell(self) -> None:
        """Which cell is the current one, and what is in it."""
        index = self.grid.currentIndex()
        self.address.setText(f"{column_letters(index.column())}{self._row_words(index)}")
        cell = self.model.cell(index)
        typed = "" if cell is None else self.table.as_typed(*cell)
        self.formula.show_cell(cell or self.model.spare_number(index), typed)

    def _row_words(self, index: Index) -> str:
        return str(self.model.headerData(index.row(), Qt.Orientation.Vertical) or "")

    def _show_words(self) -> None:
        content = self.table.content
        rows = tr_n("{count} row", "{count} rows", len(content.rows))
        columns = tr_n("{count} column", "{count} columns", len(content.columns))
        words = f"{rows} · {columns}"
        if self.filter.text().strip():
            words = tr("{found} of {rows} shown", found=len(self.model.rows), rows=rows)
        if not self.csv.is_busy:
            self.size_words.setText(words)
        self.sum_words.setText(self._sum_words())

    def _sum_words(self) -> str:
        area = self.grid.area()
        if area is None or (area[1] - area[0] + 1) * (area[3] - area[2] + 1) > _SUMMED_CELLS_MAX:
            return ""
        values = [self.table.content.value(row, column) for row, column in self.edit.cells(area)]
        numbers = [v for v in values if isinstance(v, float) and not isinstance(v, bool)]
        if len(numbers) < 2:
            return ""
        total = sum(numbers)
        return tr(
            "Sum {sum} · Average {average} · Count {count}",
            sum=shown(total),
            average=f"{total / len(numbers):.6g}",
            count=len(numbers),
        )

    def _write_cell(self, cell: CellName, words: str) -> None:
        """What was written in the line above, for the cell where that was begun."""
        content = self.table.content
        row, column = cell
        if isinstance(row, int) or isinstance(column, int):
            self.table.grow(int(row) + 1, int(column) + 1, undoable=False)
            row, column = content.rows[int(row)], content.columns[int(column)]
        if content.place_of(row, column) is None:
            self.around.say(tr("The cell is gone: “{words}” was not written.", words=words))
        elif words != self.table.as_typed(row, column):
            self.model.write_named({(row, column): words}, "write")

    def _go_on_below(self) -> None:
        self.grid.setFocus()
        self.grid.step(1, 0)

    def _back_to_grid(self) -> None:
        self._show_cell()
        self.grid.setFocus()

    # One's own arrangement

    def sort_here(self) -> None:
        """Sorts by the current column: up, down, and as everybody has it."""
        number = self.grid.currentIndex().column()
        if number >= len(self.model.columns):
            return
        self.own.turn(self.model.columns[number])
        self.arrange()

    # Columns

    def name_column(self) -> None:
        """Asks for the name of the current column."""
        number = max(0, self.grid.currentIndex().column())
        if number >= len(self.model.columns):
            self.attempt(lambda: self.model.bring_into_being(0, number + 1))
        column = self.model.columns[number]
        dialog = QInputDialog(self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle(tr("Name of the column"))
        dialog.setLabelText(tr("Name of column {letters}", letters=column_letters(number)))
        dialog.setTextValue(self.table.content.column_name(column))
        dialog.textValueSelected.connect(
            lambda name: self.attempt(lambda: self.table.name_column(column, name))
        )
        dialog.open()

    def _show_head_menu(self, orientation: Qt.Orientation, section: int, place: QPoint) -> None:
        if section < 0:
            return
        area = self.grid.area() or (0, 0, 0, 0)
        if orientation is Qt.Orientation.Horizontal and not area[2] <= section <= area[3]:
            self.grid.selectColumn(section)
        elif orientation is Qt.Orientation.Vertical and not area[0] <= section <= area[1]:
            self.grid.selectRow(section)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        wanted = "column" if orientation is Qt.Orientation.Horizontal else "row"
        for action in self.actions_here():
            if wanted in action.identity:
                entry = menu.addAction(action.title, action.run)
                entry.setEnabled(not action.why_not())
        menu.popup(place)

    # CSV

    def ask_import(self) -> None:
        self.around.ask_for_files(
            tr("Import CSV"), CSV_FILTER, lambda files: self.import_file(files[0])
        )

    def import_file(self, file: Path) -> None:
        """Appends the rows of a file, while one goes on."""
        self.csv.import_file(file)

    def _show_csv(self, words: str) -> None:
        if words:
            self.size_words.setText(words)
        else:
            self._show_words()

    def ask_export(self) -> None:
        name = f"{self.opening.title}.csv"
        self.around.ask_where_to_save(tr("Export CSV"), name, CSV_FILTER, self.export_file)

    def export_file(self, file: Path, *, harmless: bool = True) -> None:
        """Writes everything as it is shown, in the order that everybody has."""
        self.csv.export_file(file, harmless=harmless)

    # Actions

    def actions_here(self) -> Sequence[Action]:
        return self._actions

    # For whoever shows the view

    def show_newest(self) -> None:
        self._throttle.request()
        self._throttle.flush()

    def finish_typing(self) -> None:
        self.grid.finish_typing()
        self.formula.finish()

    def describe(self) -> dict[str, Any]:
        content = self.table.content
        return {
            "columns": [
                {
                    "name": content.column_name(column) or column_letters(number),
                    "type": content.column_type(column),
                }
                for number, column in enumerate(content.columns)
            ],
            "rows": [
                [self.model.shown_text(row, column) for column in content.columns]
                for row in self.model.rows[:_DESCRIBED_ROWS_MAX]
            ],
            "size": [len(content.rows), len(content.columns)],
            "current": self.address.text(),
            "others": {
                other.name: self.selections.place_words(other) for other in self.selections.others()
            },
        }

    def close_view(self) -> None:
        self.csv.cancel()
        self.table.presence.set_spot(None)
        for subscription in self._subscriptions:
            subscription.close()
        self._throttle.close()


KIND = ObjectKind(
    TEMPLATE_ID,
    title=tr("Table"),
    sentence=tr("Rows and columns that several people fill, with formulas"),
    icon="table-2",
    view=TableView,
)
