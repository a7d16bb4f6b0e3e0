"""Owns the live objects that need one order for all: the totally ordered channel, and the lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import msgpack

from liveobj.channels.messages import BadMessage
from liveobj.channels.order_binding import JournalLock, machine_id, place_before_opening
from liveobj.channels.order_journal import OrderJournal
from liveobj.channels.total_order import Callbacks, OrderPhase, TotalOrder
from liveobj.declare import endpoint_type, incoming, live_object, outgoing
from liveobj.objects.group_objects import new_group_object
from liveobj.references import Parameterized, Secrets, group_id_of
from liveobj.references.errors import NotAReference
from liveobj.runtime.context import Context
from liveobj.storage import ObjectStore
from transport.interfaces import GROUP_KEY_BYTES
from transport.sentences import worded

CHANNEL_ID = "live-objects:ordered-channel"
LOCK_ID = "live-objects:lock"
# Held by the one file of an object from which its order may begin (see `for_others`).
FOUNDER = "founder"


def new_ordered(
    template_id: str, title: str, random_bytes: Callable[[int], bytes]
) -> Parameterized:
    """The reference of a new object, for whoever makes it: only they begin its order."""
    reference = new_group_object(template_id, title, random_bytes)
    keys = {**reference.secrets.keys, FOUNDER: random_bytes(16)}
    return replace(reference, secrets=Secrets(keys))


def for_others(reference: Parameterized) -> Parameterized:
    """The form to give away. Its holders take part in everything, but do not begin an order when
    they meet nobody: there might be one already, which they do not see."""
    return replace(reference, secrets=reference.secrets.without(FOUNDER))


class OrderedProxy:
    """Base of live objects with a total order."""

    context: Context

    _order: TotalOrder
    _lock: JournalLock

    def __init__(self, title: str, nonce: bytes) -> None:
        """Both are there to describe the object: who it is follows from them."""

    def on_start(self) -> None:
        keys = self.context.reference.secrets.keys
        key = keys.get("group")
        if key is None or len(key) != GROUP_KEY_BYTES:
            raise NotAReference(
                worded("The key of this object's group is missing; ask for the file again.")
            )
        host = self.context.host
        journal = self._open_journal()
        callbacks = Callbacks(
            self.ordered_message,
            self.ordered_members,
            self.make_checkpoint,
            self.load_checkpoint,
            self.order_disowned,
        )
        group = host.network.join(group_id_of(self.context.fingerprint), key)
        founder = FOUNDER in keys and journal is not None
        self._order = TotalOrder(
            group, host.new_peer_id(), callbacks, founder=founder, journal=journal
        )
        self._order.observe(self.order_phase)
        self._order.start()

    def _open_journal(self) -> OrderJournal | None:
        """None where another program of this person votes with it: then this one is a member of its
        own, as long as it runs."""
        host = self.context.host
        path = host.folder / f"{self.context.fingerprint}.db"
        self._lock = JournalLock(path)
        if not self._lock.held:
            return None
        place = place_before_opening(path)
        store = ObjectStore(path)
        place = place.opened(path, machine_id())
        journal = OrderJournal(store, host.scheduler, place, host.wall_time)
        journal.on_problem = self.context.notice
        return journal

    def on_stop(self) -> None:
        self._order.close()
        self._lock.close()

    def order_disowned(self) -> None:
        """This member goes on as a new one."""
        self.context.notice(
            worded(
                "This copy of the object was restored from a backup, or is used on another "
                "computer too. It takes part as a new member, as soon as most of the others are "
                "here."
            )
        )

    def ordered_message(self, origin: int, message: bytes) -> None:
        """The next message of the order."""

    def ordered_members(self, members: Sequence[int]) -> None:
        """Those who take part from here on in the order."""

    def order_phase(self, phase: OrderPhase) -> None:
        """Ordering has begun, or stopped."""

    def make_checkpoint(self) -> bytes:
        return b""

    def load_checkpoint(self, checkpoint: bytes) -> None:
        """Takes the place of everything delivered so far."""


@endpoint_type(
    "live-objects:ordered-channel-endpoint",
    provides="ordered channel",
    requires="connect precedes send",
)
class OrderedChannelEndpoint:
    """A channel on which everybody receives the same messages in the same order."""

    @incoming
    def send(self, message: bytes) -> None:
        """Sends; while there is no majority, the message waits."""

    @outgoing
    def receive(self, sender: int, message: bytes) -> None:
        """The next message; `sender` is the identity of a member's copy of the object."""

    @outgoing
    def ordering(self, possible: bool) -> None:
        """Whether a majority is here, so that messages are delivered; told when connected."""


