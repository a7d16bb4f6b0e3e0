"""What tests of objects need: a clock that is turned by hand, and an in-process network.

The network obeys the contract of transport.interfaces (FIFO from each sender, everybody in the view
gets everything that is sent in it) and nothing more: between senders, the order in which members
see messages is drawn from a seed, so tests meet the orders that a real network may produce.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, TypeVar

from liveobj.host import Host, Person
from liveobj.references import Reference
from transport.interfaces import (
    DeliveriesCallback,
    Delivery,
    Feed,
    Member,
    View,
    ViewCallback,
)
from transport.simulated_streams import StreamHub

Opened = TypeVar("Opened")


@dataclass(order=True)
class Timer:
    when: float
    number: int
    callback: Callable[[], None] = field(compare=False)
    cancelled: bool = field(default=False, compare=False)

    def cancel(self) -> None:
        self.cancelled = True


class Clock:
    """A scheduler on virtual time."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._timers: list[Timer] = []
        self._number = 0

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        self._number += 1
        timer = Timer(self.now + delay, self._number, callback)
        heapq.heappush(self._timers, timer)
        return timer

    def advance(self, seconds: float) -> None:
        end = self.now + seconds
        while self._timers and self._timers[0].when <= end:
            timer = heapq.heappop(self._timers)
            self.now = max(self.now, timer.when)
            if not timer.cancelled:
                timer.callback()
        self.now = end

    @property
    def pending(self) -> int:
        return sum(1 for timer in self._timers if not timer.cancelled)


class LocalGroup:
    """Membership of one node."""

    def __init__(self, network: LocalNetwork, group_id: bytes, node: int) -> None:
        self._network = network
        self.group_id = group_id
        self.me = node
        self.view: View | None = None
        self.on_deliveries: DeliveriesCallback | None = None
        self.on_view: ViewCallback | None = None
        self.feeds: list[Feed] = []
        self.queue: deque[bytes] = deque()
        self.inbox: dict[int, deque[bytes]] = {}
        self.on_received: Callable[[], None] | None = None
        self.left = False

    def offer(self, feed: Feed) -> None:
        if feed not in self.feeds and not self.left:
            self.feeds.append(feed)

    def send(self, data: bytes) -> None:
        self.queue.append(data)

    def when_received(self, callback: Callable[[], None]) -> None:
        self.on_received = callback

    def leave(self) -> None:
        if not self.left:
            self.left = True
            self._network.remove(self)


class LocalNetwork:
    """All nodes in one process. `bytes_max` is the room in a message."""

    def __init__(self, seed: int = 0, bytes_max: int = 1200) -> None:
        self.random = random.Random(seed)
        self.bytes_max = bytes_max
        self.groups: dict[bytes, list[LocalGroup]] = {}
        self.sent_messages = 0
        self.sent_bytes = 0
        self._cuts: dict[int, int] = {}
        self._view_number = 0

    def node(self, node: int) -> LocalNode:
        return LocalNode(self, node)

    # Membership

    def add(self, group: LocalGroup) -> None:
        self.groups.setdefault(group.group_id, []).append(group)
        self._announce(group.group_id)

    def remove(self, group: LocalGroup) -> None:
        self.groups[group.group_id].remove(group)
        self._announce(group.group_id)

    def partition(self, *sides: set[int]) -> None:
        """Nodes of different sides do not see each other until `heal`."""
        self._cuts = {node: index for index, side in enumerate(sides) for node in side}
        for group_id in self.groups:
            self._announce(group_id)

    def heal(self) -> None:
        self._cuts = {}
        for group_id in self.groups:
            self._announce(group_id)

    def _side(self, group: LocalGroup) -> int:
        return self._cuts.get(group.me, -1)

    def _peers(self, group: LocalGroup) -> list[LocalGroup]:
        return [g for g in self.groups[group.group_id] if self._side(g) == self._side(group)]

    def _announce(self, group_id: bytes) -> None:
        self._view_number += 1
        for group in list(self.groups[group_id]):
            members = tuple(Member(peer.me) for peer in self._peers(group))
            if group.view is None or group.view.members != members:
                group.view = View(self._view_number, members)
                if group.on_view is not None:
                    group.on_view(group.view)

    # Messages

    def _transmit(self, group: LocalGroup, data: bytes) -> None:
        assert len(data) <= self.bytes_max, "a feed gave more than there was room for"
        self.sent_messages += 1
        self.sent_bytes += len(data)
        for peer in self._peers(group):
            peer.inbox.setdefault(group.me, deque()).append(data)

    def _pull_one(self, group: LocalGroup) -> bool:
        if group.queue:
            self._transmit(group, group.queue.popleft())
            return True
        while group.feeds:
            feed = group.feeds[0]
            data = feed.pull(self.bytes_max)
            if data is not None:
                self._transmit(group, data)
                return True
            group.feeds.remove(feed)
        return False

    def _deliver_one(self, group: LocalGroup) -> bool:
        senders = sorted(s for s, inbox in group.inbox.items() if inbox)
        if not senders:
            return False
        sender = self.random.choice(senders)
        data = group.inbox[sender].popleft()
        if group.on_deliveries is not None:
            group.on_deliveries([Delivery(sender, memoryview(data))])
        return True

    def step(self) -> bool:
        """One send or one delivery somewhere; False when nothing is left to do."""
        groups = [group for members in self.groups.values() for group in members]
        actions = [(act, g) for g in groups for act in (self._pull_one, self._deliver_one)]
        self.random.shuffle(actions)
        return any(act(group) for act, group in actions) or any(map(self._confirm_one, groups))

    def _confirm_one(self, group: LocalGroup) -> bool:
        """All have taken what the group's node sent."""
        callback, group.on_received = group.on_received, None
        if callback is not None and not group.left:
            callback()
        return callback is not None

    def run(self, steps_max: int = 100_000) -> int:
        """Until nothing is left to do; returns how many steps that took."""
        for step in range(steps_max):
            if not self.step():
                return step
        raise AssertionError(f"the network is still busy after {steps_max} steps")


class LocalNode:
    """One node's view of the network."""

    def __init__(self, network: LocalNetwork, node: int) -> None:
        self._network = network
        self.node = node
        self.keys: dict[bytes, bytes] = {}

    def join(self, group_id: bytes, key: bytes) -> LocalGroup:
        self.keys[group_id] = key
        group = LocalGroup(self._network, group_id, self.node)
        self._network.add(group)
        return group


def make_host(network: LocalNetwork, node: int, folder: Path, clock: Clock, name: str = "") -> Host:
    """A host whose randomness follows from its node's number."""
    return Host(
        network=network.node(node),
        folder=folder / f"node{node}",
        person=Person(name or f"person {node}", "#336699"),
        scheduler=clock,
        random_bytes=random.Random(node).randbytes,
    )


class LocalOffice(Generic[Opened]):
    """People who open one object on a network in this process; `open_object` opens it for one."""

    def __init__(
        self, folder: Path, reference: Reference, open_object: Callable[[Reference, Host], Opened]
    ) -> None:
        self.folder, self.clock, self.network = folder, Clock(), LocalNetwork()
        self.hub = StreamHub(self.clock)
        self._reference = reference
        self._open = open_object

    def open(self, node: int, reference: Reference | None = None) -> Opened:
        host = make_host(self.network, node, self.folder, self.clock)
        return self._open(reference or self._reference, replace(host, streams=self.hub.streams()))

    def settle(self, seconds: float = 0.4) -> None:
        """Until everybody has what was done, with the time that waiting takes."""
        for _ in range(4):
            self.network.run()
            self.clock.advance(seconds / 4)
