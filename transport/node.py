"""Owns one engine's groups and the way of its events: sorted into batches, then handed out.

Shared by the engine on UDP sockets and by simulated ones. It does not know where events come from
nor when it is called; both drivers call `take` with what C reported and then `hand_out`.

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

from transport import binding, binding_events
from transport.deliveries import LentDeliveries
from transport.errors import BadArgument, Closed, Gone, TransportError, ViewKept, WrongMoment
from transport.events import EventType, Health, HealthChanged, Reason
from transport.group import ErrorCallback, Group
from transport.group_keys import OWN, GroupKeys
from transport.interfaces import GROUP_ID_BYTES, GROUP_KEY_BYTES, Member, View
from transport.loans import Loans
from transport.scope_keys import ScopeKeys, checked_key

log = logging.getLogger(__name__)

HealthCallback = Callable[[HealthChanged], None]
Change = HealthChanged | tuple[Group, View | None]

_DELIVERY = int(EventType.DELIVERY)
_VIEW = int(EventType.VIEW)
_HEALTH = int(EventType.HEALTH)
_WRITABLE = int(EventType.WRITABLE)
_KEY = int(EventType.KEY)


class _Batch:
    """Deliveries of one group that have not been handed out."""

    __slots__ = ("deliveries", "group")

    def __init__(self, group: Group, deliveries: LentDeliveries) -> None:
        self.group = group
        self.deliveries = deliveries


# With a group: its new view; None, that it has room; the epoch whose key is wanted.
_Entry = _Batch | tuple[Group, View | int | None] | HealthChanged


class Node:
    """An engine seen from Python, whatever drives it. Fulfils `transport.interfaces.Network`."""

    # Whether what the engine lends is there until it is handed out; else it is taken at once.
    lends_later = True

    def __init__(self) -> None:
        # Called when the engine wants to be stepped although nothing was received.
        self.on_wake: Callable[[], None] | None = None
        self.on_health: HealthCallback | None = None
        # Called with contained errors of groups that have no hook of their own, and of the engine.
        self.on_error: ErrorCallback | None = None
        # Told of each change of health, of each view and (without a view) of each group that was
        # left, before those whom it concerns: for logs.
        self.on_change: Callable[[Change], None] | None = None
        # How many feeds are being asked now: while any is, C must not be called again.
        self.pulling = 0
        self._core: binding.Core | None = None
        self._groups: dict[int, Group] = {}
        self._queue: deque[_Entry] = deque()
        self._loans = Loans()
        self._pulled: list[object] = []
        self._postponed: list[Callable[[], None]] = []
        self._escaped: BaseException | None = None
        self._last_node = 0
        self._departing = False
        self._epoch = OWN
        self._scope_keys = ScopeKeys()

    # What the layers above use

    @property
    def node(self) -> int:
        """This node's id; the last one it had when it is closed."""
        if self._core is not None:
            self._last_node = self._core.node
        return self._last_node

    @property
    def health(self) -> Health:
        return Health.CLOSED if self._core is None else Health(self._core.health)

    @property
    def closed(self) -> bool:
        return self._core is None

    @property
    def departing(self) -> bool:
        """Whether it is on its way out."""
        return self._departing

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups joined now."""
        return tuple(self._groups.values())

    def join(self, group_id: bytes, key: bytes) -> Group:
        """Joins the group; the first view follows when membership has been agreed."""
        core = self._open_core()
        if len(group_id) != GROUP_ID_BYTES:
            raise BadArgument(f"A group's id has {GROUP_ID_BYTES} bytes.", group=group_id)
        if len(key) != GROUP_KEY_BYTES:
            raise BadArgument(f"A group's key has {GROUP_KEY_BYTES} bytes.", group=group_id)
        if self.pulling:
            raise WrongMoment("A feed that is being asked cannot join a group: do it later.")
        group = Group(self, bytes(group_id), binding.new_number(), GroupKeys(bytes(key)))
        group.handle = core.join(group.group_id, bytes(key), group.number)
        self._groups[group.number] = group
        group.keys.use(group, self._epoch)
        self.wake()
        return group

    def use_epoch(self, epoch: int) -> None:
        """Groups seal with their keys of that epoch from now on, those joined later as well."""
        self._epoch = epoch
        self.when_possible(self._change_keys)

    def _change_keys(self) -> None:
        for group in self._groups.values():
            group.keys.use(group, self._epoch)

    # The scope's key, see `transport.scope_keys`

    def add_scope_key(self, key: bytes) -> None:
        """Hears packets under that key as well."""
        key = checked_key(key)
        self.when_possible(lambda: self._scope_keys.add(self._open_core(), key))

    def use_scope_key(self, key: bytes) -> None:
        """Makes packets with that key, which has been added."""
        key = checked_key(key)
        self.when_possible(lambda: self._scope_keys.use(self._open_core(), key))

    def drop_scope_key(self, key: bytes) -> None:
        """Is deaf to that key, which is not the one in use."""
        key = checked_key(key)
        self.when_possible(lambda: self._scope_keys.drop(self._open_core(), key))

    def counters(self) -> dict[str, int]:
        """Every counter of the engine, by name."""
        return self._open_core().counters()

    def regions(self) -> list[binding.Region]:
        return self._open_core().regions()

    def unheard(self) -> list[binding.Address]:
        """Where those are whose multicast should reach this node and does not."""
        return self._open_core().unheard()

    def missed_address(self) -> binding.MissedAddress | None:
        """The multicast address of a region that does not reach this node, if one does not."""
        return self._open_core().missed_address()

    def trace_text(self) -> str:
        """The last things the engine did, a line each."""
        return self._open_core().trace_text()

    @property
    def trace_hash(self) -> int:
        return self._open_core().trace_hash

    def set_plan(self, text: str) -> None:
        """Regions for the policy PLAN."""
        self._open_core().set_plan(text)

    # What groups use

    def wake(self) -> None:
        if self.on_wake is not None:
            self.on_wake()

    def when_possible(self, call: Callable[[], None]) -> None:
        """Runs it now, or when C has returned if C is asking a feed."""
        if self.pulling:
            self._postponed.append(call)
            self.postpone()
        else:
            call()

    def postpone(self) -> None:
        """Something waits for C to return; a driver that runs for long may end its run."""

    def keep(self, data: object) -> None:
        """Keeps what a feed gave alive, as long as the engine may read it."""
        self._pulled.append(data)

    def escape(self, problem: BaseException) -> None:
        """Something like KeyboardInterrupt inside C: raised again when C has returned."""
        self._escaped = problem

    def leave(self, group: Group) -> None:
        handle = group.handle
        if self._groups.pop(group.number, None) is None:
            return
        if self.on_change is not None:
            self.on_change((group, None))
        group.end(None)
        self.when_possible(lambda: self._leave(handle))

    def _leave(self, handle: binding.CData) -> None:
        if self._core is not None:
            binding.leave(handle)
            self.wake()

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

    # What drivers use

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

    def after_native(self) -> None:
        """C has returned: does what waited for that, and lets out what must not stay inside."""
        while self._postponed:
            postponed, self._postponed = self._postponed, []
            for call in postponed:
                call()
        if self._escaped is not None:
            escaped, self._escaped = self._escaped, None
            raise escaped

    def begin_departure(self, now_ns: int) -> None:
        """Tells C to leave; what it knew of groups is invalid from here on."""
        core = self._open_core()
        if self.pulling:
            raise WrongMoment("A feed that is being asked cannot close the engine.")
        if not self._departing:
            self._departing = True
            self.end_groups(Closed("The engine is closing: open a new one."))
            core.close(now_ns)
            self.wake()

    def begin_again(self, core: binding.Core) -> None:
        """Of a driver that has another core: what was joined is joined there, as somebody new."""
        self._core = core
        self._loans = Loans()
        self._queue.clear()
        self._scope_keys.give(core)
        for group in self._groups.values():
            group.begin_again(core.join(group.group_id, group.keys.own, group.number))
            group.keys.use(group, self._epoch)

    def end_groups(self, error: Exception | None) -> None:
        """The groups are gone, or C is about to forget them; what was reported of them is too."""
        groups = list(self._groups.values())
        self._groups.clear()
        self._queue = deque(entry for entry in self._queue if isinstance(entry, HealthChanged))
        self._postponed.clear()
        for group in groups:
            group.end(error)

    def _open_core(self) -> binding.Core:
        if self._core is None:
            raise Closed("The engine has been closed: open a new one.")
        return self._core
