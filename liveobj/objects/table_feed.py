"""Owns filling a table from rows that somebody else makes, again and again: only what differs is
written.

The first row of the feed names the columns. What people have added to the right of them and below
the rows stays where it is in other columns; rows that the feed no longer has are taken away.
"""

from __future__ import annotations

from collections.abc import Sequence

from liveobj.objects.table import ROWS_MAX, ColumnType, Table
from liveobj.objects.table_content import CELL_CHARACTERS_MAX

CELLS_PER_TURN = 2000


class TableFeed:
    """Keeps a table like the rows that it was given last. `step` writes a bounded part."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._wanted: list[list[str]] = []
        self._numeric: set[int] = set()

    def take(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """From now on the table is to have these rows; names that differ are given at once."""
        table, width = self._table, len(head)
        self._wanted = [
            [_as_text(cell) for cell in [*row, *[""] * width][:width]] for row in rows[:ROWS_MAX]
        ]
        table.grow(len(self._wanted), width)
        content = table.content
        for column, name in zip(content.columns, head, strict=False):
            if content.column_name(column) != name:
                table.name_column(column, name)
        self._type_columns(width)
        surplus = content.rows[len(self._wanted) :]
        if surplus:
            table.delete_rows(surplus)

    def step(self) -> bool:
        """Writes cells that differ, so many at most; whether there are more."""
        content = self._table.content
        cells: dict[tuple[str, str], str] = {}
        for row, texts in zip(content.rows, self._wanted, strict=False):
            for column, text in zip(content.columns, texts, strict=False):
                if content.text(row, column) != text:
                    cells[row, column] = text
                    if len(cells) == CELLS_PER_TURN:
                        self._table.write(cells, "feed")
                        return True
        if cells:
            self._table.write(cells, "feed")
        return False

    def _type_columns(self, width: int) -> None:
        for place in range(width):
            texts = [row[place] for row in self._wanted if row[place]]
            if place not in self._numeric and texts and all(map(_is_number, texts)):
                self._numeric.add(place)
                self._table.set_column_type(self._table.content.columns[place], ColumnType.NUMBER)


def _as_text(cell: str) -> str:
    """A cell as a text: what a feed says is never worked out as a formula."""
    text = cell[:CELL_CHARACTERS_MAX]
    return f" {text}"[:CELL_CHARACTERS_MAX] if text.startswith("=") else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
