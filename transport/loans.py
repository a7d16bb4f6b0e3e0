"""Owns what has become of the memory that an engine lent: ended with its callback, or held by
somebody after it.

A view can be ended from outside, a part of one that somebody cut out cannot: whether there is any
is told by counting who holds what the views share.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable
from typing import Any


def _references(loans: Iterable[object]) -> list[int]:
    return list(map(sys.getrefcount, loans))


# What `_references` counts for a buffer that nobody but the list holds.
_UNSHARED = _references([object()])[0]


class Loans:
    """The loans of one engine that were not returned when they ended."""

    def __init__(self) -> None:
        self._kept: list[Any] = []

    def end(self, loans: list[Any], views: list[memoryview]) -> bool:
        """Ends them: a view that was kept raises from now on, and does not read freed memory.
        Whether nobody holds a part of one."""
        exported = 0
        try:
            deque(map(memoryview.release, views), maxlen=0)
        except BufferError:  # Something else was built on one, and holds it.
            for view in views:
                try:
                    view.release()
                except BufferError:
                    exported += 1
        del views[:]
        counts = _references(loans)
        if not exported and sum(counts) == _UNSHARED * len(counts):
            return True
        self._kept += _shared(loans, counts)
        return False

    def returned(self) -> bool:
        """Whether nobody holds anything any more."""
        if self._kept:
            self._kept = _shared(self._kept, _references(self._kept))
        return not self._kept


def _shared(loans: list[Any], counts: list[int]) -> list[Any]:
    return [loan for loan, count in zip(loans, counts, strict=True) if count != _UNSHARED]
