"""Owns a formatted text that is replicated: characters with marks, and the look of its paragraphs.

How a paragraph looks is said by marks on the line end before it, so that joining two paragraphs
leaves the look of the first; for the first paragraph, which has none, a map says it. A table, an
image or another object is one character, `OBJECT`, with a mark that names it. Everything here is
read as if anybody might have written it, and edited so that marks of others stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from liveobj.documents.text import Text, utf16_length
from liveobj.richtext.model import (
    FLAGS,
    HEADINGS,
    HIGHLIGHT,
    LINK,
    PLAIN,
    Block,
    Mark,
    Marks,
    Run,
    joined,
    read_block,
    read_marks,
)

if TYPE_CHECKING:
    from liveobj.documents.document import Document
    from liveobj.documents.maps import Map

OBJECT = "\ufffc"
EMBED = "embed"
_BLOCK = "block:"
# So far from a place its line's ends are looked for first.
_NEAR_UNITS = 500
_ATTRIBUTES = ("style", "indent", "align", "done")
# The marks of text that an edit sets or takes off; others are left as they are.
EDITED = (*FLAGS, LINK, HIGHLIGHT)
_KNOWN = (*EDITED, EMBED)


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph of the replicated text: where it begins, how it looks, what is in it. Runs that
    are an embedded thing have its name in their marks, under `EMBED`."""

    start: int
    block: Block
    runs: tuple[Run, ...]


def read_run_marks(values: dict[str, Any]) -> dict[str, Mark]:
    """The known marks of a run, with the name of an embedded thing if it is one."""
    marks = read_marks(values)
    name = values.get(EMBED)
    if isinstance(name, str) and name:
        marks[EMBED] = name
    return marks


def read_line_end(values: dict[str, Any]) -> Block:
    """How the paragraph after a line end with these marks looks."""
    size = len(_BLOCK)
    return read_block({name[size:]: v for name, v in values.items() if name.startswith(_BLOCK)})


