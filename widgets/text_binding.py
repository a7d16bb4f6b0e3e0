"""Keeps a QTextDocument and a replicated text the same: local edits out as intents, remote ones in.

Both count in UTF-16 units. Remote changes wait until they are asked for, once per frame and before
local input is handled, and then go in as one edit block: all of them, as many as there is time for,
or those at one place. So the view may be behind its text in some places; `to_text` and `to_view`
convert. The binding knows no widget and no caret.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QTextCursor, QTextDocument

from liveobj.documents.document import Origin
from liveobj.documents.errors import DocumentError
from liveobj.documents.steps import Steps
from liveobj.documents.text import Text, TextChange, TextStep, utf16_length
from widgets.backlog import PIECE_UNITS, Backlog, in_pieces, is_long, is_plain
from widgets.lazy_layout import LazyLayout
from widgets.unit_rope import UnitRope

log = logging.getLogger(__name__)

# Qt's own marks of a paragraph's end; in the text they are line ends, one unit for one unit.
TO_TEXT = str.maketrans({"\u2029": "\n", "\ufdd0": "\n", "\ufdd1": "\n"})
# What Qt would make something else of, and so break the equality of positions.
TO_VIEW = str.maketrans(
    {"\r": "\u240d", "\u2029": "\u2028", "\ufdd0": "\ufffd", "\ufdd1": "\ufffd"}
)


# So few steps are applied as they came; more are put together, to be shown where one looks first.
_STEPS_FEW = 60
# Inserts of more lines are applied in parts.
_LINES_AT_ONCE = 40

# Texts are compared by so many bytes, then by units.
_SAME_BYTES = 4096

# Some screens full of words: as much as is shown before anything is painted.
FIRST_UNITS = 20_000

GoesOn = Callable[[], bool]
Span = tuple[int, int]


def _always() -> bool:
    return True


class TextBinding(QObject):
    """Binds `view` to `text` until closed.

    Attributes: `filling` (whether the first showing of a long text still goes on). Signals:
    `pending` when remote changes wait for `apply_pending`; `edited` after a local edit has
    become part of the replicated text.
    """

    pending = Signal()
    edited = Signal()

    def __init__(self, view: QTextDocument, text: Text, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.view = view
        self._text = text
        self._waiting: list[TextChange] = []
        self.busy = False
        self.filling = False
        self._backlog = Backlog()
        # What the view shows: the text itself may already be further.
        self.shown = UnitRope()
        view.setUndoRedoEnabled(False)
        layout = view.documentLayout()  # a document reports changes only when it has a layout
        self._layout = layout if isinstance(layout, LazyLayout) else None
        self.reconcile()
        view.contentsChange.connect(self._on_view_changed)
        self._subscription = text.observe(self._on_text_changed)

    def close(self) -> None:
        self._subscription.close()
        self.view.contentsChange.disconnect(self._on_view_changed)

    @property
    def is_pending(self) -> bool:
        return bool(self._waiting or self._backlog)

    @property
    def is_far_behind(self) -> bool:
        """Whether to show all that waits would take longer than a frame."""
        waiting = sum(
            step.delete + len(step.insert) + bool(step.marks) * step.retain
            for change in self._waiting
            for step in change.steps
        )
        return waiting + self._backlog.waiting > FIRST_UNITS

    def to_text(self, position: int) -> int:
        """Where in the text a place of the view is."""
        self._gather()
        return self._backlog.to_text(position)

    def to_view(self, position: int) -> int:
        """Where in the view a place of the text is."""
        self._gather()
        return self._backlog.to_view(position)

    # The text's changes into the view

    def apply_pending(self) -> Sequence[TextChange]:
        """Brings the view to the state of the text; returns the changes, in order."""
        changes, self._waiting = self._waiting, []
        if self._backlog:
            changes.insert(0, TextChange(Origin.REMOTE, "", self._backlog.steps()))
            self._backlog.clear()
        if changes:
            with self._editing() as cursor:
                for change in changes:
                    self._apply(cursor, 0, change.steps)
            self._check()
        return changes

    def apply_some(self, goes_on: GoesOn, first: Sequence[Span] = ()) -> Sequence[TextChange]:
        """As much as there is time for. What lies between two places of the view that are given
        comes first; the rest waits, and is shown when this is called again."""
        few = sum(len(change.steps) for change in self._waiting) <= _STEPS_FEW
        if few and not self._backlog and not any(map(_takes_long, self._waiting)):
            return self.apply_pending()
        self._gather()
        return self._work_off([*first, None], goes_on)

    def apply_between(self, start: int, end: int) -> Sequence[TextChange]:
        """All that concerns the view between two of its places."""
        self._gather()
        return self._work_off([(start, end)], _always)

    def _gather(self) -> None:
        """Everything that waits is one list of steps from what the view shows."""
        changes, self._waiting = self._waiting, []
        for change in changes:
            self._backlog.add(change.steps)

    def _work_off(self, spans: Sequence[Span | None], goes_on: GoesOn) -> list[TextChange]:
        """Of all that waits what touches a span, of one after another, as long as there is time."""
        changes = []
        if self._backlog:
            with self._editing() as cursor:
                for span in spans:
                    done = self._apply_span(cursor, span, goes_on)
                    if done:
                        changes.append(TextChange(Origin.REMOTE, "", tuple(done)))
                    if not goes_on():
                        break
            self._backlog.tidy()
            self._check()
        return changes

    def _apply_span(
        self, cursor: QTextCursor, span: Span | None, goes_on: GoesOn
    ) -> list[TextStep]:
        done, old, at = Steps(), 0, 0
        end = 0  # of what was done
        for stretch in self._backlog.stretches:
            size = stretch.view_units
            if span is not None and old > span[1]:
                break
            if not stretch.steps or (span is not None and old + size < span[0]):
                done.retain(size)
                old, at = old + size, at + size
                continue
            inner = None if span is None else (span[0] - old, span[1] - old)
            steps, rest = self._apply(cursor, at, stretch.steps, inner, goes_on)
            stretch.keep(rest)
            done.extend(steps)
            old, at = old + size, at + stretch.view_units
            end = len(done.steps)
            if not goes_on():
                break
        return done.steps[:end]

    def _apply(
        self,
        cursor: QTextCursor,
        at: int,
        steps: Sequence[TextStep],
        span: Span | None = None,
        goes_on: GoesOn = _always,
    ) -> tuple[list[TextStep], list[TextStep]]:
        """From a place of the view on, applies those that touch `span`, as long as there is time.
        Returns what was done, and what is left to do after that."""
        done, rest = Steps(), Steps()
        old = 0
        for number, step in enumerate(steps):
            size = step.retain + step.delete
            if is_plain(step) or (span is not None and not span[0] - size <= old <= span[1]):
                done.retain(size)
                rest.add(step)
                at, old = at + size, old + size
                continue
            left: TextStep | None = step
            while left is not None:
                if not goes_on():
                    rest.extend([left, *steps[number + 1 :]])
                    return done.steps, rest.steps
                part, left = _first_part(left)
                at = self.apply_step(cursor, at, part)
                done.steps.append(part)  # as it is: to join long texts would copy them each time
                rest.retain(part.retain or utf16_length(part.insert))
            old += size
        return done.steps, rest.steps

    def apply_step(self, cursor: QTextCursor, at: int, step: TextStep) -> int:
        """Does one step at a place of the view; returns where the next one begins."""
        if step.delete:
            self.replace_shown(cursor, at, step.delete, "")
        elif step.insert:
            self.replace_shown(cursor, at, 0, step.insert.translate(TO_VIEW))
        return at + step.retain + utf16_length(step.insert)

    @contextmanager
    def _editing(self) -> Iterator[QTextCursor]:
        """One edit block of the view that is not reported back to the text."""
        before, self.busy = self.busy, True
        layout = self._layout
        cursor = QTextCursor(self.view)
        cursor.beginEditBlock()
        if layout is not None:
            layout.knows_edits = True
        try:
            yield cursor
        finally:
            cursor.endEditBlock()
            if layout is not None:
                layout.knows_edits = False
            self.busy = before

    def touch(self, start: int, end: int) -> None:
        """To be called after each edit: tells the layout, as Qt itself tells only of everything
        between the first and the last edit of a block."""
        layout = self._layout
        if layout is not None:
            block = self.view.findBlock(start)
            while block.isValid() and block.position() <= end:
                layout.touch(block, alone=True)
                block = block.next()

    def _check(self) -> None:
        self.filling = self.filling and self.is_pending
        if not self.is_pending and self.shown.length != self._text.length:
            log.error("the view had lost step with its text and was brought back")
            self.reconcile()

    def replace_shown(self, cursor: QTextCursor, at: int, removed: int, added: str) -> None:
        cursor.setPosition(at)
        cursor.setPosition(at + removed, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(added)
        units = added.encode("utf-16-le", "surrogatepass")
        self.shown.replace(at, removed, units)
        self.touch(at, at + len(units) // 2)

    def _on_text_changed(self, change: TextChange) -> None:
        if self.busy:
            return  # the echo of what the view itself has just written
        if any(map(is_long, change.steps)):
            change = replace(change, steps=tuple(in_pieces(change.steps)))
        self._waiting.append(change)
        self.pending.emit()

    def _on_view_changed(self, position: int, removed: int, added: int) -> None:
        """A local edit. Qt may report more than has changed (whole blocks, one past the end), so
        the same units at both ends are left out."""
        if self.busy:
            return
        added = min(added, self.view.characterCount() - 1 - position)
        before = self.shown.read(position, removed)
        after = self._read(position, added)
        head, tail = _same_ends(before, after)
        old, new = before[head : len(before) - tail], after[head : len(after) - tail]
        if old or new:
            start = position + head // 2
            self.shown.replace(start, len(old) // 2, new)
            self._write(start, len(old) // 2, new)
        self.edit_marks(position, position + added)

    def _read(self, position: int, length: int) -> bytes:
        cursor = QTextCursor(self.view)
        cursor.setPosition(position)
        cursor.setPosition(position + length, QTextCursor.MoveMode.KeepAnchor)
        return cursor.selectedText().translate(TO_TEXT).encode("utf-16-le", "surrogatepass")

    def edit_text(self, start: int, length: int, added: str, shown_at: int) -> None:
        """Makes a local edit part of the text; `shown_at` is where it is in the view. May be
        refused."""
        self._text.replace(start, length, added)

    def edit_marks(self, start: int, end: int) -> None:
        """Takes over the formatting of what was edited, where there is any."""

    def _write(self, start: int, removed: int, units: bytes) -> None:
        self._gather()
        at = self._backlog.take_edit(start, removed, len(units) // 2)
        behind, until = at is None, 0
        if at is None:  # others have edited just there (an input method composes)
            at, until = self._backlog.to_text(start), self._backlog.to_text(start + removed)
            removed = max(0, until - at)
            self._backlog.clear()
        added = units.decode("utf-16-le", "replace")
        self.busy = True
        try:
            self.edit_text(at, removed, added, start)
        except DocumentError as error:
            log.warning("a local edit was refused, the view goes back to the text: %s", error)
            behind = True
        finally:
            self.busy = False
        if behind or added.encode("utf-16-le") != units:
            self.reconcile()
        self.edited.emit()

    def begin(self) -> None:
        """Shows the first screens of a text at once, where nothing is shown yet."""
        text = self._text.to_string()
        end = len(text)
        if end > FIRST_UNITS:
            line_end = text.find("\n", FIRST_UNITS)
            end = line_end if line_end >= 0 else end
        first = text[:end]
        if first:
            with self._editing() as cursor:
                self.replace_shown(cursor, 0, 0, first.translate(TO_VIEW))
        rest = range(end, len(text), PIECE_UNITS)
        pieces = [TextStep(insert=text[at : at + PIECE_UNITS]) for at in rest]
        self.let_wait(utf16_length(first), pieces)

    def let_wait(self, end: int, rest: Sequence[TextStep]) -> None:
        """What follows waits like the edits of others: it is shown frame by frame, where one looks
        first."""
        self._waiting.clear()
        self._backlog.clear()
        if rest:
            self._waiting.append(TextChange(Origin.REMOTE, "", (TextStep(retain=end), *rest)))
            self.filling = True
            self.pending.emit()

    def reconcile(self) -> None:
        """Makes the view equal to the text by replacing what lies between their common ends."""
        if not self.shown.length:
            self.begin()
            return
        self._waiting.clear()
        self._backlog.clear()
        wanted = self._text.to_string().translate(TO_VIEW).encode("utf-16-le")
        shown = self.shown.all()
        head, tail = _same_ends(shown, wanted)
        removed = (len(shown) - head - tail) // 2
        added = wanted[head : len(wanted) - tail].decode("utf-16-le")
        if removed or added:
            with self._editing() as cursor:
                self.replace_shown(cursor, head // 2, removed, added)


def _takes_long(change: TextChange) -> bool:
    """Whether a single step of it may take longer than a frame has."""
    return any(is_long(step) or _first_part(step)[1] is not None for step in change.steps)


def _first_part(step: TextStep) -> tuple[TextStep, TextStep | None]:
    """A step, or of one with many lines as much as is done at once, and the rest of it."""
    if len(step.insert) > _LINES_AT_ONCE and step.insert.count("\n") > _LINES_AT_ONCE:
        at = 0
        for _ in range(_LINES_AT_ONCE):
            at = step.insert.index("\n", at + 1)
        return replace(step, insert=step.insert[:at]), replace(step, insert=step.insert[at:])
    return step, None


def _same_ends(one: bytes, other: bytes) -> tuple[int, int]:
    """How many bytes at the head and at the tail are the same, whole characters only."""
    limit = min(len(one), len(other))
    head = 0
    for size in (_SAME_BYTES, 2):
        while head + size <= limit and one[head : head + size] == other[head : head + size]:
            head += size
    if head and _is_high_surrogate(one[head - 2 : head]):
        head -= 2
    tail, limit = 0, limit - head
    for size in (_SAME_BYTES, 2):
        while tail + size <= limit and (
            one[len(one) - tail - size : len(one) - tail]
            == other[len(other) - tail - size : len(other) - tail]
        ):
            tail += size
    if tail and _is_low_surrogate(one[len(one) - tail : len(one) - tail + 2]):
        tail -= 2
    return head, tail


def _is_high_surrogate(unit: bytes) -> bool:
    return unit[1] & 0xFC == 0xD8


def _is_low_surrogate(unit: bytes) -> bool:
    return unit[1] & 0xFC == 0xDC
