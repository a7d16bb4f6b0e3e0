"""Finds the items in a part of the plane without looking at all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator

from liveobj.objects.desktop_items import Frame

_CELL = 1024.0
# A part of the plane with more cells than this is searched by looking at every item instead.
_CELLS_MAX = 4096

Cell = tuple[int, int]


class ItemIndex:
    """Frames by identity, sorted into square cells."""

    def __init__(self) -> None:
        self._frames: dict[str, Frame] = {}
        self._cells: dict[Cell, set[str]] = {}

    def __len__(self) -> int:
        return len(self._frames)

    def put(self, identity: str, frame: Frame) -> None:
        """Adds an item, or moves it."""
        if self._frames.get(identity) == frame:
            return
        self.remove(identity)
        self._frames[identity] = frame
        for cell in _cells(frame):
            self._cells.setdefault(cell, set()).add(identity)

    def remove(self, identity: str) -> None:
        """Harmless for one that is not there."""
        frame = self._frames.pop(identity, None)
        if frame is None:
            return
        for cell in _cells(frame):
            held = self._cells[cell]
            held.discard(identity)
            if not held:
                del self._cells[cell]

    def meeting(self, frame: Frame) -> set[str]:
        """The items that have something in common with a frame."""
        columns = math.ceil(frame.width / _CELL) + 1
        rows = math.ceil(frame.height / _CELL) + 1
        if columns * rows > min(_CELLS_MAX, len(self._cells)):
            return {found for found, held in self._frames.items() if held.meets(frame)}
        candidates: set[str] = set()
        for cell in _cells(frame):
            candidates |= self._cells.get(cell, set())
        return {found for found in candidates if self._frames[found].meets(frame)}


def _cells(frame: Frame) -> Iterator[Cell]:
    for column in range(math.floor(frame.x / _CELL), math.floor(frame.right / _CELL) + 1):
        for row in range(math.floor(frame.y / _CELL), math.floor(frame.bottom / _CELL) + 1):
            yield column, row