@live_object(CHANNEL_ID, title="Ordered channel")
class OrderedChannel(OrderedProxy):
    """One order of messages for all; it needs a majority of those who took part last."""

    channel: OrderedChannelEndpoint

    def on_channel_send(self, message: bytes) -> None:
        self._order.send(bytes(message))

    def on_channel_connected(self) -> None:
        self.order_phase(self._order.phase)

    def order_phase(self, phase: OrderPhase) -> None:
        if phase is not OrderPhase.GATHERING:
            self.channel.ordering(phase is OrderPhase.RUNNING)

    def ordered_message(self, origin: int, message: bytes) -> None:
        self.channel.receive(origin, message)


@endpoint_type(
    "live-objects:lock-endpoint",
    provides="cardinality: at most one holder; delivery: atomic",
    requires="order: acquire precedes release",
)
class LockEndpoint:
    """A lock. Who was cut off may learn late that it lost the lock; so a grant has a `token`, which
    only grows, and whatever the lock protects should refuse a token below the highest it has
    seen."""

    @incoming
    def acquire(self) -> None:
        """Asks for the lock; answered by `granted` when it is one's turn."""

    @incoming
    def release(self) -> None:
        """Gives it back, or stops waiting for it."""

    @outgoing
    def granted(self, token: int) -> None:
        """It is ours."""

    @outgoing
    def lost(self) -> None:
        """It is not ours any more, because we are cut off or were given up."""

    @outgoing
    def holder(self, identity: int | None, waiting: int) -> None:
        """Who holds it now, and how many wait."""


@live_object(LOCK_ID, title="Lock")
class Lock(OrderedProxy):
    """Held by one at a time; given on when its holder leaves or crashes."""

    lock: LockEndpoint

    _queue: list[int]  # the first holds it
    _token = 0
    _claimed = 0  # the token of the last grant to us, so that none is told twice
    _mine = False

    def on_start(self) -> None:
        self._queue = []
        super().on_start()
        if self._order.identity in self._queue:
            # It was held, or waited for, by the program that ran here before.
            self._claimed = self._token
            self._order.send(b"release")

    def on_lock_acquire(self) -> None:
        self._order.send(b"acquire")

    def on_lock_release(self) -> None:
        self._mine = False
        self._order.send(b"release")

    def on_lock_connected(self) -> None:
        self._tell()

    def ordered_message(self, origin: int, message: bytes) -> None:
        """The same on every replica: the state follows from the order alone."""
        before = self._queue[:1]
        if message == b"acquire" and origin not in self._queue:
            self._queue.append(origin)
        elif message == b"release" and origin in self._queue:
            self._queue.remove(origin)
        self._pass_on(before)

    def ordered_members(self, members: Sequence[int]) -> None:
        before = self._queue[:1]
        self._queue = [identity for identity in self._queue if identity in members]
        self._pass_on(before)

    def _pass_on(self, before: list[int]) -> None:
        if self._queue[:1] != before and self._queue:
            self._token += 1
        self._claim()
        self._tell()

    def order_phase(self, phase: OrderPhase) -> None:
        if phase is OrderPhase.WAITING:
            self._give_up()
        elif phase is OrderPhase.RUNNING:
            self._claim()

    def _claim(self) -> None:
        mine = self._queue[:1] == [self._order.identity]
        running = self._order.phase is OrderPhase.RUNNING
        if mine and running and self._claimed < self._token:
            self._mine = True
            self._claimed = self._token
            self.lock.granted(self._token)
        elif not mine:
            self._give_up()

    def _give_up(self) -> None:
        if self._mine:
            self._mine = False
            self.lock.lost()

    def _tell(self) -> None:
        self.lock.holder(self._queue[0] if self._queue else None, max(0, len(self._queue) - 1))

    def make_checkpoint(self) -> bytes:
        packed: bytes = msgpack.packb([self._token, self._queue])
        return packed

    def load_checkpoint(self, checkpoint: bytes) -> None:
        match msgpack.unpackb(checkpoint) if checkpoint else [0, []]:
            case [int(token), [*queue]] if all(isinstance(item, int) for item in queue):
                self._token = token
                self._queue = [item for item in queue if isinstance(item, int)]
            case _:
                raise BadMessage("a checkpoint that is none of a lock's")
        self._claim()
        self._tell()
