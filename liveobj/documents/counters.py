"""Owns a replicated counter: what everybody adds is added, whatever the order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import loro

from liveobj.documents.errors import DocumentError
from liveobj.documents.observing import Container, Delivery

if TYPE_CHECKING:
    from liveobj.documents.document import Document, Origin


@dataclass(frozen=True, slots=True)
class CounterChange:
    """By how much the counter has changed."""

    origin: Origin
    label: str
    by: float


class Counter(Container[CounterChange]):
    """A counter in a document. Made by `Document.counter`."""

    def __init__(self, document: Document, inner: loro.LoroCounter) -> None:
        super().__init__(document, inner.id)
        self._counter = inner

    @property
    def value(self) -> float:
        return self._counter.value

    def add(self, amount: float) -> None:
        with self._editing(DocumentError, f"Cannot add {amount}"):
            self._counter.increment(float(amount))

    def take_down(self, diff: float, origin: Origin, label: str) -> Delivery:
        return self._note(CounterChange(origin, label, diff))
