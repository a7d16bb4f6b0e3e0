"""Owns endpoints: the internal one, through which its owner sends and receives, and the external
one, which others can only connect."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from liveobj.declare.hints import why_not_conforming
from liveobj.declare.wrappers import PlainEvent
from liveobj.types import EndpointType

if TYPE_CHECKING:
    from liveobj.runtime.connections import Connection


class EndpointOwner(Protocol):
    """Whoever created an endpoint: a proxy, or a user of proxies."""

    @property
    def name(self) -> str: ...

    def enqueue(self, task: Callable[[], None]) -> None:
        """Runs `task` in the owner's turn, after what was queued before; an exception is its."""


class InternalEndpoint:
    """One end of a possible connection. Events that are sent while it is not connected are dropped
    and counted, as nobody is there to get them."""

    def __init__(
        self,
        owner: EndpointOwner,
        name: str,
        type_: EndpointType,
        receive: Callable[[str, PlainEvent], None],
        *,
        on_connected: Callable[[], None] | None = None,
        on_disconnected: Callable[[], None] | None = None,
    ) -> None:
        self.owner = owner
        self.name = name
        self.type = type_
        self.connection: Connection | None = None
        self.dropped_events = 0
        self._receive = receive
        self._on_connected = on_connected
        self._on_disconnected = on_disconnected

    def __str__(self) -> str:
        return f"endpoint '{self.name}' of {self.owner.name}"

    @property
    def connected(self) -> bool:
        return self.connection is not None

    @property
    def external(self) -> ExternalEndpoint:
        return ExternalEndpoint(self)

    def send(self, event: str, record: PlainEvent) -> None:
        """Sends an event to the other end. What does not conform to this endpoint's own type is the
        sender's fault and raises here, so that it does not become the receiver's."""
        type_ = self.type.outgoing.get(event)
        if type_ is None:
            raise TypeError(f"'{event}' is no outgoing event of {self}.")
        problem = why_not_conforming(record, type_)
        if problem is not None:
            raise TypeError(f"'{event}' of {self} was sent with something else: {problem}.")
        if self.connection is None:
            self.dropped_events += 1
            return
        self.connection.other(self).deliver(event, record, self.connection)

    def deliver(self, event: str, record: PlainEvent, through: Connection) -> None:
        def receive() -> None:
            # What was on its way through a connection does not arrive after its end.
            if self.connection is through:
                self._receive(event, record)

        self.owner.enqueue(receive)

    def joined(self, connection: Connection) -> None:
        self.connection = connection
        if self._on_connected is not None:
            self.owner.enqueue(self._on_connected)

    def parted(self) -> None:
        self.connection = None
        if self._on_disconnected is not None:
            self.owner.enqueue(self._on_disconnected)


class ExternalEndpoint:
    """What others see of an endpoint: its name and type, and that it can be connected."""

    __slots__ = ("_internal", "type")

    def __init__(self, internal: InternalEndpoint, type_: EndpointType | None = None) -> None:
        self._internal = internal
        self.type = type_ or internal.type

    def __str__(self) -> str:
        return str(self._internal)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, ExternalEndpoint) and other._internal is self._internal

    def __hash__(self) -> int:
        return id(self._internal)

    @property
    def name(self) -> str:
        return self._internal.name

    @property
    def connected(self) -> bool:
        return self._internal.connected

    def seen_as(self, type_: EndpointType) -> ExternalEndpoint:
        """The same endpoint after a cast to a supertype."""
        return ExternalEndpoint(self._internal, type_)
