"""Keeps a QTextDocument and a replicated text the same: local edits out as intents, remote ones in.

Both count in UTF-16 units, so positions need no conversion. Remote changes wait until
`apply_pending` is called, once per frame and before local input is handled, and then go in as one
edit block. The binding knows no widget and no caret; it offers `moved` to whoever keeps positions.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QTextCursor, QTextDocument

from liveobj.documents.errors import DocumentError
from liveobj.documents.text import Text, TextChange, TextStep, utf16_length

log = logging.getLogger(__name__)

# Qt's own marks of a paragraph's end; in the text they are line ends, one unit for one unit.
TO_TEXT = str.maketrans({"\u2029": "\n", "\ufdd0": "\n", "\ufdd1": "\n"})
# What Qt would make something else of, and so break the equality of positions.
TO_VIEW = str.maketrans(
    {"\r": "\u240d", "\u2029": "\u2028", "\ufdd0": "\ufffd", "\ufdd1": "\ufffd"}
)


# Edits further apart than this, and than a fair part of the text, are laid out by themselves.
_FAR_UNITS = 20_000
_BLOCKS_MAX = 32


class TextBinding(QObject):
    """Binds `view` to `text` until closed.

    Signals: `pending` when remote changes wait for `apply_pending`; `edited` after a local edit has
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
        self._edited_at = -1
        # What the view shows, in UTF-16: the text itself may already be further.
        self.shown = bytearray()
        view.setUndoRedoEnabled(False)
        view.documentLayout()  # a document reports changes only when it has a layout
        self.reconcile()
        view.contentsChange.connect(self._on_view_changed)
        self._subscription = text.observe(self._on_text_changed)

    def close(self) -> None:
        self._subscription.close()
        self.view.contentsChange.disconnect(self._on_view_changed)

    @property
    def is_pending(self) -> bool:
        return bool(self._waiting)

    def apply_pending(self) -> Sequence[TextChange]:
        """Brings the view to the state of the text; returns the changes, in order."""
        changes, self._waiting = self._waiting, []
        if not changes:
            return ()
        self.busy = True
        self._edited_at = -1
        cursor = QTextCursor(self.view)
        cursor.beginEditBlock()
        try:
            for change in changes:
                self.apply_steps(cursor, change.steps)
        finally:
            cursor.endEditBlock()
            self.busy = False
        if len(self.shown) != 2 * self._text.length:
            log.error("the view had lost step with its text and was brought back")
            self.reconcile()
        return changes

    def apply_steps(self, cursor: QTextCursor, steps: Sequence[TextStep]) -> None:
        at = 0
        for step in steps:
            if step.retain:
                at += step.retain
            elif step.delete:
                self.begin_edit(cursor, at)
                self.replace_shown(cursor, at, step.delete, "")
            elif step.insert:
                self.begin_edit(cursor, at)
                self.replace_shown(cursor, at, 0, step.insert.translate(TO_VIEW))
                at += utf16_length(step.insert)

    def begin_edit(self, cursor: QTextCursor, at: int) -> None:
        """To be called before each edit of the view. Qt lays out everything between the first and
        the last edit of a block again; so what is far apart comes in blocks of its own."""
        far = max(_FAR_UNITS, len(self.shown) // (2 * _BLOCKS_MAX))
        if self._edited_at >= 0 and abs(at - self._edited_at) > far:
            cursor.endEditBlock()
            cursor.beginEditBlock()
        self._edited_at = at

    def replace_shown(self, cursor: QTextCursor, at: int, removed: int, added: str) -> None:
        cursor.setPosition(at)
        cursor.setPosition(at + removed, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(added)
        self.shown[2 * at : 2 * (at + removed)] = added.encode("utf-16-le", "surrogatepass")

    def _on_text_changed(self, change: TextChange) -> None:
        if self.busy:
            return  # the echo of what the view itself has just written
        self._waiting.append(change)
        self.pending.emit()

    def _on_view_changed(self, position: int, removed: int, added: int) -> None:
        """A local edit. Qt may report more than has changed (whole blocks, one past the end), so
        the same units at both ends are left out."""
        if self.busy:
            return
        added = min(added, self.view.characterCount() - 1 - position)
        before = bytes(self.shown[2 * position : 2 * (position + removed)])
        after = self._read(position, added)
        head, tail = _same_ends(before, after)
        old, new = before[head : len(before) - tail], after[head : len(after) - tail]
        if old or new:
            start = position + head // 2
            self.shown[2 * start : 2 * start + len(old)] = new
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
        shown_at, end = start, start + removed
        behind = bool(self._waiting)
        for change in self._waiting:  # the text is ahead of the view (an input method composes)
            start = moved(start, change.steps, stay=True)
            end = moved(end, change.steps, stay=True)
        self._waiting.clear()
        added = units.decode("utf-16-le", "replace")
        self.busy = True
        try:
            self.edit_text(start, max(0, end - start), added, shown_at)
        except DocumentError as error:
            log.warning("a local edit was refused, the view goes back to the text: %s", error)
            behind = True
        finally:
            self.busy = False
        if behind or added.encode("utf-16-le") != units:
            self.reconcile()
        self.edited.emit()

    def reconcile(self) -> None:
        """Makes the view equal to the text by replacing what lies between their common ends."""
        wanted = self._text.to_string().translate(TO_VIEW).encode("utf-16-le")
        head, tail = _same_ends(bytes(self.shown), wanted)
        removed = (len(self.shown) - head - tail) // 2
        added = wanted[head : len(wanted) - tail].decode("utf-16-le")
        if not removed and not added:
            return
        self.busy = True
        try:
            self.replace_shown(QTextCursor(self.view), head // 2, removed, added)
        finally:
            self.busy = False


def moved(position: int, steps: Sequence[TextStep], *, stay: bool) -> int:
    """Where a position is after `steps`; with `stay`, text inserted right there comes after it."""
    old = new = 0
    for step in steps:
        if step.retain:
            if position < old + step.retain:
                break
            old += step.retain
            new += step.retain
        elif step.delete:
            old += step.delete
            position = max(position, old)
        elif step.insert:
            if stay and position == old:
                break
            new += utf16_length(step.insert)
    return new + max(0, position - old)


def _same_ends(one: bytes, other: bytes) -> tuple[int, int]:
    """How many bytes at the head and at the tail are the same, whole characters only."""
    limit = min(len(one), len(other))
    head = 0
    while head < limit and one[head : head + 2] == other[head : head + 2]:
        head += 2
    if head and _is_high_surrogate(one[head - 2 : head]):
        head -= 2
    end, end_other = len(one), len(other)
    while min(end, end_other) > head and one[end - 2 : end] == other[end_other - 2 : end_other]:
        end -= 2
        end_other -= 2
    if end < len(one) and _is_low_surrogate(one[end : end + 2]):
        end += 2
    return head, len(one) - end


def _is_high_surrogate(unit: bytes) -> bool:
    return unit[1] & 0xFC == 0xD8


def _is_low_surrogate(unit: bytes) -> bool:
    return unit[1] & 0xFC == 0xDC
