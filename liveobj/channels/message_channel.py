"""Owns a channel of messages over a group: FIFO from each sender, of any length, to all in the
view.

Unlike documents, messages cannot merge, so they wait in a queue; it is bounded, and who sends
faster than the network is told. A channel of the `newest` kind keeps one message instead and
replaces it.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence

from liveobj.channels.fragments import Assembler, Cutter
from liveobj.channels.messages import BadMessage, Fragment, Payload, decode, encode
from liveobj.errors import Problem
from transport.interfaces import Delivery, Group, View
from transport.sentences import worded

log = logging.getLogger(__name__)

QUEUED_BYTES_MAX = 16 * 1024 * 1024

OnMessage = Callable[[int, bytes], None]
OnView = Callable[[View], None]


class ChannelFull(Problem):
    """More was sent than the network can take; it was not queued."""


class MessageChannel:
    """Delivers to `on_message` what anybody in the view has sent, one's own messages included."""

    def __init__(
        self,
        group: Group,
        on_message: OnMessage,
        on_view: OnView | None = None,
        *,
        newest: bool = False,
    ) -> None:
        self._group = group
        self._on_message = on_message
        self._on_view = on_view
        self._newest = newest
        self._queue: deque[bytes] = deque()
        self._queued_bytes = 0
        self._outgoing: Cutter | None = None
        self._assembler = Assembler()
        self.dropped = 0
        self.closed = False

    def start(self) -> None:
        """Begins to call back: with the view, if there is one already. Apart from making the
        channel, so that whoever is called back has it."""
        self._group.on_deliveries = self._take_deliveries
        self._group.on_view = self._take_view
        if self._group.view is not None:
            self._take_view(self._group.view)

    @property
    def me(self) -> int:
        return self._group.me

    @property
    def view(self) -> View | None:
        return self._group.view

    def send(self, message: bytes) -> None:
        """Queues a message; raises ChannelFull, and queues nothing, when there are too many."""
        if self._newest:
            self._queue.clear()
            self._queued_bytes = 0
        if self._queued_bytes + len(message) > QUEUED_BYTES_MAX:
            raise ChannelFull(
                worded("More is sent than the network can take; try again a little later.")
            )
        self._queue.append(message)
        self._queued_bytes += len(message)
        self._group.offer(self)

    def pull(self, bytes_max: int) -> bytes | None:
        """The next message or piece (see `transport.interfaces.Feed`)."""
        if self._outgoing is None:
            if not self._queue:
                return None
            message = self._queue.popleft()
            self._queued_bytes -= len(message)
            self._outgoing = Cutter(encode(Payload(message)))
        piece = self._outgoing.next_piece(bytes_max)
        if piece is None:
            self._group.offer(self)
            return None
        if self._outgoing.finished:
            self._outgoing = None
        return piece

    def _take_view(self, view: View) -> None:
        self._assembler.keep_only({member.node for member in view.members})
        if self._on_view is not None:
            self._on_view(view)

    def _take_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        for delivery in deliveries:
            if self.closed:
                return  # by one of the messages before
            try:
                message = decode(bytes(delivery.data))
                if isinstance(message, Fragment):
                    whole = self._assembler.add(delivery.sender, message)
                    if whole is None:
                        continue
                    message = decode(whole)
                if not isinstance(message, Payload):
                    raise BadMessage("a message that has no place here")
                self._on_message(delivery.sender, message.data)
            except BadMessage as problem:
                self.dropped += 1
                log.debug("dropped a message of %x: %s", delivery.sender, problem)
            except Exception:
                # Ours, then, and no reason to take the engine's turn down with us.
                self.dropped += 1
                log.exception("a message of %x could not be handled", delivery.sender)

    def close(self) -> None:
        """Leaves the group. Harmless when done twice."""
        if not self.closed:
            self.closed = True
            self._group.on_deliveries = None
            self._group.on_view = None
            self._group.leave()
