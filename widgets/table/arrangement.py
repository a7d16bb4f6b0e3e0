"""One's own order of a table's rows and which of them one sees; the others see nothing of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress

from liveobj.objects.table import Table
from liveobj.storage import StorageError
from widgets.table.table_model import matches, sort_key

_NAME = "table arrangement"


class Arrangement:
    """Kept on this PC, beside the table. Attributes: `sort_column` (empty: as everybody has it),
    `descending`."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.sort_column = ""
        self.descending = False
        with suppress(ValueError):
            match json.loads(table.local(_NAME) or b"{}"):
                case {"sort": str(column), "descending": bool(descending)}:
                    self.sort_column, self.descending = column, descending

    def turn(self, column: str) -> None:
        """Sorts by a column: up, down, and as everybody has it."""
        if self.sort_column != column:
            self.sort_column, self.descending = column, False
        elif not self.descending:
            self.descending = True
        else:
            self.sort_column, self.descending = "", False
        stored = json.dumps({"sort": self.sort_column, "descending": self.descending}).encode()
        with suppress(StorageError):  # it is only a matter of looks
            self._table.set_local(_NAME, stored)

    def rows(self, words: str, text_of: Callable[[str, str], str]) -> list[str]:
        """In one's own order, without those in which none of the words is found."""
        content, rows = self._table.content, list(self._table.content.rows)
        if words:
            rows = [
                row
                for row in rows
                if any(matches(words, text_of(row, each)) for each in content.columns)
            ]
        column = self.sort_column
        if content.column_number(column) is not None:
            # Blanks stay last, whichever way round.
            filled = [row for row in rows if content.value(row, column) is not None]
            blank = [row for row in rows if content.value(row, column) is None]
            filled.sort(key=lambda row: sort_key(content.value(row, column)))
            rows = (filled[::-1] if self.descending else filled) + blank
        return rows
