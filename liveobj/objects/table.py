"""Owns the table: rows and columns that can be moved, and cells that several people fill.

Rows and columns are lists of identities, cells values of a map by both. So whoever inserts, moves
or writes at the same time as others disturbs nobody. Formulas are kept by identities, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

from liveobj.declare import endpoint_type, incoming, live_object, outgoing
from liveobj.documents import DocumentError, Map, MapChange, MovableList
from liveobj.formulas.addresses import Place, keep_formula, map_references, show_formula
from liveobj.formulas.errors import CellError
from liveobj.host import Host
from liveobj.objects.document_object import DocumentProxy
from liveobj.objects.shared_document import SharedDocument, describe_shared, new_shared
from liveobj.objects.table_content import CELL_CHARACTERS_MAX, TableContent, cell_key
from liveobj.observers import Subscription
from liveobj.references import Parameterized, Reference
from transport.sentences import worded

TEMPLATE_ID = "live-objects:table"
ROWS_MAX = 100_000
COLUMNS_MAX = 500
NAME_CHARACTERS_MAX = 200
_RANGE = re.compile(r"\{(\$?)([^{}/$]*)/(\$?)([^{}/$]*)\}:\{(\$?)([^{}/$]*)/(\$?)([^{}/$]*)\}")


class ColumnType(StrEnum):
    """What a column is for; it decides how cells are shown and edited, and refuses nothing."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    CHECK = "check"


def new_table(title: str, random_bytes: Callable[[int], bytes]) -> Parameterized:
    """The can-edit reference of a table that did not exist before."""
    return new_shared(TEMPLATE_ID, title, random_bytes)


