"""Owns the updates that have come and are not merged yet: in order, a bounded amount at each turn
of the event loop, and what builds on something that is still on its way.

A newcomer gets megabytes at once. Each update is small enough to be merged within a frame (whoever
sends cuts them so); here they are merged a few at a time, so that a window goes on meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from liveobj.documents.pieces import UpdateSize, size_of
from liveobj.documents.version import Version
from liveobj.host import Scheduler, TimerHandle

# Whoever sends puts so many operations into one update …
UPDATE_OPERATIONS = 16_000
# … and one with more than this is refused: to merge a run of N characters costs N² in the end.
UPDATE_OPERATIONS_MAX = 2 * UPDATE_OPERATIONS
# What is merged in one turn; an update counts its operations, its bytes in part, and itself.
TURN_COST = 20_000
_UPDATE_COST = 64
_BYTES_A_COST = 16
# Below this, nobody counts turns.
_SMALL_COST = 1_000
# What may wait for something that has not come.
HELD_BYTES_MAX = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class IncomingUpdate:
    """One update as it came; it builds on operations of its writers below `size.start`."""

    sender: int
    data: bytes
    signature: bytes
    size: UpdateSize

    @property
    def cost(self) -> int:
        return _UPDATE_COST + self.size.operations + len(self.data) // _BYTES_A_COST


class Incoming:
    """Calls `merge` for each update, in order; `on_turn` after each turn that was not the one in
    which it came."""

    def __init__(
        self,
        scheduler: Scheduler,
        merge: Callable[[IncomingUpdate], None],
        on_turn: Callable[[], None],
    ) -> None:
        self._scheduler = scheduler
        self._merge = merge
        self._on_turn = on_turn
        self._queue: deque[IncomingUpdate] = deque()
        self._held: list[IncomingUpdate] = []
        self._spent = 0
        self._timer: TimerHandle | None = None

    def __len__(self) -> int:
        """How many wait for their turn."""
        return len(self._queue)

    def add(self, sender: int, data: bytes, signature: bytes) -> None:
        """Merges it now, if there is time; raises BadUpdate for what is no update."""
        self._queue.append(IncomingUpdate(sender, data, signature, size_of(data)))
        self._work()

    def hold(self, update: IncomingUpdate) -> bool:
        """Keeps one that builds on what has not come; False if there are too many."""
        held = sum(len(other.data) for other in self._held)
        if held + len(update.data) > HELD_BYTES_MAX:
            return False
        self._held.append(update)
        return True

    def release(self, version: Version) -> None:
        """Those that can be merged, now that so much is here, are next."""
        if not self._held:
            return
        ready = [update for update in self._held if version.includes(update.size.start)]
        if ready:
            self._held = [update for update in self._held if update not in ready]
            self._queue.extendleft(reversed(ready))

    def clear(self) -> None:
        self._queue.clear()
        self._held.clear()
        self._spent = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _work(self) -> None:
        try:
            while self._queue and self._spent < TURN_COST:
                update = self._queue.popleft()
                self._spent += update.cost
                self._merge(update)
        finally:
            if self._timer is None and (self._queue or self._spent >= _SMALL_COST):
                self._timer = self._scheduler.call_later(0, self._next_turn)

    def _next_turn(self) -> None:
        self._timer = None
        self._spent = 0
        if self._queue:
            self._work()
            self._on_turn()
