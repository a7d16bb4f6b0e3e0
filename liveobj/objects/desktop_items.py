"""Owns what lies on a desktop as plain data: items, their frames, and how both are read from values
that anybody may have written."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from liveobj.documents.observing import Plain

# A desktop has no edges, but numbers do; beyond this, places are of no use to anybody.
COORDINATE_MAX = 10_000_000.0
SIDE_MIN = 48.0
SIDE_MAX = 20_000.0
ORDER_MAX = 2.0**40
GROUP_DEPTH_MAX = 8
TITLE_CHARACTERS_MAX = 200
REFERENCE_BYTES_MAX = 1024 * 1024
IDENTITY_BYTES = 8

_IDENTITY = re.compile(rf"[0-9a-f]{{{2 * IDENTITY_BYTES}}}")
_DEFAULT_SIDES = (280.0, 200.0)


class Field(StrEnum):
    """What is said of an item, each under a name of its own: two people who change different
    fields of one item both get what they wanted."""

    WHAT = "what"
    PLACE = "place"
    SIZE = "size"
    ORDER = "order"
    GROUPS = "groups"
    TITLE = "title"


class Form(StrEnum):
    """How an object lies on a desktop."""

    OBJECT = "object"  # the object itself, live in its frame
    LINK = "link"  # a card that leads to it


@dataclass(frozen=True, slots=True)
class Frame:
    """A rectangle on the desktop, in pixels at a zoom of 100 %; y grows downwards."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    def moved(self, dx: float, dy: float) -> Frame:
        return Frame(self.x + dx, self.y + dy, self.width, self.height)

    def meets(self, other: Frame) -> bool:
        return (
            self.x < other.right
            and other.x < self.right
            and self.y < other.bottom
            and other.y < self.bottom
        )

    def holds(self, x: float, y: float) -> bool:
        return self.x <= x < self.right and self.y <= y < self.bottom

    def grown(self, by: float) -> Frame:
        return Frame(self.x - by, self.y - by, self.width + 2 * by, self.height + 2 * by)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing on a desktop. `order` tells what lies above what, the identity decides between
    equals; `groups` are the groups it is in, outermost first; `title` is a name that was given to
    it here, or empty; `reference` is as it was written and may be of a kind that is not known."""

    identity: str
    form: Form
    reference: bytes
    frame: Frame
    order: float = 0.0
    groups: tuple[str, ...] = ()
    title: str = ""

    @property
    def rank(self) -> tuple[float, str]:
        return (self.order, self.identity)


def around(frames: Iterable[Frame]) -> Frame | None:
    """The smallest frame around all; None for none."""
    every = list(frames)
    if not every:
        return None
    x, y = min(f.x for f in every), min(f.y for f in every)
    return Frame(x, y, max(f.right for f in every) - x, max(f.bottom for f in every) - y)


def key_of(identity: str, field: Field) -> str:
    return f"{identity}/{field}"


def split_key(key: str) -> tuple[str, str] | None:
    """Identity and field; None for a name that no item has."""
    identity, slash, field = key.partition("/")
    if not slash or not _IDENTITY.fullmatch(identity):
        return None
    return identity, field


def read_item(identity: str, fields: Mapping[str, Plain]) -> Item | None:
    """The item that the fields describe; None if it does not say what it is. A field that cannot
    be read is as if it were not there."""
    match fields.get(Field.WHAT):
        case {"form": "object" | "link" as form, "reference": bytes(reference)}:
            pass
        case _:
            return None
    if len(reference) > REFERENCE_BYTES_MAX:
        return None
    x, y = _pair(fields.get(Field.PLACE)) or (0.0, 0.0)
    width, height = _pair(fields.get(Field.SIZE)) or _DEFAULT_SIDES
    order = _number(fields.get(Field.ORDER))
    title = fields.get(Field.TITLE)
    return Item(
        identity,
        Form(form),
        reference,
        bounded(Frame(x, y, width, height)),
        0.0 if order is None else _between(order, -ORDER_MAX, ORDER_MAX),
        _groups(fields.get(Field.GROUPS)),
        " ".join(title.split())[:TITLE_CHARACTERS_MAX] if isinstance(title, str) else "",
    )


def bounded(frame: Frame) -> Frame:
    """The frame nearest to this one that a desktop can have."""
    return Frame(
        _between(frame.x, -COORDINATE_MAX, COORDINATE_MAX),
        _between(frame.y, -COORDINATE_MAX, COORDINATE_MAX),
        _between(frame.width, SIDE_MIN, SIDE_MAX),
        _between(frame.height, SIDE_MIN, SIDE_MAX),
    )


def _between(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _number(value: Plain) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _pair(value: Plain) -> tuple[float, float] | None:
    if not isinstance(value, list) or len(value) != 2:
        return None
    first, second = _number(value[0]), _number(value[1])
    return None if first is None or second is None else (first, second)


def _groups(value: Plain) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    named = (name for name in value if isinstance(name, str) and _IDENTITY.fullmatch(name))
    return tuple(named)[:GROUP_DEPTH_MAX]
