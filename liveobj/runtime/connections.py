"""Owns connections: two matching endpoints joined, until the connection is disposed."""

from __future__ import annotations

from collections.abc import Callable

from liveobj.observers import Observers, Subscription
from liveobj.runtime.endpoints import ExternalEndpoint, InternalEndpoint
from liveobj.runtime.errors import CannotConnect
from liveobj.types import matches


class Connection:
    """Made by `connect`. Disposing it tells both owners by disconnect events."""

    def __init__(self, first: InternalEndpoint, second: InternalEndpoint) -> None:
        self._first = first
        self._second = second
        self._observers: Observers[Connection] = Observers()
        self.disposed = False
        first.joined(self)
        second.joined(self)

    def other(self, endpoint: InternalEndpoint) -> InternalEndpoint:
        return self._second if endpoint is self._first else self._first

    def on_disconnect(self, callback: Callable[[Connection], None]) -> Subscription:
        return self._observers.observe(callback)

    def dispose(self) -> None:
        """Harmless when done twice."""
        if self.disposed:
            return
        self.disposed = True
        self._first.parted()
        self._second.parted()
        self._observers.notify(self)

    close = dispose


def connect(first: ExternalEndpoint, second: ExternalEndpoint) -> Connection:
    """Joins two endpoints whose types match; raises CannotConnect with every reason."""
    verdict = matches(first.type, second.type)
    if not verdict:
        raise CannotConnect(" ".join(verdict.sentences(str(first), str(second))))
    if first == second:
        raise CannotConnect(f"{first} cannot be connected to itself.")
    for endpoint in (first, second):
        if endpoint.connected:
            raise CannotConnect(f"The {endpoint} is connected already.")
    return Connection(first._internal, second._internal)