class RichText:
    """Edits and reads; positions in UTF-16 units, as in `Text`."""

    def __init__(self, document: Document, text: Text, first: Map) -> None:
        self.document = document
        self.text = text
        self.first = first

    # Reading

    def lines(self, end: int | None = None) -> list[Line]:
        """Every paragraph, in order; up to `end`, if that is given."""
        lines: list[Line] = []
        start, block, runs, at = 0, self.first_block, list[Run](), 0
        for piece, values in self.text.pieces(0, end):
            marks = read_run_marks(values)
            for number, part in enumerate(piece.split("\n")):
                if number:
                    lines.append(Line(start, block, joined(runs)))
                    at += 1
                    start, block, runs = at, read_line_end(values), []
                if part:
                    runs.append(Run(part, marks))
                    at += utf16_length(part)
        lines.append(Line(start, block, joined(runs)))
        return lines

    @property
    def first_block(self) -> Block:
        return read_block({name: self.first.get(name) for name in _ATTRIBUTES})

    def block_at(self, start: int) -> Block:
        """How the paragraph that begins at `start` looks."""
        if start <= 0:
            return self.first_block
        pieces = self.text.pieces(start - 1, start)
        return read_line_end(pieces[0][1]) if pieces else PLAIN

    def line_start(self, position: int) -> int:
        """Where the paragraph with this position begins."""
        position, size = self._whole(position), _NEAR_UNITS
        while True:
            start = max(0, position - size)
            found = self.text.slice(start, position).rpartition("\n")
            if found[1] or not start:
                return position - utf16_length(found[2])
            size *= 4

    def line_starts(self, start: int, end: int) -> Iterator[int]:
        """Where the paragraphs begin that `start` to `end` touches."""
        at = self.line_start(start)
        while True:
            yield at
            at = self.line_end(at) + 1
            if at > min(end, self.text.length):
                return

    def line_end(self, position: int) -> int:
        position, size, length = self._whole(position), _NEAR_UNITS, self.text.length
        while True:
            end = min(length, position + size)
            found = self.text.slice(position, end).partition("\n")
            if found[1] or end == length:
                return position + utf16_length(found[0])
            size *= 4

    def _whole(self, position: int) -> int:
        """Before the character, if a position is between its two units."""
        after = self.text.slice(position, min(position + 1, self.text.length))
        return position - (utf16_length(after) == 2)

    # Editing

    def replace(self, start: int, length: int, runs: Sequence[Run]) -> None:
        """Puts runs, which may hold line ends, in the place of what is there, with exactly their
        marks. Where whole paragraphs go, what follows keeps its own look."""
        with self.document.transaction():
            follows = self._look_that_stays(start, length) if length else None
            self.text.delete(start, length)
            if follows is not None:
                self.set_block_at(start, follows)
            self._insert(start, joined(runs))

    def _insert(self, at: int, runs: Sequence[Run]) -> int:
        """All the words first: marks that are made one after another at the end of the text would
        each reach over all that comes later."""
        words = "".join(run.text for run in runs)
        self.text.insert(at, words)
        around = self.text.pieces(at, at + utf16_length(words))
        for run in runs:
            until = at + utf16_length(run.text)
            if len(around) == 1:  # the usual case: all of it took over the same marks
                self._mark_unlike(at, until, around[0][1], run.marks)
            else:
                self.mark_exactly(at, until, run.marks)
            at = until
        return at

    def _look_that_stays(self, start: int, length: int) -> Block | None:
        """From the start of one paragraph into another: the look of the latter, if any of it is
        left."""
        removed = self.text.slice(start, start + length)
        last = removed.rfind("\n")
        if last < 0 or self.line_start(start) != start:
            return None
        if self.line_end(start + length) == start + length:
            return None
        return self.block_at(start + utf16_length(removed[: last + 1]))

    def mark_exactly(self, start: int, end: int, marks: Marks) -> int:
        """Gives a stretch these marks and none of the others that are known; returns its end."""
        at = start
        for piece, values in self.text.pieces(start, end):
            until = at + utf16_length(piece)
            self._mark_unlike(at, until, values, marks)
            at = until
        return end

    def _mark_unlike(self, start: int, end: int, now: dict[str, Any], wanted: Marks) -> None:
        for name in _KNOWN:
            if now.get(name) != wanted.get(name):
                self.text.mark(start, end, name, wanted.get(name))

    def set_mark(self, start: int, end: int, name: str, value: Mark | None) -> None:
        """Formats text; None takes the mark off."""
        assert name in EDITED, "a mark that is known"
        if start < end:
            self.text.mark(start, end, name, value)

    def set_blocks(self, start: int, end: int, **changes: Any) -> None:
        """Changes some attributes of every paragraph that `start` to `end` touches."""
        with self.document.transaction():
            for at in list(self.line_starts(start, end)):
                self._set_attributes(at, changes)

    def set_block_at(self, start: int, block: Block) -> None:
        """Makes the paragraph that begins at `start` look like this."""
        self._set_attributes(start, _attributes(block))

    def _set_attributes(self, start: int, changes: dict[str, Any]) -> None:
        now = _attributes(self.block_at(start))
        for name, value in changes.items():
            if now[name] == value:
                continue
            if start <= 0:
                self.first.set(name, value) if value else self.first.remove(name)
            else:
                self.text.mark(start - 1, start, _BLOCK + name, value or None)

    def split(self, position: int) -> None:
        """A new paragraph from here on. After a heading comes plain text, after an item another
        one, not ticked."""
        with self.document.transaction():
            start = self.line_start(position)
            block = self.block_at(start)
            at_end = self.line_end(position) == position
            fresh = Block(block.style, block.indent, block.align)
            if block.style in HEADINGS:
                if at_end and position > start:
                    fresh = Block(align=block.align)
                elif position == start and not at_end:
                    self.set_block_at(start, Block(align=block.align))
            self.text.insert(position, "\n")
            self.set_block_at(position + 1, fresh)

    def insert_lines(self, position: int, lines: Sequence[tuple[Block, Sequence[Run]]]) -> int:
        """Puts paragraphs in. The first goes into the paragraph that is there, and takes its look
        with it if that is empty; returns where what was inserted ends."""
        with self.document.transaction():
            fresh = self.line_start(position) == position == self.line_end(position)
            words: list[Run] = []
            for number, (_, runs) in enumerate(lines):
                words += [Run("\n"), *runs] if number else runs
            end = self._insert(position, words)
            at = position
            for number, (block, runs) in enumerate(lines):
                if number or fresh:
                    self.set_block_at(at, block)
                at += sum(utf16_length(run.text) for run in runs) + 1
        return end


def _attributes(block: Block) -> dict[str, Any]:
    return {"style": block.style, "indent": block.indent, "align": block.align, "done": block.done}
