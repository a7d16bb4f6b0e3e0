"""Owns what is in a table as others read it: made from whatever the document holds, kept up to
date, with the values of formulas."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from liveobj.documents import Document, List, Map, MapChange, Origin
from liveobj.documents.observing import Plain
from liveobj.formulas.evaluating import Evaluator, Pending
from liveobj.formulas.values import Value, literal, shown
from liveobj.observers import Observers, Subscription

CELL_CHARACTERS_MAX = 8000
_IDENTITY = re.compile(r"[^/{}$]{1,40}")
# How many cells formulas may look at in one turn of a view, so that no frame is late.
TURN_WORK = 40_000


@dataclass(frozen=True, slots=True)
class TableChange:
    """`cells` are those with new texts; `structure` is set when rows, columns or what is known
    about columns have changed."""

    origin: Origin
    cells: frozenset[tuple[str, str]]
    structure: bool


def cell_key(row: str, column: str) -> str:
    return f"{row}/{column}"


def cell_text(value: Plain) -> str:
    """What somebody put into a cell, as a text; what cannot be one is as if it were not there."""
    if isinstance(value, str):
        return value[:CELL_CHARACTERS_MAX]
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return shown(float(value)) if abs(value) < 1e300 else ""
    return ""


def identities(items: list[Plain], count_max: int) -> list[str]:
    """The identities in a list that others have written, each once."""
    seen: dict[str, None] = {}
    for item in items:
        if isinstance(item, str) and _IDENTITY.fullmatch(item):
            seen.setdefault(item)
    return list(seen)[:count_max]


class TableContent:
    """Attributes: `rows`, `columns` (identities, in order). `unfinished`: whether values
    have been asked for that formulas had no time to give. It is a `Sheet` for formulas."""

    def __init__(
        self, document: Document, rows: List, columns: List, about: Map, cells: Map
    ) -> None:
        self._row_items, self._column_items, self._about, self._cells = rows, columns, about, cells
        self.rows: list[str] = []
        self.columns: list[str] = []
        self._row_numbers: dict[str, int] = {}
        self._column_numbers: dict[str, int] = {}
        self._types: dict[str, str] = {}  # asked for with every cell that is painted
        self._texts: dict[str, str] = {}
        self._formulas: set[str] = set()
        self._changed_cells: set[tuple[str, str]] = set()
        self._structure_changed = False
        self._values = Evaluator(self)
        self._old: dict[str, Value] = {}
        self._work_left = TURN_WORK
        self.unfinished = False
        self._observers: Observers[TableChange] = Observers()
        rows.observe(lambda _: self._on_structure())
        columns.observe(lambda _: self._on_structure())
        about.observe(lambda _: self._on_structure())
        cells.observe(self._on_cells)
        # The document tells last, when its containers have told.
        document.observe(lambda change: self._tell(change.origin))
        self.refresh()

    def observe(self, callback: Callable[[TableChange], None]) -> Subscription:
        """Calls back once after every change of the document that concerns the table."""
        return self._observers.observe(callback)

    # Keeping up

    def refresh(self) -> None:
        """Reads rows and columns again; also in the middle of a transaction."""
        self.rows = identities(self._row_items.to_list(), 200_000)
        self.columns = identities(self._column_items.to_list(), 1000)
        self._row_numbers = {row: number for number, row in enumerate(self.rows)}
        self._column_numbers = {column: number for number, column in enumerate(self.columns)}
        self._types.clear()

    def _on_structure(self) -> None:
        self._structure_changed = True

    def _on_cells(self, change: MapChange) -> None:
        for key, value in change.updated.items():
            self._take(key, cell_text(value))
        for key in change.removed:
            self._take(key, "")

    def _take(self, key: str, text: str) -> None:
        row, slash, column = key.partition("/")
        if not slash:
            return
        if text:
            self._texts[key] = text
        else:
            self._texts.pop(key, None)
        if text.startswith("="):
            self._formulas.add(key)
        else:
            self._formulas.discard(key)
        self._changed_cells.add((row, column))

    def _tell(self, origin: Origin) -> None:
        if not self._structure_changed and not self._changed_cells:
            return
        if self._structure_changed:
            self.refresh()
        change = TableChange(origin, frozenset(self._changed_cells), self._structure_changed)
        self._changed_cells, self._structure_changed = set(), False
        self._values.forget()
        self._observers.notify(change)

    # Reading

    def text(self, row: str, column: str) -> str:
        """What is in a cell, in the form in which it is kept."""
        return self._texts.get(f"{row}/{column}", "")

    def begin_turn(self) -> None:
        """Gives formulas new time to work."""
        self.unfinished = False
        self._work_left = TURN_WORK

    def value(self, row: str, column: str, *, whole: bool = False) -> Value:
        """The value of a cell. For a formula that has not been worked out within the turn it is
        the one before, and `unfinished` is set; with `whole` it is waited for."""
        key = f"{row}/{column}"
        if key not in self._formulas:
            return literal(self._texts.get(key, ""))
        while True:
            value = self._values.value(row, column, TURN_WORK if whole else self._work_left)
            if not isinstance(value, Pending):
                break
            if not whole:
                self.unfinished = True
                self._work_left = 0
                return self._old.get(key)
        self._work_left = min(self._work_left, self._values.work_left)
        self._old[key] = value
        return value

    @property
    def has_formulas(self) -> bool:
        return bool(self._formulas)

    def formulas(self) -> Iterator[tuple[str, str]]:
        """The cells with formulas."""
        for key in sorted(self._formulas):
            row, _, column = key.partition("/")
            yield row, column

    def row_number(self, row: str) -> int | None:
        return self._row_numbers.get(row)

    def column_number(self, column: str) -> int | None:
        return self._column_numbers.get(column)

    def place_of(self, row: str, column: str) -> tuple[int | None, int] | None:
        """The numbers of a cell, or of a whole column if `row` is empty; None if it is gone."""
        column_number = self.column_number(column)
        row_number = self.row_number(row)
        if column_number is None or (row and row_number is None):
            return None
        return row_number, column_number

    def column_name(self, column: str) -> str:
        """The name that people gave it, or empty."""
        name = self._about.get(f"{column}/name")
        return " ".join(name.split())[:200] if isinstance(name, str) else ""

    def column_type(self, column: str) -> str:
        found = self._types.get(column)
        if found is None:
            kind = self._about.get(f"{column}/type")
            known = isinstance(kind, str) and kind in ("number", "date", "check")
            found = self._types[column] = str(kind) if known else "text"
        return found

    def column_width(self, column: str) -> int | None:
        width = self._about.get(f"{column}/width")
        if isinstance(width, int | float) and not isinstance(width, bool) and 24 <= width <= 1200:
            return int(width)
        return None
