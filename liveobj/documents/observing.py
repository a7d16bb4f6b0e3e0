"""Owns what containers have in common: their document, their observers, and the notes to these.

A note is taken down while the library works, where an exception would be a panic and where the
state before a change is still known; it is carried out when the library has finished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, TypeVar

import loro

from liveobj.documents.errors import DocumentError, loro_errors
from liveobj.observers import Observers, Subscription

if TYPE_CHECKING:
    from liveobj.documents.document import Document

Delivery = Callable[[], None]
Event = TypeVar("Event")

# What maps, lists and counters hold: what can be said in JSON, and bytes.
Plain = str | int | float | bool | bytes | None | list["Plain"] | dict[str, "Plain"]


class Container(Generic[Event]):
    """A part of a document that can be edited and observed."""

    def __init__(self, document: Document, identity: loro.ContainerID) -> None:
        self.document = document
        self._identity = identity
        self._observers: Observers[Event] = Observers()

    def observe(self, callback: Callable[[Event], None]) -> Subscription:
        """Calls back after every change of this container, outside of any transaction."""
        return self._observers.observe(callback)

    def holds(self, identity: loro.ContainerID) -> bool:
        """Whether this is the container of that identity: kinds of lists can share a name."""
        return self._identity == identity

    def _note(self, event: Event) -> Delivery:
        return lambda: self._observers.notify(event)

    @contextmanager
    def _editing(self, error: type[DocumentError], doing: str) -> Iterator[None]:
        """A transaction, or a part of the one that is open, with the library's errors made ours."""
        with self.document.transaction(), loro_errors(error, doing):
            yield
