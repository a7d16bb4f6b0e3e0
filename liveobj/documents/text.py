"""Owns a replicated text: edits, marks, deltas and stable cursors, all counted in UTF-16 code
units.

UTF-16 is what Qt counts in, so a widget uses its own positions. loro reports deltas in Unicode code
points; the difference exists only where a text holds characters beyond the first 65,536 (emoji),
and only then is a copy of the text kept to convert with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import loro

from liveobj.documents.errors import BadUpdate, DocumentError, PositionError, loro_errors
from liveobj.documents.long_insert import LongInsert
from liveobj.documents.observing import Container, Delivery
from liveobj.documents.seams import (
    RUN_CHARACTERS_MAX,
    cut_text,
    halvings,
    room_after,
    sew,
    sew_utf16,
)
from liveobj.documents.units import utf16_length

if TYPE_CHECKING:
    from liveobj.documents.document import Document, Origin

__all__ = [
    "MarkValue",
    "Text",
    "TextChange",
    "TextStep",
    "apply_steps",
    "mark_styles",
    "utf16_length",
]

MarkValue = str | int | float | bool | None

# Marks that text written at their end does not get. Of a name with a colon the part before it
# counts, so that any number of comments can lie over one another.
NOT_EXPANDING = ("link", "comment", "embed", "block")


def mark_styles() -> loro.StyleConfigMap:
    """How marks behave at their ends; said again wherever a text is marked, as it travels with
    each mark."""
    styles = loro.StyleConfigMap()
    for name in NOT_EXPANDING:
        styles.insert(name, loro.ExpandType.Null)
    return styles


@dataclass(frozen=True, slots=True)
class TextStep:
    """One step over a text: exactly one of `retain`, `insert`, `delete` is set; counts in UTF-16
    units.

    `marks` are those that an insert carries, or that a retain sets (None: the mark was taken off).
    """

    retain: int = 0
    insert: str = ""
    delete: int = 0
    marks: Mapping[str, MarkValue] | None = None


@dataclass(frozen=True, slots=True)
class TextChange:
    """The steps that lead from the text before to the text after, and who began them."""

    origin: Origin
    label: str
    steps: tuple[TextStep, ...]


def apply_steps(text: str, steps: Sequence[TextStep]) -> str:
    """The text after `steps`; what a view does to itself, in plain strings."""
    units = text.encode("utf-16-le")
    result: list[bytes] = []
    at = 0
    for step in steps:
        result.append(units[at : at + 2 * step.retain])
        at += 2 * (step.retain + step.delete)
        result.append(step.insert.encode("utf-16-le"))
    result.append(units[at:])
    return b"".join(result).decode("utf-16-le")


class Text(Container[TextChange]):
    """A text in a document. Made by `Document.text`."""

    def __init__(self, document: Document, text: loro.LoroText) -> None:
        super().__init__(document, text.id)
        self._text = text
        # The text before the next change; None while it has no character beyond U+FFFF, that is,
        # while both ways of counting agree.
        self._before: str | None = None
        self._remember()
        self._unsewn = 0  # characters inserted here since the last seam
        self._rewritten: list[tuple[int, int]] = []  # what loro inserted by itself, in characters

    def __str__(self) -> str:
        return self.to_string()

    def __len__(self) -> int:
        return self.length

    def to_string(self) -> str:
        return self._text.to_string()

    @property
    def length(self) -> int:
        """In UTF-16 units."""
        return self._text.len_utf16

    # Editing

    def insert(self, position: int, text: str) -> None:
        """At once, however long; a window inserts what is long by `insert_long`."""
        if not text:
            return
        with self._editing(PositionError, f"Cannot insert at {position}"):
            room = room_after(self._unsewn)
            if len(text) <= room:
                self._text.insert_utf16(position, text)
                self._unsewn += len(text)
            else:
                self._insert_sewn(position, text, room)

    def _insert_sewn(self, position: int, text: str, room: int) -> None:
        text.encode()  # a half of a character is refused before anything is inserted
        first = True
        for piece in cut_text(text, room):
            if not first:
                sew_utf16(self._text, position)
            first = False
            if piece:
                self._text.insert_utf16(position, piece)
                position += utf16_length(piece)
            self._unsewn = len(piece)

    def insert_long(self, position: int, text: str, label: str = "") -> LongInsert:
        """Begins to insert a text that is long: `step()` of what is returned inserts a piece, which
        takes well under a millisecond, and returns whether there is more. One step of undo."""
        return LongInsert(self, position, text, label)

    def delete(self, position: int, length: int) -> None:
        if not length:
            return
        with self._editing(PositionError, f"Cannot delete {length} from {position}"):
            self._text.delete_utf16(position, length)

    def replace(self, position: int, length: int, text: str) -> None:
        with self.document.transaction():
            self.delete(position, length)
            self.insert(position, text)

    def mark(self, start: int, end: int, name: str, value: MarkValue) -> None:
        """Formats `start` to `end`; None takes the mark off."""
        with self._editing(PositionError, f"Cannot mark {start} to {end} as {name}"):
            if value is None:
                self._text.unmark_utf16(start, end, name)
            else:
                self._text.mark_utf16(start, end, name, value)

    def pieces(
        self, start: int = 0, end: int | None = None
    ) -> list[tuple[str, dict[str, MarkValue]]]:
        """The text, or the part from `start` to `end`, as runs with their marks."""
        if end is None:
            end = self.length
        if start >= end:
            return []
        with loro_errors(PositionError, f"Cannot read {start} to {end}"):
            delta = self._text.slice_delta(start, end, loro.PositionType.Utf16)
        runs: list[tuple[str, dict[str, MarkValue]]] = []
        for run in delta:
            if isinstance(run, loro.TextDelta.Insert):
                marks = _read_marks(run.attributes) or {}
                if runs and runs[-1][1] == marks:  # cut by marks that were taken off since
                    runs[-1] = (runs[-1][0] + run.insert, marks)
                else:
                    runs.append((run.insert, marks))
        return runs

    def slice(self, start: int, end: int) -> str:
        if start >= end:
            return ""
        with loro_errors(PositionError, f"Cannot read {start} to {end}"):
            return self._text.slice_utf16(start, end)

    # Cursors

    def cursor_at(self, position: int, *, before: bool = False) -> bytes:
        """A place that moves with the text around it, as bytes that another replica understands.

        It sticks to the character on its right; with `before`, to the one on its left.
        """
        with loro_errors(PositionError, f"There is no place {position}"):
            at = _convert(self._text, position, loro.PositionType.Utf16, loro.PositionType.Unicode)
            if at is None:
                raise PositionError(f"There is no place {position}: the length is {self.length}")
            side = loro.Side.Left if before else loro.Side.Right
            cursor = self._text.get_cursor(at, side)
        if cursor is None:
            raise DocumentError(f"No cursor can be made at {position}")
        return bytes(cursor.encode())

    def position_of(self, cursor: bytes) -> int:
        """Where the cursor is now. Raises BadUpdate for bytes that are not a cursor of this text,
        or that speak of a part of it which has not arrived here yet."""
        with loro_errors(BadUpdate, "These bytes are not a place in this text"):
            decoded = loro.Cursor.decode(cursor)
            doc = self._text.doc()
            if doc is None or decoded.container != self._text.id:
                raise BadUpdate("These bytes are a place in another text")
            at = doc.get_cursor_pos(decoded).current.pos
            position = _convert(self._text, at, loro.PositionType.Unicode, loro.PositionType.Utf16)
        if position is None:
            raise BadUpdate("These bytes are not a place in this text")
        return position

    def hold(self, position: int) -> Callable[[], int]:
        """Where `position` is, whenever it is asked: after the character on its left, or where
        that was."""
        if position == 0:
            return lambda: 0
        with loro_errors(PositionError, f"There is no place {position}"):
            at = _convert(self._text, position, loro.PositionType.Utf16, loro.PositionType.Unicode)
            cursor = None if at is None else self._text.get_cursor(at - 1, loro.Side.Middle)
            doc = self._text.doc()
        if cursor is None or doc is None:
            raise PositionError(f"There is no place {position}: the length is {self.length}")

        def now() -> int:
            found = doc.get_cursor_pos(cursor)
            after = found.current.pos + (found.update is None)
            units = _convert(self._text, after, loro.PositionType.Unicode, loro.PositionType.Utf16)
            return self.length if units is None else units

        return now

    # Seams

    def sew_rewritten(self) -> bool:
        """Puts seams into what loro has inserted by itself; whether there was any."""
        rewritten, self._rewritten = self._rewritten, []
        for start, end in rewritten:
            for place in halvings(start, end):
                sew(self._text, place)
        return bool(rewritten)

    def _note_rewritten(self, delta: Sequence[loro.TextDelta]) -> None:
        at = start = 0
        for step in delta:
            if isinstance(step, loro.TextDelta.Insert):
                at += len(step.insert)
            elif isinstance(step, loro.TextDelta.Retain):
                self._add_rewritten(start, at)
                at = start = at + step.retain
        self._add_rewritten(start, at)

    def _add_rewritten(self, start: int, end: int) -> None:
        if end - start > RUN_CHARACTERS_MAX:
            self._rewritten.append((start, end))

    # Observing

    def take_down(
        self, delta: Sequence[loro.TextDelta], origin: Origin, label: str
    ) -> Delivery | None:
        """Converts loro's delta while the text before it is still known (see
        `Document._on_event`). None: nothing has changed, as after a seam."""
        if self.document.rewriting:
            self._note_rewritten(delta)
        steps = tuple(self._steps(delta))
        if not steps:
            return None
        self._remember()
        return self._note(TextChange(origin, label, steps))

    def _steps(self, delta: Sequence[loro.TextDelta]) -> list[TextStep]:
        steps: list[TextStep] = []
        before, at = self._before, 0
        words: list[str] = []  # of an insertion that loro has in many pieces
        words_marks: dict[str, MarkValue] | None = None

        def units(count: int) -> int:
            nonlocal at
            at += count
            return count if before is None else utf16_length(before[at - count : at])

        def end_insertion() -> None:
            if words:
                steps.append(TextStep(insert="".join(words), marks=words_marks))
                words.clear()

        for step in delta:
            if isinstance(step, loro.TextDelta.Insert):
                marks = _read_marks(step.attributes)
                if marks != words_marks:
                    end_insertion()
                    words_marks = marks
                words.append(step.insert)
                continue
            end_insertion()
            if isinstance(step, loro.TextDelta.Retain):
                marks = _read_marks(step.attributes)
                steps.append(TextStep(retain=units(step.retain), marks=marks))
            elif isinstance(step, loro.TextDelta.Delete):
                steps.append(TextStep(delete=units(step.delete)))
        end_insertion()
        while steps and steps[-1].retain and not steps[-1].marks:
            steps.pop()
        return steps

    def _remember(self) -> None:
        same = self._text.len_utf16 == self._text.len_unicode
        self._before = None if same else self._text.to_string()


def _read_marks(attributes: Mapping[str, object] | None) -> dict[str, MarkValue] | None:
    """Marks of simple values; those with lists or maps inside are somebody else's and are left
    out."""
    if not attributes:
        return None
    return {
        name: value
        for name, value in attributes.items()
        if value is None or isinstance(value, str | int | float | bool)
    }


def _convert(
    text: loro.LoroText, index: int, old: loro.PositionType, new: loro.PositionType
) -> int | None:
    # It is there, but the library's stubs give it to another class.
    position: int | None = text.convert_pos(index, old, new)  # type: ignore[attr-defined]
    return position
