"""Owns the copy of an order on disk: records appended before anybody is told of what they say.

A member that comes back must know what it has promised and what it has acknowledged, or two
majorities would no longer overlap. So a promise or an acknowledgement leaves only after its record
is on the disk. Records of a few milliseconds are written with one flush, since a flush for each
message would stall the one thread. A journal that is damaged is not believed: its member comes back
as somebody new, which is safe, and never begins an order.

Nor is a copy: a journal is bound to the machine and the file where it was written, and says when it
was written last. One that was copied to another PC or profile, or restored from a backup, may have
a twin that votes as the same member, so it goes on as a new one. A machine that was set back as a
whole cannot see that; the others notice it (`order_members`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import msgpack

from liveobj.channels.messages import BadMessage
from liveobj.channels.order_binding import JournalPlace
from liveobj.channels.order_state import OrderState, Record
from liveobj.host import Scheduler, TimerHandle
from liveobj.storage import ObjectStore, StorageError

log = logging.getLogger(__name__)

SAVE_DELAY_S = 0.01
RETRY_DELAY_S = 5.0
COMPACT_AFTER_ROWS = 500
# The system notes when a file was last changed; the journal does not lie behind that by more.
TOUCHED_S = 60.0

# In place of a journal that was not believed: there is an order, which must not begin again.
_LOST: Record = ["lost"]

Then = Callable[[], None]


class OrderJournal:
    """`problem` is a sentence while the disk refuses, else None; `on_problem` is told of it.
    `place` says where this journal is; `wall_time` gives seconds since 1970. `lost` is true where
    there was one before that is not believed."""

    def __init__(
        self,
        store: ObjectStore,
        scheduler: Scheduler,
        place: JournalPlace | None = None,
        wall_time: Callable[[], float] | None = None,
    ) -> None:
        self.place = place or JournalPlace()
        self.lost = False
        self._wall_time = wall_time
        self._store = store
        self._scheduler = scheduler
        self._records: list[Record] = []
        self._waiting: list[Then] = []
        self._timer: TimerHandle | None = None
        self._rows = 0
        self._closed = False
        self.problem: str | None = None
        self.on_problem: Callable[[str], None] | None = None

    def load(self) -> OrderState | None:
        """The state that was saved; None where there is none to be believed."""
        state = OrderState()
        try:
            # All are read before any is believed: only what was read can be removed.
            for update in list(self._store.updates()):
                self._rows += 1
                for record in msgpack.unpackb(update.data, raw=False, strict_map_key=False):
                    if record == _LOST:
                        state, self.lost = OrderState(), True
                    else:
                        state.apply(record)
        except (BadMessage, ValueError, TypeError, msgpack.UnpackException) as problem:
            log.error("the order in %s is not believed: %s", self._store.path, problem)
            self._forget()
            return None
        if self._store.rescue is not None:
            # Something may be missing from what was rescued, and nobody can say what.
            self._forget()
            return None
        return state if state.identity else None

    def is_copy(self, state: OrderState) -> bool:
        """Whether what was loaded was written elsewhere, or put here by somebody else."""
        moved = bool(state.binding) and state.binding != self.place.binding
        touched_at = self.place.touched_at
        return moved or (
            bool(state.written_at)
            and touched_at is not None
            and touched_at > state.written_at + TOUCHED_S
        )

    def _forget(self) -> None:
        self._store.compact(msgpack.packb([_LOST]))
        self._rows = 1
        self.lost = True

    def add(self, record: Record, then: Then | None = None) -> None:
        """Saves soon; calls `then` when it is on the disk, after those of earlier records."""
        self._records.append(record)
        # The same one after many records is called once.
        if then is not None and (not self._waiting or self._waiting[-1] != then):
            self._waiting.append(then)
        self._schedule(SAVE_DELAY_S)

    def _schedule(self, delay_s: float) -> None:
        if self._timer is None and not self._closed:
            self._timer = self._scheduler.call_later(delay_s, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self.flush()

    def flush(self) -> bool:
        """Saves now; False, with `problem` set, where the disk refuses: it is tried again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._records:
            try:
                self._store.append(self._packed(self._records))
            except StorageError as problem:
                log.error("%s", problem)
                self._tell(str(problem))
                self._schedule(RETRY_DELAY_S)
                return False
            self._records.clear()
            self._rows += 1
        self._tell(None)
        waiting, self._waiting = self._waiting, []
        for then in waiting:
            then()
        return True

    def _packed(self, records: list[Record]) -> bytes:
        """Records, and when they were written."""
        at = [] if self._wall_time is None else [["at", float(self._wall_time())]]
        packed: bytes = msgpack.packb([*records, *at], use_bin_type=True)
        return packed

    def _tell(self, problem: str | None) -> None:
        if problem != self.problem:
            self.problem = problem
            if problem is not None and self.on_problem is not None:
                self.on_problem(problem)

    @property
    def wants_compaction(self) -> bool:
        return self._rows > COMPACT_AFTER_ROWS and not self._records

    def compact(self, whole: Record) -> None:
        """Replaces everything saved by one record, which must stand for it."""
        try:
            self._store.compact(self._packed([whole]))
        except StorageError as problem:
            log.error("%s", problem)
            return
        self._rows = 1

    def close(self) -> None:
        """Harmless when done twice."""
        if not self._closed:
            self.flush()
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            self._store.close()