class Table(SharedDocument):
    """A table that is open here. Attributes: `content`, what is in it. What edits raises
    DocumentError, and changes nothing, when it is refused."""

    def prepare(self) -> None:
        document = self.document
        self._rows: MovableList = document.movable_list("rows")
        self._columns: MovableList = document.movable_list("columns")
        self._about_columns: Map = document.map("column")
        self._cells: Map = document.map("cells")
        self.content = TableContent(
            document, self._rows, self._columns, self._about_columns, self._cells
        )

    # Rows and columns

    def grow(self, rows: int, columns: int, *, undoable: bool = True) -> None:
        """Makes the table at least so large. What two people append at the same time by writing
        below the last row is the same row: the identities of these follow from their number. A row
        that others may have taken up by then is made so that undo does not take it away."""
        self.check_room(rows - len(self.content.rows), columns - len(self.content.columns))
        with self.document.transaction("grow", undoable=undoable):
            _append_numbered(self._rows, self.content.rows, rows)
            _append_numbered(self._columns, self.content.columns, columns)
            self.content.refresh()

    def insert_rows(self, at: int, count: int = 1) -> list[str]:
        """Puts empty rows before the row of that number; returns their identities."""
        self.check_room(count, 0)
        return self._insert("insert rows", self._rows, self.content.rows, at, count)

    def insert_columns(self, at: int, count: int = 1) -> list[str]:
        self.check_room(0, count)
        return self._insert("insert columns", self._columns, self.content.columns, at, count)

    def _insert(
        self, label: str, items: MovableList, known: Sequence[str], at: int, count: int
    ) -> list[str]:
        new = [self._host.random_bytes(6).hex() for _ in range(count)]
        self.document.undo_boundary()
        with self.document.transaction(label):
            items.insert(_place_in(items, known, at), *new)
        return new

    def check_room(self, rows: int, columns: int) -> None:
        """Raises DocumentError if so many more are too many."""
        if len(self.content.rows) + rows > ROWS_MAX:
            raise DocumentError(worded("A table has at most {most} rows.", most=ROWS_MAX))
        if len(self.content.columns) + columns > COLUMNS_MAX:
            raise DocumentError(worded("A table has at most {most} columns.", most=COLUMNS_MAX))

    def delete_rows(self, rows: Iterable[str]) -> None:
        """With all that is in them. Formulas over ranges that end there get the nearest row that
        stays."""
        gone = set(rows)
        self.document.undo_boundary()
        with self.document.transaction("delete rows"):
            self._mend_formulas(gone, set())
            for row in gone:
                for column in self.content.columns:
                    self._cells.remove(cell_key(row, column))
            _delete_all(self._rows, gone)

    def delete_columns(self, columns: Iterable[str]) -> None:
        gone = set(columns)
        self.document.undo_boundary()
        with self.document.transaction("delete columns"):
            self._mend_formulas(set(), gone)
            for column in gone:
                for row in self.content.rows:
                    self._cells.remove(cell_key(row, column))
                for field in ("name", "type", "width"):
                    self._about_columns.remove(f"{column}/{field}")
            _delete_all(self._columns, gone)

    def move_rows(self, rows: Sequence[str], to: int) -> None:
        """Puts rows, in this order, before the row that is now of that number."""
        self._move("move rows", self._rows, self.content.rows, rows, to)

    def move_columns(self, columns: Sequence[str], to: int) -> None:
        self._move("move columns", self._columns, self.content.columns, columns, to)

    def _move(
        self, label: str, items: MovableList, known: Sequence[str], moved: Sequence[str], to: int
    ) -> None:
        before = next((each for each in known[max(0, to) :] if each not in set(moved)), None)
        self.document.undo_boundary()
        with self.document.transaction(label):
            for each in moved:
                now = items.to_list()
                start = now.index(each) if each in now else -1
                if start < 0:
                    continue
                end = now.index(before) if before in now else len(now)
                items.move(start, end - 1 if start < end else end)

    def name_column(self, column: str, name: str) -> None:
        """An empty name takes it away."""
        name = " ".join(name.split())[:NAME_CHARACTERS_MAX]
        with self.document.transaction("name column"):
            self._about_columns.set(f"{column}/name", name)

    def set_column_type(self, column: str, kind: ColumnType) -> None:
        with self.document.transaction("type of column"):
            self._about_columns.set(f"{column}/type", kind.value)

    def set_column_width(self, column: str, width_px: int) -> None:
        with self.document.transaction("width of column"):
            self._about_columns.set(f"{column}/width", max(24, min(width_px, 1200)))

    # Cells

    def write(self, cells: Mapping[tuple[str, str], str], label: str = "write") -> None:
        """Puts texts as they were typed into cells, by row and column; those that begin with `=`
        are formulas and name other cells as `B3`. An empty text empties the cell."""
        longest = max(map(len, cells.values()), default=0)
        if longest > CELL_CHARACTERS_MAX:
            raise DocumentError(
                worded("A cell has at most {most} characters.", most=CELL_CHARACTERS_MAX)
            )
        with self.document.transaction(label):
            for (row, column), text in cells.items():
                kept = keep_formula(text, self._kept) if text.startswith("=") else text
                self.keep(row, column, kept)

    def keep(self, row: str, column: str, text: str) -> None:
        """Puts a text in the form in which it is kept into a cell."""
        if text:
            self._cells.set(cell_key(row, column), text)
        else:
            self._cells.remove(cell_key(row, column))

    def _kept(self, place: Place) -> str | None:
        """The identities of a place; the table grows if a formula names what lies beyond it."""
        rows = 0 if place.row is None else place.row + 1
        if rows > ROWS_MAX or place.column >= COLUMNS_MAX:
            return None
        if rows > len(self.content.rows) or place.column >= len(self.content.columns):
            self.grow(rows, place.column + 1)
        row = "" if place.row is None else self.content.rows[place.row]
        return f"{row}/{self.content.columns[place.column]}"

    def as_typed(self, row: str, column: str) -> str:
        """What is in a cell, in the form in which it is edited."""
        return self.shown_formula(self.content.text(row, column))

    def shown_formula(self, text: str) -> str:
        """A kept text in the form in which it is typed."""
        return show_formula(text, self.content.place_of) if text.startswith("=") else text

    def shifted(self, text: str, rows: int, columns: int) -> str:
        """A kept text as it is when it is copied so many rows down and columns to the right."""
        if not text.startswith("="):
            return text
        content = self.content

        def shift(row: str, column: str, fixed_row: bool, fixed_column: bool) -> str:
            new_row = row if fixed_row or not row else _shifted(content.rows, row, rows)
            new_column = column if fixed_column else _shifted(content.columns, column, columns)
            if new_row is None or new_column is None:
                return CellError.REFERENCE.value
            row_mark, column_mark = "$" if fixed_row else "", "$" if fixed_column else ""
            return f"{{{row_mark}{new_row}/{column_mark}{new_column}}}"

        return map_references(text, shift)

    def _mend_formulas(self, rows: set[str], columns: set[str]) -> None:
        content = self.content
        for row, column in content.formulas():
            text = content.text(row, column)
            mended = mend_ranges(text, content.rows, rows, content.columns, columns)
            if mended != text and row not in rows and column not in columns:
                self.keep(row, column, mended)


