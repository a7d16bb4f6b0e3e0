"""Owns the undo of one person's edits: which of them are taken back together.

loro keeps the edits, and joins those that follow one another quickly. An edit of many transactions,
with edits of others in between, is one step here, although it is many to loro.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import loro

# While a long edit goes on, all that this person does belongs to it.
_ALWAYS_MS = 1 << 40


class LongEdit(Protocol):
    """An edit of many transactions; ended before anything is undone."""

    def cancel(self) -> None: ...


@dataclass(slots=True)
class _Group:
    """Steps of loro above `low`, up to `high`, that are one to the person."""

    low: int
    high: int


class Undoing:
    """The undo manager of a document. `merge_ms`: edits closer than that are one step."""

    def __init__(self, doc: loro.LoroDoc, merge_ms: int, quiet_prefix: str) -> None:
        self._manager = loro.UndoManager(doc)
        self._manager.add_exclude_origin_prefix(quiet_prefix)
        self._manager.set_merge_interval(merge_ms)
        self._merge_ms = merge_ms
        self._at_boundary = False
        self._open: dict[LongEdit, int] = {}  # -> how many steps there were before
        self._undo_groups: list[_Group] = []
        self._redo_groups: list[_Group] = []

    @property
    def can_undo(self) -> bool:
        return self._manager.can_undo()

    @property
    def can_redo(self) -> bool:
        return self._manager.can_redo()

    def on_edit(self) -> None:
        """An edit that can be undone has been made."""
        self._redo_groups.clear()
        if self._at_boundary:
            self._at_boundary = False
            self._manager.set_merge_interval(_ALWAYS_MS if self._open else self._merge_ms)

    def boundary(self) -> None:
        # loro's own checkpoint is merged with the next one if that comes soon.
        self._at_boundary = True
        self._manager.set_merge_interval(0)

    def begin_group(self) -> None:
        self._manager.group_start()

    def end_group(self) -> None:
        self._manager.group_end()
        self.boundary()

    def begin_long_edit(self, edit: LongEdit) -> None:
        self._open[edit] = self._manager.undo_count()
        self.boundary()

    def end_long_edit(self, edit: LongEdit) -> None:
        low = self._open.pop(edit, None)
        high = self._manager.undo_count()
        if low is not None and high - low > 1:
            self._undo_groups.append(_Group(low, high))
        self.boundary()

    def undo(self) -> bool:
        for edit in list(self._open):
            edit.cancel()
        manager = self._manager
        return _step(
            manager.undo,
            manager.undo_count,
            self._undo_groups,
            manager.redo_count,
            self._redo_groups,
        )

    def redo(self) -> bool:
        manager = self._manager
        return _step(
            manager.redo,
            manager.redo_count,
            self._redo_groups,
            manager.undo_count,
            self._undo_groups,
        )


def _step(
    step: Callable[[], bool],
    count: Callable[[], int],
    groups: list[_Group],
    other_count: Callable[[], int],
    other_groups: list[_Group],
) -> bool:
    """Takes back one step, or all those of a group, which is then one on the other stack."""
    high, other_low = count(), other_count()
    low = min((group.low for group in groups if group.high >= high), default=high - 1)
    done = step()
    while done and count() > low and step():
        pass
    other_high = other_count()
    if other_high - other_low > 1:
        other_groups.append(_Group(other_low, other_high))
    groups[:] = [group for group in groups if group.high <= count()]
    return done
