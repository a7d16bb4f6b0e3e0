"""Owns formatted text as plain data: what a document can hold, and what is made of anything else.

It knows neither replication nor files nor windows: all three translate to and from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

# Marks of text. Those of `FLAGS` are on or off; a link is an address, a highlight one of `COLOURS`.
BOLD, ITALIC, UNDERLINE, STRIKE, CODE = FLAGS = ("bold", "italic", "underline", "strike", "code")
LINK = "link"
HIGHLIGHT = "highlight"
COLOURS = ("yellow", "green", "blue", "pink", "orange")

# Styles of paragraphs; an empty one is plain text.
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
QUOTE, CODE_BLOCK = "quote", "code"
BULLET, NUMBER, CHECK = LISTS = ("bullet", "number", "check")
STYLES = ("", *HEADINGS, QUOTE, CODE_BLOCK, *LISTS)
ALIGNMENTS = ("", "center", "right", "justify")
INDENT_MAX = 8

# A new line in the same paragraph.
LINE_BREAK = "\u2028"

LINK_CHARACTERS_MAX = 2048
# What a person may be sent to by a click. Anything else could run something.
LINK_SCHEMES = ("http:", "https:", "mailto:")
_CONTROL = re.compile(r"[\x00-\x20\x7f]")

TABLE_ROWS_MAX = 1000
TABLE_COLUMNS_MAX = 64
IMAGE_BYTES_MAX = 1024 * 1024
IMAGE_WIDTH_MAX_PX = 4000

Mark = str | bool
Marks = Mapping[str, Mark]


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of text with the same marks; it has no line end."""

    text: str
    marks: Marks = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Block:
    """How a paragraph looks. `done` is the tick of an item in a check list."""

    style: str = ""
    indent: int = 0
    align: str = ""
    done: bool = False


PLAIN = Block()


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A line of text."""

    runs: tuple[Run, ...] = ()
    block: Block = PLAIN

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)


@dataclass(frozen=True, slots=True)
class Image:
    """A picture; `width` is in pixels, 0 for its own."""

    data: bytes
    width: int = 0
    words: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells of text; every row has the same number of them."""

    rows: tuple[tuple[tuple[Run, ...], ...], ...]
    header: bool = True


@dataclass(frozen=True, slots=True)
class Embedded:
    """Another live object, shown in this one: its reference as written, and its title."""

    reference: bytes
    title: str = ""


Part = Paragraph | Image | Table | Embedded
Content = tuple[Part, ...]


def read_mark(name: str, value: Any) -> Mark | None:
    """A mark that somebody else may have made, if it is one that is known here."""
    if name in FLAGS:
        return True if value is True else None
    if not isinstance(value, str):
        return None
    if name == LINK:
        return safe_link(value)
    if name == HIGHLIGHT:
        return value if value in COLOURS else None
    return None


def read_marks(values: Mapping[str, Any]) -> dict[str, Mark]:
    """What is known among marks."""
    found = ((name, read_mark(name, value)) for name, value in values.items())
    return {name: mark for name, mark in found if mark is not None}


def safe_link(address: str) -> str | None:
    """An address that a click may open; None for one that it may not."""
    address = address.strip()
    if len(address) > LINK_CHARACTERS_MAX or _CONTROL.search(address):
        return None
    return address if address.lower().startswith(LINK_SCHEMES) else None


def read_block(values: Mapping[str, Any]) -> Block:
    """A block from attributes that somebody else may have written."""
    style, indent = values.get("style"), values.get("indent")
    align, done = values.get("align"), values.get("done")
    whole = isinstance(indent, int) and not isinstance(indent, bool)
    return Block(
        style if isinstance(style, str) and style in STYLES else "",
        max(0, min(INDENT_MAX, int(indent))) if whole and indent is not None else 0,
        align if isinstance(align, str) and align in ALIGNMENTS else "",
        done is True,
    )


def joined(runs: Iterable[Run]) -> tuple[Run, ...]:
    """The same runs, none empty, and none next to one with the same marks."""
    result: list[Run] = []
    for run in runs:
        if not run.text:
            continue
        if result and result[-1].marks == run.marks:
            result[-1] = Run(result[-1].text + run.text, run.marks)
        else:
            result.append(run)
    return tuple(result)


def normal(content: Iterable[Part]) -> Content:
    """The one form in which two equal texts compare equal: joined runs, a tick only in check lists,
    tables with full rows and within bounds, no indent that is out of bounds."""
    return tuple(_normal_part(part) for part in content)


def _normal_part(part: Part) -> Part:
    if isinstance(part, Paragraph):
        block = part.block
        if block.done and block.style != CHECK:
            block = replace(block, done=False)
        return Paragraph(joined(part.runs), block)
    if isinstance(part, Table):
        return Table(_full_rows(part.rows), part.header)
    return part


def _full_rows(rows: Sequence[Sequence[Sequence[Run]]]) -> tuple[tuple[tuple[Run, ...], ...], ...]:
    width = max(1, min(TABLE_COLUMNS_MAX, max((len(row) for row in rows), default=1)))
    return tuple(
        tuple(joined(row[column]) if column < len(row) else () for column in range(width))
        for row in rows[:TABLE_ROWS_MAX]
    )


def plain_text(content: Iterable[Part]) -> str:
    """The words alone, a line for each paragraph and each row of a table."""
    lines: list[str] = []
    for part in content:
        if isinstance(part, Paragraph):
            lines.append(part.text)
        elif isinstance(part, Table):
            rows = ([_words(cell) for cell in row] for row in part.rows)
            lines += ("\t".join(row) for row in rows)
        elif isinstance(part, Image):
            lines.append(part.words)
        else:
            lines.append(part.title)
    return "\n".join(lines)


def _words(runs: Iterable[Run]) -> str:
    return "".join(run.text for run in runs)
