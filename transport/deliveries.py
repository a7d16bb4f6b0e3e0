"""Owns the deliveries of one call: made into objects when, and if, somebody looks at them.

A receiver that only counts, or looks at the last of many, pays for what it looks at. The memory is
the engine's and goes back to it when the callback has returned; `end` sees to that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any, overload

from transport.binding_events import Columns
from transport.interfaces import Delivery

_new_tuple = tuple.__new__

# Views of memory at these addresses, of these sizes, and whatever is shared while one is held.
Lend = Callable[[Sequence[int], Sequence[int]], tuple[Sequence[Any], list[memoryview]]]


class LentDeliveries(Sequence[Delivery]):
    """Messages of one group, in order; valid until the callback that got them returns."""

    __slots__ = ("_count", "_ended", "_lend", "_parts", "_senders", "loans", "views")

    def __init__(self, lend: Lend) -> None:
        self._lend = lend
        self._parts: list[Columns] = []
        self._count = 0
        self._ended = False
        # Of those that somebody has looked at: who sent each, what was lent for it.
        self._senders: list[int] = []
        self.views: list[memoryview] = []
        # What has been lent so far: the driver looks whether it comes back.
        self.loans: list[Any] = []

    def add(self, part: Columns) -> None:
        self._parts.append(part)
        self._count += part.count

    def borrow(self) -> None:
        """Makes views of all of them; a driver that must not wait calls it at once."""
        if self._ended:
            raise ValueError("deliveries were kept after their callback: copy what is needed later")
        for part in self._parts:
            loans, views = self._lend(part.addresses, part.sizes)
            self.loans.extend(loans)
            self.views.extend(views)
            self._senders += part.senders
        self._parts.clear()

    def end(self) -> None:
        """They have been handed out: whoever still has this object gets nothing more of it."""
        self._parts.clear()
        self._ended = True

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Delivery: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Delivery]: ...
    def __getitem__(self, index: int | slice) -> Delivery | Sequence[Delivery]:
        self.borrow()
        if isinstance(index, slice):
            return list(map(Delivery, self._senders[index], self.views[index]))
        return Delivery(self._senders[index], self.views[index])

    def __iter__(self) -> Iterator[Delivery]:
        self.borrow()
        # As Delivery(sender, view), without a Python call for each; and one after the other, so
        # that the next takes the place in memory of the one before.
        pairs = zip(self._senders, self.views, strict=True)
        return map(_new_tuple, repeat(Delivery), pairs)
