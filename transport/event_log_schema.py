"""What event logs hold and how they lie on disk: the one module that the pipeline shares with us.

Plain data and bytes. It imports nothing of this project, so that whoever reads logs on another
machine needs neither engine nor window system; `tests/test_imports.py` names it as the exception.

A segment is a file of frames. A frame is a mark, the length and checksum of what follows, and one
record: a msgpack array of the record's number, the time, and the fields in the order below. A
reader needs no index: after a damaged place it goes on at the next mark whose checksum is right.
Fields are only ever added at the end of a record, and records at the end of the table; a reader
passes over what it does not know, and a writer never changes what a field means.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

import msgpack

VERSION = 1
SUFFIX = ".events"
# Inside the folder of logs. The pipeline watches the second one only: a file there is complete.
OPEN_FOLDER = "open"
CLOSED_FOLDER = "closed"

RECORD_BYTES_MAX = 65_536
SEGMENT_BYTES_MAX = 64 * 1024 * 1024
SEGMENT_S_MAX = 60.0

MARK = b"\xe5LO\x1e"
_FRAME = struct.Struct("<4sII")
FRAME_BYTES = _FRAME.size


class Record(IntEnum):
    """The kinds of records."""

    SEGMENT = 1
    HEALTH = 2
    VIEW = 3
    COUNTERS = 4
    REGION = 5
    APPLICATION = 6
    LOST = 7
    LEFT = 8
    GROUP = 9
    DELIVERY = 10


class Field(NamedTuple):
    """A column: its name, and its type as msgpack gives it."""

    name: str
    kind: type


# Every record begins with its number and the time: nanoseconds since 1970, UTC, as the writer's
# system has it. Nodes and regions are 64-bit numbers, groups 16 bytes.
SCHEMA: dict[Record, tuple[Field, ...]] = {
    # The first record of a segment: who writes, and the names for the values of COUNTERS.
    Record.SEGMENT: (
        Field("version", int),
        Field("program", str),
        Field("scope_label", str),
        Field("monotonic_ns", int),
        Field("counter_names", list),
    ),
    Record.HEALTH: (Field("node", int), Field("health", int), Field("reason", int)),
    Record.VIEW: (
        Field("node", int),
        Field("group", bytes),
        Field("view", int),
        Field("members", list),
    ),
    # Values since the engine was opened, in the order of the segment's names.
    Record.COUNTERS: (Field("node", int), Field("monotonic_ns", int), Field("values", list)),
    Record.REGION: (
        Field("node", int),
        Field("region", int),
        Field("members", int),
        Field("alive", int),
        Field("senders", int),
        Field("ring_levels", int),
        Field("unacknowledged_packets", int),
        Field("rate_bytes_per_s", int),
        Field("acknowledgement_ns", int),
        Field("token_round_ns", int),
        Field("unicast", bool),
    ),
    # What the application has to tell, by name: never content, never names of people.
    Record.APPLICATION: (Field("node", int), Field("name", str), Field("values", dict)),
    # So many records before this one could not be kept: the disk was slow, full, or refused.
    Record.LOST: (Field("records", int),),
    # The node has left the group; that it joined is told by its first VIEW.
    Record.LEFT: (Field("node", int), Field("group", bytes)),
    # What one group has cost since it was joined: all that was delivered, and the node's own part.
    Record.GROUP: (
        Field("node", int),
        Field("group", bytes),
        Field("members", int),
        Field("messages", int),
        Field("bytes", int),
        Field("own_messages", int),
        Field("own_bytes", int),
        Field("unacknowledged", int),
    ),
    # One message at one receiver. Only where sender and receiver share a clock, as simulated
    # nodes and programs on one computer do, can anybody know how long it took.
    Record.DELIVERY: (
        Field("node", int),
        Field("group", bytes),
        Field("sender", int),
        Field("bytes", int),
        Field("latency_ns", int),
    ),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One record that was read; `values` are by field name."""

    kind: Record
    time_ns: int
    values: dict[str, Any]


