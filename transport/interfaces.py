"""What the layers above see of a network: engines, groups, feeds and the events that groups report.

These are contracts, written before their implementations. `transport.engine` fulfils them on UDP
sockets, `transport.simulation` on nodes of the deterministic simulator. Whoever writes an object
or a test against this page runs on both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

GROUP_ID_BYTES = 16
GROUP_KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Member:
    """One node in a view. `node` is the engine's 64-bit random id, new at every start of the
    program."""

    node: int


@dataclass(frozen=True, slots=True)
class View:
    """A numbered membership of a group; `members` is in order of seniority, this node included."""

    number: int
    members: tuple[Member, ...]


class Delivery(NamedTuple):
    """One message of a group. `data` is lent: it is valid until the callback that got it returns.

    A view that is kept longer raises ValueError when it is used; take `bytes(data)` to keep it. (A
    tuple, since there may be a million of them in a second, and tuples are made fastest.)
    """

    sender: int
    data: memoryview


@runtime_checkable
class Feed(Protocol):
    """What has something to send. Nothing is made before the engine can send it."""

    def pull(self, bytes_max: int) -> bytes | None:
        """The next message of at most `bytes_max` bytes, or None when there is nothing (any more).

        Called by the engine's turn, at the moment when rate, window and socket allow a message, so
        everything that changed meanwhile can go into this one. After None the feed is asked again
        only when it has been offered again; it may offer itself while it is asked. It must return
        soon: it may not send, join, or run an event loop. A feed that raises is withdrawn.
        """


class BatchFeed(Feed, Protocol):
    """A feed that can give several messages at once, for those who have very many."""

    def pull_many(self, count_max: int, bytes_max: int) -> Sequence[bytes]:
        """Asked instead of `pull`: at most `count_max` messages, in order, none: nothing more.

        Those that cannot be sent at once after all are sent as they are when they can.
        """


DeliveriesCallback = Callable[[Sequence[Delivery]], None]
ViewCallback = Callable[[View], None]


class Group(Protocol):
    """Membership of this node in one group: a FIFO, exactly-once, reliable multicast channel.

    A member's own messages are delivered to it as well, in the same stream as everybody else sees.
    Callbacks run inside the engine's turn, in the event loop's thread; they may call any method
    here.
    """

    @property
    def group_id(self) -> bytes: ...

    @property
    def view(self) -> View | None:
        """The current view, or None before the first one that contains this node."""

    @property
    def me(self) -> int:
        """This node's id, as it appears in views and as a sender."""

    @property
    def on_deliveries(self) -> DeliveriesCallback | None: ...
    @on_deliveries.setter
    def on_deliveries(self, callback: DeliveriesCallback | None) -> None:
        """Called with one batch of deliveries per turn, in order. An exception is logged and given
        to the implementation's `on_error` hook; it disturbs neither the engine nor other groups."""

    @property
    def on_view(self) -> ViewCallback | None: ...
    @on_view.setter
    def on_view(self, callback: ViewCallback | None) -> None:
        """Called after the view has changed."""

    def offer(self, feed: Feed) -> None:
        """Registers the intent to send; offering an already offered feed changes nothing."""

    def send(self, data: bytes) -> None:
        """Sends one message later than this call, after those sent before; raises BackPressure when
        the queue of unsent messages is full."""

    def when_received(self, callback: Callable[[], None]) -> None:
        """Calls back once, when every other member of their views who is still there has received
        all messages sent or pulled before this call; soon when nobody else is there. A later call
        replaces an earlier one. Nothing is called when the group has been left, or if this node is
        admitted again under another id: then nobody knows."""

    def leave(self) -> None:
        """Leaves the group; no callback runs after it. Calling it twice is harmless."""


class Network(Protocol):
    """An engine, seen by those who only want groups."""

    @property
    def node(self) -> int: ...

    def join(self, group_id: bytes, key: bytes) -> Group:
        """Joins the group; the first view follows when membership has been agreed."""


@dataclass(frozen=True, slots=True)
class StreamPlace:
    """Where a member can be asked for contents: an address of the network, and a port."""

    address: str
    port: int


class Fetching(Protocol):
    """A content on its way."""

    def cancel(self) -> None:
        """Stops; what has come is kept for the next time. Nothing is called back any more."""


class Streams(Protocol):
    """Contents too large for messages, between members of a group, by the hash of the content
    (`transport.bulk.content_id`). `transport.streams` fulfils it on TCP, and
    `transport.simulated_streams` on any clock."""

    @property
    def place(self) -> StreamPlace | None:
        """Where others can ask this computer; None while they cannot."""

    def offer(self, group_id: bytes, key: bytes, name: bytes, path: Path) -> None:
        """Lets members of a group fetch a file, whose content has that name."""

    def withdraw(self, group_id: bytes, name: bytes | None = None) -> None:
        """Takes back one offer, or all of a group."""

    def fetch(
        self,
        place: StreamPlace,
        group_id: bytes,
        key: bytes,
        name: bytes,
        destination: Path,
        size_max: int,
        progress: Callable[[int, int], None],
        done: Callable[[str], None],
    ) -> Fetching:
        """Fetches a content into a file that appears when it is whole and right. `progress` is
        told how much of how much is there; `done` gets an empty text, or a sentence about what
        went wrong. Neither is called before this returns."""
