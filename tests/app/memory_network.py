"""A network in memory for tests of the upper layers: groups without sockets, moved by hand."""

from __future__ import annotations

from collections.abc import Callable

from transport.interfaces import (
    DeliveriesCallback,
    Delivery,
    Feed,
    Member,
    View,
    ViewCallback,
)

MESSAGE_BYTES_MAX = 60_000


class MemoryHub:
    """Connects the networks made by it. Nothing moves until `run`, which moves everything."""

    def __init__(self) -> None:
        self._groups: dict[bytes, list[MemoryGroup]] = {}
        self._views = 0
        self._nodes = 0

    def network(self) -> MemoryNetwork:
        self._nodes += 1
        return MemoryNetwork(self, self._nodes)

    def add(self, group: MemoryGroup) -> None:
        self._groups.setdefault(group.group_id, []).append(group)

    def remove(self, group: MemoryGroup) -> None:
        self._groups[group.group_id].remove(group)

    def run(self) -> None:
        while sum(self._move(members) for members in list(self._groups.values())):
            pass

    def _move(self, members: list[MemoryGroup]) -> bool:
        nodes = tuple(Member(group.me) for group in members)
        moved = False
        for group in list(members):
            if group.view is None or group.view.members != nodes:
                self._views += 1
                group.enter(View(self._views, nodes))
                moved = True
        for sender in list(members):
            for data in sender.take():
                moved = True
                for receiver in list(members):
                    receiver.deliver(sender.me, data)
            moved |= sender.confirm()
        return moved


class MemoryNetwork:
    def __init__(self, hub: MemoryHub, node: int) -> None:
        self._hub = hub
        self.node = node

    def join(self, group_id: bytes, key: bytes) -> MemoryGroup:
        group = MemoryGroup(self._hub, group_id, self.node)
        self._hub.add(group)
        return group


class MemoryGroup:
    def __init__(self, hub: MemoryHub, group_id: bytes, me: int) -> None:
        self._hub = hub
        self._left = False
        self._feeds: list[Feed] = []
        self._sent: list[bytes] = []
        self.group_id = group_id
        self.me = me
        self.view: View | None = None
        self.on_deliveries: DeliveriesCallback | None = None
        self.on_view: ViewCallback | None = None
        self.on_error: Callable[[Exception], None] | None = None
        self._on_received: Callable[[], None] | None = None

    def offer(self, feed: Feed) -> None:
        if feed not in self._feeds:
            self._feeds.append(feed)

    def send(self, data: bytes) -> None:
        self._sent.append(data)

    def when_received(self, callback: Callable[[], None]) -> None:
        self._on_received = callback

    def confirm(self) -> bool:
        callback, self._on_received = self._on_received, None
        if callback is not None and not self._left:
            callback()
        return callback is not None

    def leave(self) -> None:
        if not self._left:
            self._left = True
            self._hub.remove(self)

    def enter(self, view: View) -> None:
        self.view = view
        if self.on_view is not None:
            self.on_view(view)

    def take(self) -> list[bytes]:
        messages, self._sent = self._sent, []
        feeds, self._feeds = self._feeds, []
        for feed in feeds:
            while (message := feed.pull(MESSAGE_BYTES_MAX)) is not None:
                messages.append(message)
        return messages

    def deliver(self, sender: int, data: bytes) -> None:
        if self.on_deliveries is not None and not self._left:
            self.on_deliveries([Delivery(sender, memoryview(data))])