def mend_ranges(
    text: str, rows: Sequence[str], gone_rows: set[str], columns: Sequence[str], gone: set[str]
) -> str:
    """A formula whose ranges end at the nearest row and column that stay."""

    def replace(found: re.Match[str]) -> str:
        row = _mended(rows, gone_rows, found[2], found[6])
        column = _mended(columns, gone, found[4], found[8])
        if row is None or column is None:
            return CellError.REFERENCE.value
        first = f"{{{found[1]}{row[0]}/{found[3]}{column[0]}}}"
        return f"{first}:{{{found[5]}{row[1]}/{found[7]}{column[1]}}}"

    return _RANGE.sub(replace, text)


def _mended(known: Sequence[str], gone: set[str], first: str, last: str) -> tuple[str, str] | None:
    if (first not in gone and last not in gone) or first not in known or last not in known:
        return first, last
    low, high = sorted((known.index(first), known.index(last)))
    staying = [each for each in known[low : high + 1] if each not in gone]
    return (staying[0], staying[-1]) if staying else None


def _shifted(known: Sequence[str], one: str, by: int) -> str | None:
    if one not in known:
        return None
    at = known.index(one) + by
    return known[at] if 0 <= at < len(known) else None


def _append_numbered(items: MovableList, known: Sequence[str], count: int) -> None:
    taken = set(known)
    number = len(known)
    for _ in range(len(known), count):
        while f"n{number}" in taken:
            number += 1
        taken.add(f"n{number}")
        items.append(f"n{number}")


def _place_in(items: MovableList, known: Sequence[str], at: int) -> int:
    """Where in the list, which may hold what cannot be read, the item of that number is."""
    return len(items) if at >= len(known) else items.to_list().index(known[max(0, at)])


def _delete_all(items: MovableList, gone: set[str]) -> None:
    for number in range(len(items) - 1, -1, -1):
        item = items[number]
        if isinstance(item, str) and item in gone:
            items.delete(number)


def open_table(reference: Reference, host: Host) -> Table:
    """Raises ReferenceProblem for a reference that is not a table's, StorageError if the disk
    refuses."""
    return Table(reference, host, describe_shared(reference, TEMPLATE_ID, "table"))


@endpoint_type("live-objects:table-endpoint", provides="state channel; edited by its editors")
class TableEndpoint:
    """For objects that read and fill a table, by numbers from 0."""

    @incoming
    def write(self, row: int, column: int, text: str) -> None:
        """Puts a text or formula into a cell; the table grows if need be."""

    @outgoing
    def changed(self, rows: int, columns: int) -> None:
        """Something in the table is new; it is so large now."""


@live_object(TEMPLATE_ID, title="Table")
class TableObject(DocumentProxy):
    """Rows and columns that several people fill together."""

    table: TableEndpoint

    _template_id = TEMPLATE_ID
    _kind = "table"

    def open_shared(self) -> Table:
        return open_table(self.context.reference, self.context.host)

    def watch(self) -> list[Subscription]:
        cells: Map = self.shared.document.map("cells")
        return [cells.observe(self._tell)]

    def _tell(self, _change: MapChange) -> None:
        content: TableContent = self.shared.content
        self.table.changed(len(content.rows), len(content.columns))

    def on_table_write(self, row: int, column: int, text: str) -> None:
        self.edit(lambda: self._write(row, column, text))

    def _write(self, row: int, column: int, text: str) -> None:
        if row < 0 or column < 0:
            raise DocumentError("Rows and columns are counted from 0.")
        table: Table = self.shared
        table.grow(row + 1, column + 1)
        content = table.content
        table.write({(content.rows[row], content.columns[column]): text})
