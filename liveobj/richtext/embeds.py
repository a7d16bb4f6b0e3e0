"""Owns what stands in a replicated text as one character: tables, images and other live objects.

Each has a name that no other has. A map says what it is; the cells of a table are replicated texts
of their own, so that several people write in one cell, and its rows and columns are lists of names,
so that adding and removing them at the same time never mixes up what is in the cells. The bytes of
an image are kept under their hash and looked at again when they are shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from liveobj.documents import Document, DocumentError, MovableList
from liveobj.documents.document import Change
from liveobj.observers import Subscription
from liveobj.references.xml_tree import SIZE_BYTES_MAX as REFERENCE_BYTES_MAX
from liveobj.richtext.model import (
    IMAGE_BYTES_MAX,
    IMAGE_WIDTH_MAX_PX,
    LINE_BREAK,
    TABLE_COLUMNS_MAX,
    TABLE_ROWS_MAX,
    Embedded,
    Image,
    Run,
    Table,
    joined,
)
from liveobj.richtext.rich_text import EMBED, RichText
from transport.sentences import worded

_EMBEDS = "embeds"
_IMAGES = "images"
TABLE, IMAGE, OBJECT = "table", "image", "object"
_NAME = re.compile(r"[0-9a-z]{1,32}")
WORDS_CHARACTERS_MAX = 1000


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell by the names of its row and column."""

    row: str
    column: str


class TableParts:
    """The rows, columns and cells of one table."""

    def __init__(self, document: Document, name: str) -> None:
        self._document = document
        self.name = name
        self._rows = document.movable_list(f"rows.{name}")
        self._columns = document.movable_list(f"columns.{name}")

    @property
    def rows(self) -> list[str]:
        return _names(self._rows)[:TABLE_ROWS_MAX]

    @property
    def columns(self) -> list[str]:
        return _names(self._columns)[:TABLE_COLUMNS_MAX]

    def cell(self, cell: Cell) -> RichText:
        name = cell_container(self.name, cell)
        return RichText(self._document, self._document.text(name), self._document.map(name))

    def add_row(self, index: int, name: str) -> None:
        self._add(self._rows, self.rows, index, name, TABLE_ROWS_MAX, "rows")

    def add_column(self, index: int, name: str) -> None:
        self._add(self._columns, self.columns, index, name, TABLE_COLUMNS_MAX, "columns")

    def _add(
        self, names: MovableList, shown: list[str], index: int, name: str, most: int, what: str
    ) -> None:
        if len(shown) >= most:
            raise DocumentError(f"A table has at most {most} {what}.")
        before = shown[index] if index < len(shown) else None
        every = names.to_list()
        names.insert(len(every) if before is None else every.index(before), name)

    def remove_row(self, name: str) -> None:
        _remove(self._rows, name)

    def remove_column(self, name: str) -> None:
        _remove(self._columns, name)


def cell_container(table: str, cell: Cell) -> str:
    """The name under which the text of a cell is replicated, and told where carets are."""
    return f"cell.{table}.{cell.row}.{cell.column}"


