"""Puts the rows of a CSV file into a table, a piece per turn of the loop, so that the window stays
alive."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import date

from PySide6.QtCore import QObject, QTimer

from liveobj.documents import DocumentError
from liveobj.formulas.values import number_of
from liveobj.objects.table import ColumnType, Table

# Less than a frame; what the change costs everybody comes on top.
TURN_S = 0.008
_ROWS_PER_LOOK = 8
# Making room costs as much as the table is long, so it is not made row by row.
_ROOM_ROWS = 1000
_LOOKED_AT_ROWS = 200


def looks_like_names(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: texts, all different, above something else."""
    if len(rows) < 2 or not rows[0]:
        return False
    names = [name.strip() for name in rows[0]]
    return all(names) and len(set(names)) == len(names) and all(number_of(n) is None for n in names)


def guess_type(values: Sequence[str]) -> ColumnType:
    """What a column of such texts is for."""
    filled = [value.strip() for value in values if value.strip()]
    if filled and all(value.upper() in ("TRUE", "FALSE") for value in filled):
        return ColumnType.CHECK
    if filled and all(number_of(value) is not None for value in filled):
        return ColumnType.NUMBER
    if filled and all(_is_date(value) for value in filled):
        return ColumnType.DATE
    return ColumnType.TEXT


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


class CsvImport(QObject):
    """Appends rows below what is in the table. `progress` is told how many rows are in, `done` a
    sentence if it could not be finished, or an empty one."""

    def __init__(
        self,
        table: Table,
        rows: Sequence[Sequence[str]],
        progress: Callable[[int, int], None],
        done: Callable[[str], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._table = table
        self._progress = progress
        self._done = done
        self._names = list(rows[0]) if not table.content.columns and looks_like_names(rows) else []
        self._rows = list(rows[1:] if self._names else rows)
        self._at = 0
        self._is_open = False  # one step of undo for all of it
        self._room: list[str] = []  # rows that are made and not filled, the next one last
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._turn)

    def start(self) -> None:
        """Describes the columns, then goes on turn by turn."""
        width = max((len(row) for row in [self._names, *self._rows]), default=0)
        typed = not self._table.content.columns
        try:
            self._table.check_room(len(self._rows), width - len(self._table.content.columns))
            self._table.document.undo_boundary()
            self._table.document.begin_undo_group()
            self._is_open = True
            with self._table.document.transaction("import"):
                self._make_room(width)
                if typed:
                    self._describe_columns(width)
        except DocumentError as problem:
            self.cancel()
            self._done(str(problem))
            return
        self._timer.start(0)

    def _describe_columns(self, width: int) -> None:
        columns = self._table.content.columns
        looked_at = self._rows[:_LOOKED_AT_ROWS]
        for number in range(width):
            if number < len(self._names):
                self._table.name_column(columns[number], self._names[number])
            kind = guess_type([row[number] for row in looked_at if number < len(row)])
            if kind is not ColumnType.TEXT:
                self._table.set_column_type(columns[number], kind)

    def cancel(self) -> None:
        """Stops; what is in stays, and undo takes it out."""
        self._timer.stop()
        if self._is_open:
            self._is_open = False
            self._table.document.end_undo_group()

    def _turn(self) -> None:
        end_s = time.perf_counter() + TURN_S
        try:
            with self._table.document.transaction("import"):
                if not self._room and self._at < len(self._rows):
                    self._make_room()  # enough for one turn
                else:
                    self._fill_rows(end_s)
        except DocumentError as problem:
            self.cancel()
            self._done(str(problem))
            return
        self._progress(self._at, len(self._rows))
        if self._at >= len(self._rows):
            self.cancel()
            self._done("")

    def _make_room(self, width: int = 0) -> None:
        count = min(_ROOM_ROWS, len(self._rows) - self._at)
        before = set(self._table.content.rows)
        self._table.grow(len(before) + count, width)
        made = [row for row in self._table.content.rows if row not in before]
        self._room = made[::-1]

    def _fill_rows(self, end_s: float) -> None:
        while self._room:
            row = self._room.pop()
            # Rows that somebody has deleted meanwhile stay deleted.
            if self._table.content.row_number(row) is not None:
                self._keep_row(row)
            self._at += 1
            if self._at % _ROWS_PER_LOOK == 0 and time.perf_counter() > end_s:
                break

    def _keep_row(self, row: str) -> None:
        for column, text in zip(self._table.content.columns, self._rows[self._at], strict=False):
            if text:
                # A text of a file is never a formula of ours.
                self._table.keep(row, column, text if not text.startswith("=") else f"'{text}")
