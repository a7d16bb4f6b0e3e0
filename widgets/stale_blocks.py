"""Which paragraphs of a long text are still to be laid out, by their numbers.

Nearly always a few that were edited, and none or all from some number on. Paragraphs that come or
go before others change the numbers of those; nobody walks over the whole text for that.
"""

from __future__ import annotations

# More single paragraphs than these become "all from the first of them on".
FEW_MAX = 256


class StaleBlocks:
    """Attributes: `rest` (every paragraph from this number on may be stale)."""

    def __init__(self) -> None:
        self.rest = 0
        self._few: set[int] = set()
        self._count = 1

    def add(self, number: int, count: int) -> None:
        """A paragraph was edited; `count` is how many there are now. When an edit has brought or
        removed paragraphs, its first one must be added first."""
        if count != self._count:
            self._shift(number, count - self._count)
            self._count = count
        if number < self.rest:
            self._few.add(number)
            if len(self._few) > FEW_MAX:
                self.rest = min(self._few)
                self._few.clear()

    def add_all(self, count: int) -> None:
        self.rest = 0
        self._few.clear()
        self._count = count

    def set_count(self, count: int) -> None:
        """How many there are; if nobody has said where they came or went, all are stale."""
        if count != self._count:
            self.add_all(count)

    def few(self) -> list[int]:
        """The single ones, in order."""
        return sorted(self._few)

    def remove(self, number: int) -> None:
        """A single one was laid out."""
        self._few.discard(number)

    def __bool__(self) -> bool:
        return bool(self._few) or self.rest < self._count

    def _shift(self, first: int, more: int) -> None:
        """After the paragraph `first` there are so many more, or fewer, than before."""
        gone = first - min(0, more)
        self._few = {
            number + (more if number > first else 0)
            for number in self._few
            if not first < number <= gone
        }
        if self.rest > first:
            self.rest = max(first + 1, self.rest + more)
