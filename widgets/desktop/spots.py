"""What people on a desktop tell each other of themselves: pointer, selection, what they look at.

It travels as the `spot` of presence. What others say may be anything; what cannot be read is passed
over.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from liveobj.documents.observing import Plain
from liveobj.objects.desktop_items import COORDINATE_MAX, IDENTITY_BYTES, Frame

# As many as fit: a spot has 512 bytes.
SELECTED_MAX = 32
_CANVAS = "desktop"


@dataclass(frozen=True, slots=True)
class Spot:
    """One person on a desktop. `pointer` is where the mouse is, `seen` the part of the plane in the
    window, `selected` the items chosen (the first ones of many), `inside` the item that is worked
    in, `dragged_to` where the first selected item is while all are being dragged, `resized_to` how
    large it is while its edges are being pulled."""

    pointer: tuple[float, float] | None = None
    seen: Frame | None = None
    selected: tuple[str, ...] = ()
    inside: str | None = None
    dragged_to: tuple[float, float] | None = None
    resized_to: tuple[float, float] | None = None

    def write(self) -> Plain:
        said: dict[str, Plain] = {"canvas": _CANVAS}
        if self.pointer is not None:
            said["at"] = [*self.pointer]
        if self.seen is not None:
            said["seen"] = [self.seen.x, self.seen.y, self.seen.width, self.seen.height]
        if self.selected:
            said["selected"] = _pack(self.selected[:SELECTED_MAX])
        if self.inside is not None:
            said["inside"] = _pack([self.inside])
        if self.dragged_to is not None:
            said["dragged"] = [*self.dragged_to]
        if self.resized_to is not None:
            said["resized"] = [*self.resized_to]
        return said


def read_spot(value: Plain) -> Spot | None:
    """What somebody says; None if it is not about a desktop."""
    if not isinstance(value, dict) or value.get("canvas") != _CANVAS:
        return None
    inside = _unpack(value.get("inside"))
    pointer, seen = _numbers(value.get("at"), 2), _numbers(value.get("seen"), 4)
    dragged, size = _numbers(value.get("dragged"), 2), _numbers(value.get("resized"), 2)
    return Spot(
        None if pointer is None else (pointer[0], pointer[1]),
        None if seen is None or min(seen[2:]) <= 0 else Frame(*seen),
        _unpack(value.get("selected")),
        inside[0] if inside else None,
        None if dragged is None else (dragged[0], dragged[1]),
        None if size is None or min(size) <= 0 else (size[0], size[1]),
    )


def _pack(identities: Iterable[str]) -> bytes:
    return b"".join(bytes.fromhex(identity) for identity in identities)


def _unpack(value: Plain) -> tuple[str, ...]:
    if not isinstance(value, bytes) or len(value) > SELECTED_MAX * IDENTITY_BYTES:
        return ()
    starts = range(0, len(value) - IDENTITY_BYTES + 1, IDENTITY_BYTES)
    return tuple(value[start : start + IDENTITY_BYTES].hex() for start in starts)


def _numbers(value: Plain, count: int) -> list[float] | None:
    if not isinstance(value, list) or len(value) != count:
        return None
    numbers: list[float] = []
    for part in value:
        if isinstance(part, bool) or not isinstance(part, int | float):
            return None
        if not math.isfinite(part) or abs(part) > 4 * COORDINATE_MAX / 0.02:
            return None
        numbers.append(float(part))
    return numbers
