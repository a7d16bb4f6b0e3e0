"""CSV files into a table and out of it, while one goes on: read and written in a thread, put in and
taken out a piece per turn of the loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from liveobj.csv_text import read_csv, write_csv
from liveobj.formulas.addresses import column_letters
from liveobj.formulas.values import shown
from liveobj.objects.table import COLUMNS_MAX, ROWS_MAX, Table
from transport.whole_file import export_whole
from widgets.in_thread import InThread
from widgets.language import tr
from widgets.table.csv_import import TURN_S, CsvImport

_ROWS_PER_LOOK = 20


class CsvFiles(QObject):
    """`show` is told how far it is, in words, and nothing when it is over; `say` how it ended."""

    def __init__(
        self, table: Table, show: Callable[[str], None], say: Callable[[str], None], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._table = table
        self._show = show
        self._say = say
        self._work: InThread | CsvImport | _Export | None = None

    @property
    def is_busy(self) -> bool:
        return self._work is not None

    def cancel(self) -> None:
        """Stops; what is in the table stays, and undo takes it out."""
        if self._work is not None:
            self._work.cancel()
            self._end("")

    def _end(self, sentence: str) -> None:
        self._work = None
        self._show("")
        if sentence:
            self._say(sentence)

    # In

    def import_file(self, file: Path) -> None:
        """Appends the rows of a file; says what is wrong with it if it cannot be read."""
        self.cancel()
        self._show(tr("Reading {file}", file=file.name))
        read = partial(_read, file)
        self._work = InThread(read, lambda rows, bad: self._on_read(file, rows, bad), self)

    def _on_read(self, file: Path, rows: list[list[str]], problem: Exception | None) -> None:
        if problem is not None:
            reason = problem.strerror if isinstance(problem, OSError) else str(problem)
            self._end(tr("{file} was not imported. {reason}", file=file.name, reason=reason))
            return
        self._work = CsvImport(self._table, rows, self._show_import, self._end_import, self)
        self._work.start()

    def _show_import(self, done: int, of: int) -> None:
        self._show(tr("Importing: {done} of {of} rows", done=done, of=of))

    def _end_import(self, problem: str) -> None:
        self._end(problem or tr("Imported. Undo takes it out again."))

    # Out

    def export_file(self, file: Path, *, harmless: bool = True) -> None:
        """Writes everything as it is shown, in the order that everybody has."""
        self.cancel()

        def taken(rows: list[list[str]]) -> None:
            self._show(tr("Writing {file}", file=file.name))
            write = partial(_write, file, rows, harmless=harmless)
            self._work = InThread(write, lambda _, bad: self._on_written(file, bad), self)

        self._work = _Export(self._table, self._show_export, taken, self)

    def _show_export(self, done: int, of: int) -> None:
        self._show(tr("Exporting: {done} of {of} rows", done=done, of=of))

    def _on_written(self, file: Path, problem: Exception | None) -> None:
        if problem is None:
            self._end(tr("Exported {file}.", file=file.name))
        else:
            reason = problem.strerror if isinstance(problem, OSError) else str(problem)
            self._end(tr("{file} was not written: {reason}.", file=file.name, reason=reason))


class _Export(QObject):
    """Takes the rows out of a table, a piece per turn; those that are deleted meanwhile are left
    out."""

    def __init__(
        self,
        table: Table,
        progress: Callable[[int, int], None],
        taken: Callable[[list[list[str]]], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._content = table.content
        self._progress = progress
        self._taken = taken
        self._columns = list(table.content.columns)
        self._left = list(table.content.rows)[::-1]
        self._count = len(self._left)
        names = [
            table.content.column_name(column) or column_letters(number)
            for number, column in enumerate(self._columns)
        ]
        self._rows = [names]
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._turn)
        self._timer.start(0)

    def cancel(self) -> None:
        self._timer.stop()
        self.deleteLater()

    def _turn(self) -> None:
        end_s = time.perf_counter() + TURN_S
        while self._left and (len(self._left) % _ROWS_PER_LOOK or time.perf_counter() < end_s):
            row = self._left.pop()
            if self._content.row_number(row) is not None:
                values = (self._content.value(row, each, whole=True) for each in self._columns)
                self._rows.append([shown(value) for value in values])
        self._progress(self._count - len(self._left), self._count)
        if not self._left:
            self.cancel()
            self._taken(self._rows)


def _read(file: Path) -> list[list[str]]:
    return read_csv(file.read_bytes(), ROWS_MAX, COLUMNS_MAX)


def _write(file: Path, rows: list[list[str]], *, harmless: bool) -> None:
    separator = "\t" if file.suffix == ".tsv" else ","
    text = write_csv(rows, separator, harmless=harmless)
    export_whole(file, text.encode("utf-8-sig"))
