"""A long text in UTF-16 units that is edited at any place in the same short time."""

from __future__ import annotations

_CHUNK_BYTES = 16_384


class UnitRope:
    """Positions and lengths are in units; what goes in and out is encoded, two bytes each.

    Attributes: `length`."""

    def __init__(self) -> None:
        self._chunks = [bytearray()]
        self.length = 0
        # The chunk of the last edit and where it begins, in bytes: the next is often near.
        self._number = self._start = 0

    def set(self, units: bytes) -> None:
        """Everything anew."""
        size = _CHUNK_BYTES
        self._chunks = [bytearray(units[at : at + size]) for at in range(0, len(units), size)]
        self._chunks = self._chunks or [bytearray()]
        self.length = len(units) // 2
        self._number = self._start = 0

    def read(self, start: int, count: int) -> bytes:
        at, end = 2 * start, 2 * min(start + max(0, count), self.length)
        parts = []
        while at < end:
            offset = self._go_to(at + 1)
            part = self._chunks[self._number][offset - 1 : offset - 1 + end - at]
            parts.append(bytes(part))
            at += len(part)
        return b"".join(parts)

    def all(self) -> bytes:
        return b"".join(self._chunks)

    def find_all(self, unit: bytes) -> list[int]:
        """Where a unit is, every time."""
        found, start = [], 0
        for chunk in self._chunks:
            at = chunk.find(unit)
            while at >= 0:
                if at % 2 == 0:  # else it is the end of one unit and the beginning of the next
                    found.append((start + at) // 2)
                at = chunk.find(unit, at + 1)
            start += len(chunk)
        return found

    def replace(self, start: int, removed: int, units: bytes) -> None:
        """Puts units in the place of others."""
        left = 2 * min(removed, self.length - start)
        self.length += len(units) // 2 - left // 2
        while left:
            offset = self._go_to(2 * start + 1) - 1
            chunk = self._chunks[self._number]
            size = min(left, len(chunk) - offset)
            del chunk[offset : offset + size]
            left -= size
            if not chunk and len(self._chunks) > 1:
                del self._chunks[self._number]
                self._number = self._start = 0
        if units:
            offset = self._go_to(2 * start)
            chunk = self._chunks[self._number]
            chunk[offset:offset] = units
            if len(chunk) > 2 * _CHUNK_BYTES:
                parts = range(0, len(chunk), _CHUNK_BYTES)
                cut = [chunk[at : at + _CHUNK_BYTES] for at in parts]
                self._chunks[self._number : self._number + 1] = cut

    def _go_to(self, place: int) -> int:
        """Finds the chunk in which, or at the end of which, a place in bytes is; where in it."""
        number, start = self._number, self._start
        while place < start or (place == start and number):
            number -= 1
            start -= len(self._chunks[number])
        while place > start + len(self._chunks[number]):
            start += len(self._chunks[number])
            number += 1
        self._number, self._start = number, start
        return place - start
