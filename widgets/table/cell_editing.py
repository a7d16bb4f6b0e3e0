"""What one does to the cells that are chosen in a grid; each intent may raise DocumentError."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QGuiApplication

from liveobj.documents import DocumentError
from liveobj.formulas.addresses import column_letters
from liveobj.objects.table import COLUMNS_MAX, ROWS_MAX, ColumnType
from widgets.language import tr
from widgets.table.cells_clipboard import CopiedCells, cells_in, mime_of_cells, rows_in_text
from widgets.table.grid import Grid
from widgets.table.table_model import Index, TableModel


class CellEditing:
    """The intents of one grid."""

    def __init__(self, model: TableModel, grid: Grid) -> None:
        self.model = model
        self.grid = grid
        self.table = model.table

    def cells(self, area: tuple[int, int, int, int]) -> list[tuple[str, str]]:
        """The real cells of a rectangle of the grid."""
        return [
            (row, column)
            for row in self.model.rows[area[0] : area[1] + 1]
            for column in self.model.columns[area[2] : area[3] + 1]
        ]

    def toggle(self, index: Index) -> None:
        """Ticks a cell of a column of checks, or takes the tick off."""
        if self.table.document.editable:
            text = "FALSE" if self.model.check(index) else "TRUE"
            self.model.write({(index.row(), index.column()): text}, "tick")

    def clear(self) -> None:
        """Empties what is chosen."""
        area = self.grid.area()
        if area is not None:
            self.table.document.undo_boundary()
            self.table.write(dict.fromkeys(self.cells(area), ""), "clear")

    def copy(self) -> None:
        area = self.grid.area()
        if area is None:
            return
        rows = self.model.rows[area[0] : area[1] + 1]
        columns = self.model.columns[area[2] : area[3] + 1]
        if not rows or not columns:
            return
        content = self.table.content
        copied = CopiedCells(
            str(self.table.fingerprint),
            content.row_number(rows[0]) or 0,
            content.column_number(columns[0]) or 0,
            tuple(tuple(content.text(row, column) for column in columns) for row in rows),
        )
        words = [[self.model.shown_text(row, column) for column in columns] for row in rows]
        QGuiApplication.clipboard().setMimeData(mime_of_cells(copied, words))

    def cut(self) -> None:
        self.copy()
        self.clear()

    def paste(self) -> None:
        """Puts what was copied at the current cell; one value fills all that is chosen."""
        area = self.grid.area()
        mime = QGuiApplication.clipboard().mimeData()
        if area is None or mime is None:
            return
        copied = cells_in(mime)
        if copied is not None and copied.table == str(self.table.fingerprint):
            rows: Sequence[Sequence[str]] = self._moved_formulas(copied, area)
        else:
            rows = rows_in_text(mime.text()) if mime.hasText() else []
        if rows:
            self._put(rows, area)

    def _moved_formulas(
        self, copied: CopiedCells, area: tuple[int, int, int, int]
    ) -> list[list[str]]:
        """The copied cells as they are typed at their new place."""
        target = self.table.content.row_number(
            self.model.rows[area[0]] if area[0] < len(self.model.rows) else ""
        )
        down = (len(self.table.content.rows) if target is None else target) - copied.row
        right = area[2] - copied.column
        content = self.table.content
        rows = max(len(content.rows), *(0, area[0] + len(copied.texts)))
        if rows > len(content.rows) and any(t.startswith("=") for r in copied.texts for t in r):
            self.model.bring_into_being(rows, area[2] + 1)
        return [
            [self.table.shown_formula(self.table.shifted(text, down, right)) for text in texts]
            for texts in copied.texts
        ]

    def _put(self, rows: Sequence[Sequence[str]], area: tuple[int, int, int, int]) -> None:
        top, bottom, left, right = area
        if len(rows) == 1 and len(rows[0]) == 1:
            text = rows[0][0]
            cells = {
                (row, column): text
                for row in range(top, bottom + 1)
                for column in range(left, right + 1)
            }
        else:
            cells = {
                (top + row, left + column): text
                for row, texts in enumerate(rows)
                for column, text in enumerate(texts)
            }
        if any(row >= ROWS_MAX or column >= COLUMNS_MAX for row, column in cells):
            raise DocumentError(tr("There is no room for so many cells here."))
        self.model.write(cells, "paste")
        width = max(len(texts) for texts in rows)
        if len(cells) > 1 and len(rows) * width > 1:
            self.grid.choose(top, left, top + len(rows) - 1, left + width - 1)

    def fill_down(self) -> None:
        """Repeats the first chosen row in those below it; formulas move along."""
        self._fill(down=True)

    def fill_right(self) -> None:
        self._fill(down=False)

    def _fill(self, *, down: bool) -> None:
        area = self.grid.area()
        if area is None or area[0] >= len(self.model.rows):
            return
        top, bottom, left, right = area
        content = self.table.content
        self.model.bring_into_being(bottom + 1, right + 1)
        self.table.document.undo_boundary()
        with self.table.document.transaction("fill"):
            for row in range(top, bottom + 1):
                for column in range(left, right + 1):
                    from_row, from_column = (top, column) if down else (row, left)
                    source = (self.model.rows[from_row], self.model.columns[from_column])
                    target = (self.model.rows[row], self.model.columns[column])
                    steps = (content.row_number(target[0]) or 0) - (
                        content.row_number(source[0]) or 0
                    )
                    text = self.table.shifted(content.text(*source), steps, column - from_column)
                    self.table.keep(*target, text)

    def insert_row(self) -> None:
        """Puts an empty row above the current one."""
        row = self.grid.currentIndex().row()
        at = (
            self.table.content.row_number(self.model.rows[row])
            if row < len(self.model.rows)
            else None
        )
        self.table.insert_rows(len(self.table.content.rows) if at is None else at)

    def insert_column(self) -> None:
        """Puts an empty column before the current one."""
        self.table.insert_columns(max(0, self.grid.currentIndex().column()))

    def delete_rows(self) -> None:
        area = self.grid.area()
        if area is not None:
            self.table.delete_rows(self.model.rows[area[0] : area[1] + 1])

    def delete_columns(self) -> None:
        area = self.grid.area()
        if area is not None:
            self.table.delete_columns(self.model.columns[area[2] : area[3] + 1])

    def move_rows(self, by: int) -> None:
        """Moves the chosen rows one up or down."""
        area = self.grid.area()
        rows = self.model.rows[area[0] : area[1] + 1] if area is not None else []
        if rows:
            first = self.table.content.row_number(rows[0]) or 0
            to = first - 1 if by < 0 else first + len(rows) + 1
            if to >= 0:
                self.table.move_rows(rows, to)

    def move_columns(self, by: int) -> None:
        """Moves the chosen columns one to the left or right."""
        area = self.grid.area()
        columns = self.model.columns[area[2] : area[3] + 1] if area is not None else []
        if columns and area is not None:
            to = area[2] - 1 if by < 0 else area[2] + len(columns) + 1
            if to >= 0:
                self.table.move_columns(columns, to)

    def sum_here(self) -> None:
        """Puts the sum of the numbers above into the current cell."""
        index = self.grid.currentIndex()
        letters = column_letters(index.column())
        last = index.row()
        if last > 0:
            self.model.write({(last, index.column()): f"=SUM({letters}1:{letters}{last})"}, "sum")

    def set_type(self, kind_of: ColumnType) -> None:
        """Says what the current column is for."""
        number = max(0, self.grid.currentIndex().column())
        if number >= len(self.model.columns):
            self.model.bring_into_being(0, number + 1)
        self.table.set_column_type(self.model.columns[number], kind_of)
