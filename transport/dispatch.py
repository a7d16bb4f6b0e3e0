"""Owns the way of an engine's events: sorted into batches, then handed out.

It does not know where events come from nor when it is called; drivers call `take` with what C
reported and then `hand_out`.

The two phases are apart for two reasons. All deliveries of a group in a turn go out in one call.
And a callback may run a nested event loop (a dialog, a drag), in which the engine is stepped
again: that inner turn continues the queue of the outer one, so that every group still sees its
messages in order.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from transport import binding_events
from transport.deliveries import LentDeliveries
from transport.errors import Gone, TransportError, ViewKept
from transport.events import EventType, Health, HealthChanged, Reason, Received
from transport.group import ErrorCallback, Group
from transport.interfaces import Member, View
from transport.loans import Loans

log = logging.getLogger(__name__)

HealthCallback = Callable[[HealthChanged], None]
Change = HealthChanged | tuple[Group, View | None]

_DELIVERY = int(EventType.DELIVERY)
_VIEW = int(EventType.VIEW)
_HEALTH = int(EventType.HEALTH)
_WRITABLE = int(EventType.WRITABLE)
_KEY = int(EventType.KEY)
_RECEIVED = int(EventType.RECEIVED)


class _Batch:
    """Deliveries of one group that have not been handed out."""

    __slots__ = ("deliveries", "group")

    def __init__(self, group: Group, deliveries: LentDeliveries) -> None:
        self.group = group
        self.deliveries = deliveries


# With a group: its new view; None, that it has room; the epoch whose key is wanted; `Received`.
_Entry = _Batch | tuple[Group, View | int | Received | None] | HealthChanged


class Dispatch:
    """The events of one engine, whatever drives it, and whoever is told of them."""

    # Whether what the engine lends is there until it is handed out; else it is taken at once.
    lends_later = True

    def __init__(self) -> None:
        self.on_health: HealthCallback | None = None
        # Called with contained errors of groups that have no hook of their own, and of the engine.
        self.on_error: ErrorCallback | None = None
        # Told of each change of health, of each view and (without a view) of each group that was
        # left, before those whom it concerns: for logs.
        self.on_change: Callable[[Change], None] | None = None
        self._groups: dict[int, Group] = {}
        self._queue: deque[_Entry] = deque()
        self._loans = Loans()

    @property
    def node(self) -> int:
        """This node's id."""
        raise NotImplementedError

    def report(
        self,
        error: TransportError,
        cause: BaseException | None = None,
        hook: ErrorCallback | None = None,
    ) -> None:
        """Logs an error that must not travel further, and gives it to the hook."""
        error.__cause__ = cause
        # Being put out is the network's weather; anything else here is somebody's mistake.
        level = logging.WARNING if isinstance(error, Gone) else logging.ERROR
        log.log(level, "%s", error.described, exc_info=cause)
        hook = hook or self.on_error
        if hook is not None:
            try:
                hook(error)
            except Exception:
                log.exception("the hook for errors failed itself")

    def lend(
        self, addresses: Sequence[int], sizes: Sequence[int]
    ) -> tuple[Sequence[Any], list[memoryview]]:
        """Views of what the engine lends, and whatever is shared while one of them is held; a
        driver that cannot wait for their return copies."""
        loan, views = binding_events.lend(addresses, sizes)
        return (loan,), views

    def take(self, events: binding_events.Events) -> None:
        """Sorts what the engine reported into the queue; calls nobody."""
        if events.count == 0:
            return
        deliveries = events.deliveries()
        if deliveries is not None:
            self._take_deliveries(*deliveries)
        else:
            self._take_mixed(events.rows())

    def _take_deliveries(self, user: int, columns: binding_events.Columns) -> None:
        group = self._groups.get(user)
        if group is not None and self.on_change is not None:
            # Somebody writes a log; nobody else pays for the sums in it.
            group.tally.add(columns.senders, columns.sizes, self.node)
        # With nothing waiting, nobody will begin to listen before these are handed out.
        if group is None or not (self._queue or group.listening):
            return
        batch = group.open_batch
        if not isinstance(batch, _Batch):
            batch = group.open_batch = _Batch(group, LentDeliveries(self.lend))
            self._queue.append(batch)
        batch.deliveries.add(columns)
        if not self.lends_later:
            batch.deliveries.borrow()

    def _take_mixed(self, rows: list[binding_events.EventRow]) -> None:
        groups = self._groups
        for row in rows:
            kind, health, reason, _, _, user, sender, number, _, members, count, _ = row
            if kind == _DELIVERY:
                self._take_deliveries(user, binding_events.columns_of(row))
            elif kind == _HEALTH:
                self._end_batches()
                self._queue.append(HealthChanged(Health(health), Reason(reason), sender))
            elif (group := groups.get(user)) is not None:
                group.open_batch = None
                if kind == _VIEW:
                    nodes = binding_events.read_nodes(members, count)
                    view = View(number, tuple(map(Member, nodes)))
                    self._queue.append((group, view))
                elif kind == _WRITABLE:
                    self._queue.append((group, None))
                elif kind == _KEY:
                    self._queue.append((group, number))
                elif kind == _RECEIVED:
                    self._queue.append((group, Received(group.group_id)))

    def hand_out(self) -> None:
        """Calls back for everything in the queue."""
        while self._queue:
            entry = self._queue.popleft()
            if isinstance(entry, _Batch):
                self._hand_out_batch(entry)
            elif isinstance(entry, HealthChanged):
                self._hand_out_health(entry)
            else:
                group, view = entry
                if group.closed:
                    continue
                if view is None:
                    group.take_writable()
                elif isinstance(view, int):
                    group.keys.want(group, view)
                elif isinstance(view, Received):
                    group.take_received()
                else:
                    if self.on_change is not None:
                        self.on_change((group, view))
                    group.take_view(view)

    def _hand_out_batch(self, batch: _Batch) -> None:
        group = batch.group
        if group.open_batch is batch:
            group.open_batch = None
        if group.closed or not group.listening:
            return
        deliveries = batch.deliveries
        try:
            group.take_deliveries(deliveries)
        finally:
            deliveries.end()
            self._take_back(group, deliveries)

    def _take_back(self, group: Group, deliveries: LentDeliveries) -> None:
        if not self._loans.end(deliveries.loans, deliveries.views):
            group.report(
                ViewKept(
                    "Part of a delivery was kept after its callback; copy what is needed later.",
                    group=group.group_id,
                )
            )

    def _hand_out_health(self, change: HealthChanged) -> None:
        if self.on_change is not None:
            self.on_change(change)
        problem = change.problem
        if problem is not None:
            self.report(problem)
        if self.on_health is not None:
            try:
                self.on_health(change)
            except Exception as error:
                from_callback = TransportError("The callback for the engine's health failed.")
                self.report(from_callback, error)

    def _end_batches(self) -> None:
        for entry in self._queue:
            if isinstance(entry, _Batch):
                entry.group.open_batch = None

    def loans_returned(self) -> bool:
        """Whether everything that was lent can be freed: nobody holds a part of it, none waits."""
        return self._loans.returned() and not self._queue

    def forget_events(self, *, health_too: bool) -> None:
        """What was reported of groups that are gone is of no use any more."""
        kept = [] if health_too else [e for e in self._queue if isinstance(e, HealthChanged)]
        self._queue = deque(kept)
