"""Owns what is logged of an engine: its health and views when they change, its numbers at times.

It looks at an engine from outside and writes to an `EventLog`. Deliveries are not seen here: what
they cost is in the counters and in each group's tally, which are read every ten seconds. An engine
at rest causes one wake-up in that time.
"""

from __future__ import annotations

from collections.abc import Callable

from transport.dispatch import Change
from transport.event_log import EventLog
from transport.event_log_schema import Record
from transport.events import HealthChanged
from transport.group import Group
from transport.loop import Closable
from transport.node import Node

SAMPLE_S = 10.0
FLUSH_S = 1.0
REGIONS_MAX = 256
GROUPS_MAX = 1024
MEMBERS_MAX = 4096

CallAt = Callable[[float, Callable[[], None]], Closable]


class EngineLogger:
    """Logs `node` until closed. `call_at` makes appointments on the monotonic `clock`.

    `person` is a pseudonym of whoever sits there, and empty unless they agreed to it: with one it
    is logged, too, what that person opened, edited and closed.
    """

    def __init__(
        self,
        node: Node,
        events: EventLog,
        call_at: CallAt,
        clock: Callable[[], float],
        sample_s: float = SAMPLE_S,
        person: str = "",
    ) -> None:
        self._node = node
        self._events = events
        self._call_at = call_at
        self._clock = clock
        self._sample_s = sample_s
        self._flush: Closable | None = None
        self._closed = False
        self._person = person
        self._opened: set[Group] = set()
        self._unattended: set[bytes] = set()
        self._own_messages: dict[Group, int] = {}
        # The tallies that were logged last: a group in which nothing happened is not logged again.
        self._told: dict[Group, tuple[int, int, int]] = {}
        node.on_change = self._on_change
        self._sample: Closable = call_at(clock() + sample_s, self._on_sample)

    def close(self) -> None:
        """A last sample, and the end of the segment. Harmless when done twice."""
        if self._closed:
            return
        self._closed = True
        self._node.on_change = None
        self._sample.close()
        if self._flush is not None:
            self._flush.close()
        self._take_sample()
        self._events.close()

    def note(self, name: str, **values: int | float | str | bool) -> None:
        """An event of the application: numbers and fixed words, never content."""
        if not self._closed:
            self._events.record(Record.APPLICATION, self._node.node, name, values)
            self._flush_soon()

    def fetched(self, group_id: bytes) -> None:
        """The program joins this group by itself: nobody has opened it."""
        self._unattended.add(group_id)
        self.note("prefetched", group=group_id.hex())

    def used(self, group_id: bytes) -> None:
        """What was fetched is opened now."""
        self._unattended.discard(group_id)
        self.note("used", group=group_id.hex())
        for group in self._opened:
            if group.group_id == group_id:
                self._tell_activity("opened", group)

    def delivered(self, group: Group, sender: int, size: int, latency_s: float) -> None:
        """A delivery whose time under way is known, since its sender has the same clock."""
        if not self._closed:
            latency_ns = round(latency_s * 1e9)
            self._events.record(
                Record.DELIVERY, self._node.node, group.group_id, sender, size, latency_ns
            )
            self._flush_soon()

    def _on_change(self, change: Change) -> None:
        if isinstance(change, HealthChanged):
            self._events.record(Record.HEALTH, change.node, int(change.health), int(change.reason))
            self._flush_soon()
            return
        group, view = change
        if view is None:
            self._take_tally(group)
            self._told.pop(group, None)
            self._own_messages.pop(group, None)
            self._opened.discard(group)
            self._tell_activity("closed", group)
            self._events.record(Record.LEFT, self._node.node, group.group_id)
        else:
            if group not in self._opened:
                self._opened.add(group)
                self._tell_activity("opened", group)
            members = [member.node for member in view.members[:MEMBERS_MAX]]
            self._events.record(Record.VIEW, self._node.node, group.group_id, view.number, members)
        self._flush_soon()

    def _flush_soon(self) -> None:
        if self._flush is None:
            self._flush = self._call_at(self._clock() + FLUSH_S, self._on_flush)

    def _on_flush(self) -> None:
        self._flush = None
        self._events.flush()

    def _on_sample(self) -> None:
        if not self._closed:
            self._sample = self._call_at(self._clock() + self._sample_s, self._on_sample)
            self._take_sample()
            self._events.flush()

    def _take_sample(self) -> None:
        if self._node.closed:
            return
        node = self._node.node
        values = list(self._node.counters().values())
        self._events.record(Record.COUNTERS, node, int(self._clock() * 1e9), values)
        for group in self._node.groups[:GROUPS_MAX]:
            self._take_tally(group)
        for region in self._node.regions()[:REGIONS_MAX]:
            self._events.record(
                Record.REGION,
                node,
                region.region,
                region.members,
                region.alive,
                region.senders,
                region.ring_levels,
                region.unacknowledged_packets,
                region.rate_bytes_per_s,
                round(region.acknowledgement_s * 1e9),
                round(region.token_round_s * 1e9),
                region.unicast,
            )

    def _tell_activity(self, name: str, group: Group) -> None:
        if self._person and group.group_id not in self._unattended:
            self.note(name, group=group.group_id.hex(), person=self._person)

    def _take_tally(self, group: Group) -> None:
        tally, view = group.tally, group.view
        if tally.own_messages > self._own_messages.get(group, 0):
            self._own_messages[group] = tally.own_messages
            self._tell_activity("edited", group)
        members = len(view.members) if view is not None else 0
        now = (tally.messages, members, group.unacknowledged)
        if self._told.get(group) == now:
            return
        self._told[group] = now
        self._events.record(
            Record.GROUP,
            self._node.node,
            group.group_id,
            members,
            tally.messages,
            tally.bytes,
            tally.own_messages,
            tally.own_bytes,
            group.unacknowledged,
        )
