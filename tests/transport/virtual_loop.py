"""A `Watcher` on a virtual clock, for tests of the loop join: nothing waits, everything is
counted."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable


class Handle:
    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def close(self) -> None:
        self.callback = None


class VirtualLoop:
    """Readers are level-triggered, as those of every real loop: they are called again and again
    while `readable` names their descriptor. One round: readers first, then what is due."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.readable: set[int] = set()
        self.readers: dict[int, Handle] = {}
        self._order = itertools.count()
        self._heap: list[tuple[float, int, Handle]] = []

    def clock(self) -> float:
        return self.now_s

    def watch_readable(self, descriptor: int, callback: Callable[[], None]) -> Handle:
        assert not self.watched(descriptor)
        self.readers[descriptor] = Handle(callback)
        return self.readers[descriptor]

    def watched(self, descriptor: int) -> bool:
        return descriptor in self.readers and self.readers[descriptor].callback is not None

    def call_at(self, deadline_s: float, callback: Callable[[], None]) -> Handle:
        handle = Handle(callback)
        heapq.heappush(self._heap, (deadline_s, next(self._order), handle))
        return handle

    @property
    def appointments(self) -> list[float]:
        return sorted(at for at, _, handle in self._heap if handle.callback is not None)

    @property
    def next_s(self) -> float:
        return self.appointments[0] if self.appointments else math.inf

    def round(self) -> bool:
        """One turn of the loop; whether anything was called."""
        due = [reader for descriptor, reader in self.readers.items() if descriptor in self.readable]
        while self._heap and self._heap[0][0] <= self.now_s:
            due.append(heapq.heappop(self._heap)[2])
        called = False
        for handle in due:
            if handle.callback is not None:
                called = True
                handle.callback()
        return called

    def run_until(self, until_s: float) -> None:
        while True:
            if self.round():
                continue
            if self.next_s > until_s:
                self.now_s = max(self.now_s, until_s)
                return
            self.now_s = max(self.now_s, self.next_s)
