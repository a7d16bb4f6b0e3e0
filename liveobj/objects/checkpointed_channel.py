"""Owns the checkpointed channel: ordered messages, and for one who comes late a checkpoint and the
rest.

The object that uses the channel gives it a checkpoint from time to time, and says how many messages
it contains; the channel keeps that and the messages since. So one who comes late needs to wait for
nobody: it gets the checkpoint, then the messages since, in step with everybody else.
"""

from __future__ import annotations

import msgpack

from liveobj.channels.messages import BadMessage
from liveobj.channels.total_order import OrderPhase
from liveobj.declare import endpoint_type, incoming, live_object, outgoing
from liveobj.objects.ordered_objects import OrderedProxy

CHANNEL_ID = "live-objects:checkpointed-channel"


@endpoint_type(
    "live-objects:checkpointed-channel-endpoint",
    provides="delivery: atomic, fifo, checkpointed",
    requires="connect precedes send, connect precedes checkpoint",
)
class CheckpointedChannelEndpoint:
    """An ordered channel that one can join late."""

    @incoming
    def send(self, message: bytes) -> None:
        """Sends; while there is no majority, the message waits."""

    @incoming
    def checkpoint(self, state: bytes, count: int) -> None:
        """All that follows from the first `count` messages; the channel may forget these."""

    @outgoing
    def receive(self, number: int, sender: int, message: bytes) -> None:
        """Message `number`, counted from 1."""

    @outgoing
    def restore(self, state: bytes, count: int) -> None:
        """Takes the place of the first `count` messages; comes before what follows them."""

    @outgoing
    def ordering(self, possible: bool) -> None:
        """Whether a majority is here."""


@live_object(CHANNEL_ID, title="Checkpointed channel")
class CheckpointedChannel(OrderedProxy):
    """One order of messages, with a checkpoint for those who come late."""

    channel: CheckpointedChannelEndpoint

    _state = b""
    _count = 0  # messages that are in the state
    _since: list[tuple[int, bytes]]  # messages after these

    def on_start(self) -> None:
        self._since = []
        super().on_start()

    def on_channel_connected(self) -> None:
        """Who connects now has missed what came before: it gets what a late one gets."""
        self._tell_all()
        self.order_phase(self._order.phase)

    def on_channel_send(self, message: bytes) -> None:
        self._order.send(bytes(message))

    def on_channel_checkpoint(self, state: bytes, count: int) -> None:
        known = self._count + len(self._since)
        if not self._count <= count <= known:
            self.context.notice(f"A checkpoint of {count} messages came when there were {known}.")
            return
        del self._since[: count - self._count]
        self._state, self._count = bytes(state), count

    def order_phase(self, phase: OrderPhase) -> None:
        if phase is not OrderPhase.GATHERING:
            self.channel.ordering(phase is OrderPhase.RUNNING)

    def ordered_message(self, origin: int, message: bytes) -> None:
        self._since.append((origin, message))
        self.channel.receive(self._count + len(self._since), origin, message)

    def _tell_all(self) -> None:
        if self._count:
            self.channel.restore(self._state, self._count)
        for number, (origin, message) in enumerate(self._since, self._count + 1):
            self.channel.receive(number, origin, message)

    def make_checkpoint(self) -> bytes:
        packed: bytes = msgpack.packb([self._state, self._count, self._since])
        return packed

    def load_checkpoint(self, checkpoint: bytes) -> None:
        match msgpack.unpackb(checkpoint) if checkpoint else [b"", 0, []]:
            case [bytes(state), int(count), [*since]]:
                self._state, self._count = state, count
                self._since = [_message(item) for item in since]
            case _:
                raise BadMessage("a checkpoint that is none of a channel's")
        self._tell_all()


def _message(item: object) -> tuple[int, bytes]:
    match item:
        case [int(origin), bytes(message)]:
            return origin, message
    raise BadMessage("a message in a checkpoint that is none")