class Embeds:
    """All that is embedded in one document. `random_bytes` makes names."""

    def __init__(self, document: Document, random_bytes: Callable[[int], bytes]) -> None:
        self._document = document
        self._random_bytes = random_bytes
        self._map = document.map(_EMBEDS)
        self._images = document.map(_IMAGES)

    def kind(self, name: str) -> str:
        """`TABLE`, `IMAGE`, `OBJECT`, or empty for what is not known here."""
        found = self._map.get(name) if _NAME.fullmatch(name) else None
        return found if isinstance(found, str) and found in (TABLE, IMAGE, OBJECT) else ""

    def observe(self, callback: Callable[[Change], None]) -> Subscription:
        """Calls back after changes of anything but the text itself."""
        return self._document.observe(callback)

    def new_name(self) -> str:
        return self._random_bytes(6).hex()

    # Tables

    def table(self, name: str) -> TableParts:
        return TableParts(self._document, name)

    def has_header(self, name: str) -> bool:
        return self._map.get(f"{name}/header") is True

    def set_header(self, name: str, header: bool) -> None:
        self._map.set(f"{name}/header", header)

    def read_table(self, name: str) -> Table:
        parts = self.table(name)
        columns = parts.columns
        rows = [
            tuple(_cell_runs(parts.cell(Cell(row, column))) for column in columns)
            for row in parts.rows
        ]
        return Table(tuple(rows), self.has_header(name))

    def add_table(self, table: Table) -> str:
        """Makes a table and returns its name, to be put into the text."""
        name = self.new_name()
        with self._document.transaction("table"):
            self._map.set(name, TABLE)
            self.set_header(name, table.header)
            parts = self.table(name)
            columns = [self.new_name() for _ in (table.rows[0] if table.rows else ())]
            for index, column in enumerate(columns):
                parts.add_column(index, column)
            for index, cells in enumerate(table.rows):
                row = self.new_name()
                parts.add_row(index, row)
                for column, runs in zip(columns, cells, strict=True):
                    if runs:
                        parts.cell(Cell(row, column)).replace(0, 0, runs)
        return name

    # Images

    def image(self, name: str) -> Image | None:
        """The image, if it is here whole and is what it says it is."""
        digest = self._map.get(f"{name}/image")
        data = self._images.get(digest) if isinstance(digest, str) else None
        if not isinstance(data, bytes) or len(data) > IMAGE_BYTES_MAX:
            return None
        if sha256(data).hexdigest() != digest:
            return None
        return Image(data, self.width(name), self._words(name))

    def width(self, name: str) -> int:
        """In pixels as the person wants to see it; 0 for its own."""
        found = self._map.get(f"{name}/width")
        if isinstance(found, int) and not isinstance(found, bool):
            return max(0, min(found, IMAGE_WIDTH_MAX_PX))
        return 0

    def set_width(self, name: str, width_px: int) -> None:
        self._map.set(f"{name}/width", max(0, min(width_px, IMAGE_WIDTH_MAX_PX)))

    def _words(self, name: str) -> str:
        found = self._map.get(f"{name}/words")
        return found[:WORDS_CHARACTERS_MAX] if isinstance(found, str) else ""

    def words(self, name: str) -> str:
        """What an image shows, in words, or the title of an object."""
        return self._words(name)

    def set_words(self, name: str, words: str) -> None:
        self._map.set(f"{name}/words", words[:WORDS_CHARACTERS_MAX])

    def add_image(self, image: Image) -> str:
        """Keeps an image and returns its name; raises DocumentError if it is too large. The bytes
        are not taken back by undo, so that a redo need not send them again."""
        if len(image.data) > IMAGE_BYTES_MAX:
            raise DocumentError(
                worded(
                    "The image is larger than {most} KiB; make it smaller first.",
                    most=f"{IMAGE_BYTES_MAX // 1024:,}",
                )
            )
        name, digest = self.new_name(), sha256(image.data).hexdigest()
        if digest not in self._images:
            with self._document.transaction("image", undoable=False):
                self._images.set(digest, image.data)
        with self._document.transaction("image"):
            self._map.set(name, IMAGE)
            self._map.set(f"{name}/image", digest)
            if image.width:
                self.set_width(name, image.width)
            if image.words:
                self.set_words(name, image.words)
        return name

    # Other live objects

    def reference(self, name: str) -> bytes | None:
        """The reference of an embedded object as written; nobody has read it yet."""
        found = self._map.get(f"{name}/reference")
        return found if isinstance(found, bytes) and len(found) <= REFERENCE_BYTES_MAX else None

    def add_object(self, embedded: Embedded) -> str:
        if len(embedded.reference) > REFERENCE_BYTES_MAX:
            raise DocumentError(worded("The reference is too large."))
        name = self.new_name()
        with self._document.transaction("object"):
            self._map.set(name, OBJECT)
            self._map.set(f"{name}/reference", embedded.reference)
            self.set_words(name, embedded.title)
        return name

    # All of them

    def read(self, name: str) -> Image | Table | Embedded | None:
        """What a name stands for; None where it is not known or not whole."""
        kind = self.kind(name)
        if kind == TABLE:
            return self.read_table(name)
        if kind == IMAGE:
            return self.image(name)
        reference = self.reference(name) if kind == OBJECT else None
        return None if reference is None else Embedded(reference, self._words(name))

    def add(self, part: Image | Table | Embedded) -> str:
        if isinstance(part, Table):
            return self.add_table(part)
        return self.add_image(part) if isinstance(part, Image) else self.add_object(part)


def _names(names: MovableList) -> list[str]:
    """What can be a name, each once, however it got there."""
    found = [name for name in names.to_list() if isinstance(name, str) and _NAME.fullmatch(name)]
    return list(dict.fromkeys(found))


def _remove(names: MovableList, name: str) -> None:
    for index in reversed([i for i, found in enumerate(names.to_list()) if found == name]):
        names.delete(index)


def _cell_runs(cell: RichText) -> tuple[Run, ...]:
    """The text of a cell; its lines are one paragraph with breaks."""
    runs: list[Run] = []
    for number, line in enumerate(cell.lines()):
        if number:
            runs.append(Run(LINE_BREAK))
        runs += (run for run in line.runs if EMBED not in run.marks)
    return joined(runs)