@dataclass(slots=True)
class Damage:
    """What could not be read: places that were skipped, and the bytes in them."""

    places: int = 0
    bytes: int = 0
    torn_tail: bool = False
    unknown_records: int = 0
    offsets: list[int] = field(default_factory=list)

    def skip(self, start: int, end: int) -> None:
        self.places += 1
        self.bytes += end - start
        if len(self.offsets) < 100:
            self.offsets.append(start)


def frame(kind: Record, time_ns: int, values: tuple[Any, ...]) -> bytes:
    """One record as bytes; ValueError when it is larger than a reader would take."""
    payload: bytes = msgpack.packb((int(kind), time_ns, *values))
    if len(payload) > RECORD_BYTES_MAX:
        raise ValueError(f"a record of {len(payload)} bytes is too large for a log")
    return _FRAME.pack(MARK, len(payload), _checksum(payload)) + payload


def read_segment(data: bytes | memoryview, damage: Damage | None = None) -> Iterator[Row]:
    """The records of a segment, in order, without whatever is torn or damaged.

    Bounded work and memory whatever the bytes are: a record is never longer than
    RECORD_BYTES_MAX, and one that was altered is never given out.
    """
    damage = damage if damage is not None else Damage()
    whole = bytes(data)
    at = bad_from = 0
    # What only looks like frames is checked in vain; a file of nothing else ends the reading.
    vain_bytes_left = 4 * len(whole) + 64 * RECORD_BYTES_MAX
    while at < len(whole) and vain_bytes_left > 0:
        payload = _payload_at(whole, at)
        if payload is None:
            vain_bytes_left -= _length_at(whole, at)
            at = _next_mark(whole, at + 1)
            continue
        if bad_from < at:
            damage.skip(bad_from, at)
        at = bad_from = at + FRAME_BYTES + len(payload)
        row = _row(payload)
        if row is None:
            damage.unknown_records += 1
        else:
            yield row
    if bad_from < len(whole):
        damage.skip(bad_from, len(whole))
        damage.torn_tail = True


def _next_mark(whole: bytes, at: int) -> int:
    found = whole.find(MARK, at)
    return len(whole) if found < 0 else found


def _length_at(whole: bytes, at: int) -> int:
    """How long a frame claims to be; 0 where there is none."""
    if at + FRAME_BYTES > len(whole):
        return 0
    mark, length, _ = _FRAME.unpack_from(whole, at)
    return length if mark == MARK and 0 < length <= RECORD_BYTES_MAX else 0


def _payload_at(whole: bytes, at: int) -> bytes | None:
    """The payload of the frame that begins there; None where no whole one does."""
    length = _length_at(whole, at)
    if length == 0:
        return None
    checksum = _FRAME.unpack_from(whole, at)[2]
    payload = whole[at + FRAME_BYTES : at + FRAME_BYTES + length]
    if len(payload) != length or _checksum(payload) != checksum:
        return None
    return payload


def _checksum(payload: bytes) -> int:
    # The length is part of what is checked: a frame that was cut short does not look whole.
    return zlib.crc32(payload, len(payload))


def _row(payload: bytes) -> Row | None:
    """The record, if it is one that this version knows."""
    try:
        values = msgpack.unpackb(payload, strict_map_key=False)
    except (ValueError, msgpack.UnpackException):
        return None
    if not isinstance(values, list) or len(values) < 2:
        return None
    number, time_ns, *rest = values
    if not _is(number, int) or number not in _KNOWN or not _is(time_ns, int):
        return None
    fields = SCHEMA[Record(number)]
    # More than is known were added by a newer version; fewer are not a record.
    if len(rest) < len(fields) or not all(map(_is, rest, (column.kind for column in fields))):
        return None
    named = {column.name: value for column, value in zip(fields, rest, strict=False)}
    return Row(Record(number), time_ns, named)


_KNOWN = frozenset(int(kind) for kind in Record)


def _is(value: object, kind: type) -> bool:
    # bool is an int to Python, and not to a column.
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
