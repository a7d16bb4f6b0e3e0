"""Owns this node's membership of one group: what it offers and sends, and who hears its events.

The engine's thread is the event loop's; everything here runs in it. A group costs one small object
in Python: what few groups use (feeds, readers, waiters) is made when it is first used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from transport import binding
from transport.errors import (
    BackPressure,
    BadArgument,
    CallbackFailed,
    Closed,
    Overrun,
    TransportError,
    WrongMoment,
    error_for,
)
from transport.group_keys import GroupKeys
from transport.interfaces import DeliveriesCallback, Delivery, Feed, View, ViewCallback
from transport.offer import Offer, short
from transport.queues import BoundedQueue
from transport.tally import Tally

if TYPE_CHECKING:
    from transport.node import Node

T = TypeVar("T")

ErrorCallback = Callable[[TransportError], None]

READER_MESSAGES_MAX = 1024
READER_VIEWS_MAX = 16

# Of feeds: 0 goes before 1, 1 before 2.
PRIORITIES = 3
PRIORITY_USUAL = 1


@dataclass(slots=True)
class _Extras:
    """What most groups never need."""

    deliveries: list[BoundedQueue[Delivery]] = field(default_factory=list)
    views: list[BoundedQueue[View]] = field(default_factory=list)
    waiters: list[asyncio.Future[None]] = field(default_factory=list)


class Group:
    """Membership of one group; see `transport.interfaces.Group` for the contract."""

    __slots__ = (
        "_extras",
        "_full",
        "_node",
        "_offer",
        "_on_deliveries",
        "_on_received",
        "_on_view",
        "_view",
        "group_id",
        "handle",
        "keys",
        "number",
        "on_error",
        "open_batch",
        "tally",
    )

    def __init__(self, node: Node, group_id: bytes, number: int, keys: GroupKeys) -> None:
        self.group_id = group_id
        self.keys = keys
        # Called with every contained error of this group, after it has been logged.
        self.on_error: ErrorCallback | None = None
        # Of the node, which dispatches: the C handle, the number and the batch being collected.
        self.handle: binding.CData = None
        self.number = number
        self.open_batch: object | None = None
        # What it has cost so far.
        self.tally = Tally()
        self._node = node
        self._view: View | None = None
        self._on_deliveries: DeliveriesCallback | None = None
        self._on_view: ViewCallback | None = None
        self._on_received: Callable[[], None] | None = None
        self._offer: Offer | None = None
        self._extras: _Extras | None = None
        self._full = False

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"view {self._view.number if self._view else None}"
        return f"<Group {self.group_id.hex()} {state}>"

    @property
    def node_of_group(self) -> Node:
        return self._node

    @property
    def closed(self) -> bool:
        return self.handle is None

    @property
    def view(self) -> View | None:
        return self._view

    @property
    def me(self) -> int:
        return self._node.node

    @property
    def unacknowledged(self) -> int:
        """Messages sent or pulled that some member of their view may still lack."""
        return 0 if self.handle is None else binding.unacknowledged(self.handle)

    @property
    def on_deliveries(self) -> DeliveriesCallback | None:
        return self._on_deliveries

    @on_deliveries.setter
    def on_deliveries(self, callback: DeliveriesCallback | None) -> None:
        self._on_deliveries = callback

    @property
    def on_view(self) -> ViewCallback | None:
        return self._on_view

    @on_view.setter
    def on_view(self, callback: ViewCallback | None) -> None:
        self._on_view = callback

    # Sending

    def offer(self, feed: Feed, priority: int = PRIORITY_USUAL) -> None:
        """Registers the intent to send; the feed is asked when the engine can send.

        A group counts as urgent as its most urgent feed; feeds of one priority take turns.
        """
        self._check_open()
        if not 0 <= priority < PRIORITIES:
            raise BadArgument(f"The priority is {priority}: it must be 0, 1 or 2.")
        if self._offer is None:
            self._offer = Offer(self)
        self._offer.add(feed, priority)

    def withdraw(self, feed: Feed) -> None:
        """The feed is not asked any more, until it is offered again."""
        if self._offer is not None:
            self._offer.withdraw(feed)

    def send(self, data: bytes | bytearray | memoryview) -> None:
        """Queues a copy of one message; raises BackPressure when the queue is full."""
        handle = self.handle
        if handle is None or self._node.pulling:
            self._check_open()
            raise WrongMoment(
                "A feed that is being asked cannot send: let it return the message.",
                group=self.group_id,
            )
        result = binding.send(handle, data)
        if result < 0:
            self._full |= result == -3
            raise error_for(result, group=self.group_id, bytes=len(data))
        self._node.wake()

    async def send_soon(self, data: bytes | bytearray | memoryview) -> None:
        """Sends, after waiting for room where there is none."""
        while True:
            try:
                self.send(data)
            except BackPressure:
                await self.drain()
            else:
                return

    async def drain(self) -> None:
        """Waits until `send` has room; returns at once when it has."""
        while self._full:
            self._check_open()
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            waiters = self._extra().waiters
            waiters.append(waiter)
            try:
                await waiter
            finally:
                if waiter in waiters:
                    waiters.remove(waiter)

    def when_received(self, callback: Callable[[], None]) -> None:
        """Calls back once, when all others have received what was sent or pulled before; see
        `transport.interfaces.Group`."""
        if self.handle is not None:
            self._on_received = callback
            self._node.when_possible(self._watch)

    def _watch(self) -> None:
        if self.handle is not None:
            binding.watch_group(self.handle)
            self._node.wake()

    # Reading

    def deliveries(self, messages_max: int = READER_MESSAGES_MAX) -> BoundedQueue[Delivery]:
        """An asynchronous iterator over deliveries from now on.

        Their data is copied, so it is valid for as long as it is held. A reader that falls more
        than `messages_max` behind gets `Overrun`.
        """
        self._check_open()
        readers = self._extra().deliveries
        overrun = partial(
            Overrun,
            f"A reader fell {messages_max} messages behind: read faster, or allow more.",
            group=self.group_id,
        )
        reader = BoundedQueue[Delivery](messages_max, overrun, readers.remove)
        readers.append(reader)
        return reader

    def views(self) -> BoundedQueue[View]:
        """An asynchronous iterator over views, the current one first; a slow reader skips old
        ones."""
        self._check_open()
        readers = self._extra().views
        reader = BoundedQueue[View](READER_VIEWS_MAX, None, readers.remove)
        readers.append(reader)
        if self._view is not None:
            reader.put(self._view)
        return reader

    async def joined(self) -> View:
        """The current view, after waiting for the first one."""
        if self._view is not None:
            return self._view
        async with self.views() as views:
            async for view in views:
                return view
        raise Closed("The group was left before it had a view: join it again.", group=self.group_id)

    # Ending

    def leave(self) -> None:
        """Leaves the group; no callback runs after it. Calling it twice is harmless."""
        if self.handle is not None:
            self._node.leave(self)

    def begin_again(self, handle: binding.CData) -> None:
        """Of the node: the group is joined anew, and the next view has this node's new id. Feeds
        are asked there; what was sent and not acknowledged may be lost, as when others put this
        node out."""
        self.handle = handle
        self.keys = GroupKeys(self.keys.own)
        self.open_batch = None
        self._on_received = None
        self.take_writable()
        if self._offer is not None:
            self._offer.begin_again()

    def end(self, error: Exception | None) -> None:
        """Of the node: the group is gone; tells whoever waits for it."""
        self.handle = None
        self._on_deliveries = None
        self._on_view = None
        self._on_received = None
        if self._offer is not None:
            self._offer.close()
            self._offer = None
        extras, self._extras = self._extras, None
        if extras is None:
            return
        for reader in tuple(extras.deliveries):
            reader.finish(error)
        for watcher in tuple(extras.views):
            watcher.finish(error)
        for waiter in extras.waiters:
            if not waiter.done():
                waiter.set_exception(self._closed_error())

    # Of the node, which dispatches the engine's events

    @property
    def listening(self) -> bool:
        """Whether anybody wants deliveries now."""
        return self._on_deliveries is not None or (
            self._extras is not None and bool(self._extras.deliveries)
        )

    def take_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        if self._on_deliveries is not None:
            self._call(self._on_deliveries, deliveries)
        if self._extras is not None and self._extras.deliveries:
            copies = [Delivery(sender, memoryview(bytes(data))) for sender, data in deliveries]
            for reader in tuple(self._extras.deliveries):
                for delivery in copies:
                    reader.put(delivery)

    def take_view(self, view: View) -> None:
        self._view = view
        if self._on_view is not None:
            self._call(self._on_view, view)
        if self._extras is not None:
            for reader in tuple(self._extras.views):
                reader.put(view)

    def take_received(self) -> None:
        callback, self._on_received = self._on_received, None
        if callback is not None:
            self._call(lambda _: callback(), None)

    def take_writable(self) -> None:
        self._full = False
        if self._extras is not None:
            for waiter in self._extras.waiters:
                if not waiter.done():
                    waiter.set_result(None)

    # Of its keys, see `transport.group_keys`

    def add_key(self, epoch: int, key: bytes) -> None:
        binding.add_key(self.handle, epoch, key)

    def use_key(self, epoch: int) -> None:
        binding.use_key(self.handle, epoch)

    def drop_key(self, epoch: int) -> None:
        binding.drop_key(self.handle, epoch)

    def report(self, error: TransportError, cause: BaseException | None = None) -> None:
        """Logs a contained error and tells whoever wants to know."""
        self._node.report(error, cause, self.on_error)

    def _call(self, callback: Callable[[T], None], argument: T) -> None:
        try:
            callback(argument)
        except Exception as problem:
            self.report(
                CallbackFailed(
                    f"A callback of a group failed: {short(problem)}.",
                    group=self.group_id,
                    callback=getattr(callback, "__qualname__", type(callback).__qualname__),
                ),
                problem,
            )

    def _extra(self) -> _Extras:
        if self._extras is None:
            self._extras = _Extras()
        return self._extras

    def _closed_error(self) -> Closed:
        return Closed(
            "The group has been left or its engine closed: join again.", group=self.group_id
        )

    def _check_open(self) -> None:
        if self.handle is None:
            raise self._closed_error()
