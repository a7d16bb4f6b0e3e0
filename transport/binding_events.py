"""Events as C writes them: read out of its memory all at once, and lent without a copy."""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from typing import cast

from native import ffi, lib
from transport.binding import MESSAGE_BYTES_MAX, CData, Core, check

# One qsm_event, read field by field at once: asking cffi for each field costs ten times as much.
EVENT = struct.Struct("@4I2P2Q2P2I")
if ffi.sizeof("qsm_event") != EVENT.size:
    raise ImportError("the compiled engine and this package differ: build the package again")
EventRow = tuple[int, int, int, int, int, int, int, int, int, int, int, int]

_EVENT_BYTES = EVENT.size
# Where fields of an event are, in halves (32 bits) and in words (64 bits); a test compares them.
_HALF_STEP, _WORD_STEP = EVENT.size // 4, EVENT.size // 8
_KIND, _SIZE = 0, 3
_USER, _SENDER, _DATA = 3, 4, 6
_DELIVERY_KIND = struct.pack("@I", lib.QSM_EVENT_DELIVERY)
_BYTES_POINTER = ffi.typeof("uint8_t *")
_NODES_POINTER = ffi.typeof("uint64_t *")
_buffer = ffi.buffer
_cast = ffi.cast


def read_rows(events: CData, count: int) -> list[EventRow]:
    """The fields of `count` events, in the order of qsm_event."""
    return list(EVENT.iter_unpack(_buffer(events, count * _EVENT_BYTES)))


def columns_of(row: EventRow) -> Columns:
    """One event alone, as those that come together."""
    return Columns(EVENT.pack(*row))


def lend(addresses: Sequence[int], sizes: Sequence[int]) -> tuple[CData, list[memoryview]]:
    """The memory at these addresses without a copy, valid as long as the engine lends it.

    The views are slices of one buffer that spans them all, which is three times cheaper than a
    buffer each; what lies between them is never looked at. Whoever holds a view, or a part of one,
    holds the buffer, and that is how it is noticed.
    """
    lowest, highest = min(addresses), max(addresses)
    loan = _buffer(_cast(_BYTES_POINTER, lowest), highest - lowest + MESSAGE_BYTES_MAX)
    with memoryview(loan) as span:
        views = [
            span[(begin := address - lowest) : begin + size]
            for address, size in zip(addresses, sizes, strict=True)
        ]
    return loan, views


def copy_out(address: int, size: int) -> bytes:
    """A copy of that memory."""
    return bytes(_buffer(_cast(_BYTES_POINTER, address), size))


def read_nodes(address: int, count: int) -> list[int]:
    return cast(list[int], ffi.unpack(_cast(_NODES_POINTER, address), count)) if count else []


class Columns:
    """Deliveries of one group: sender, place and size of each, read out of a copy of the events.

    A column is a slice of the events' memory with their size as its step: no Python object is made
    but the numbers wanted, and those only when they are.
    """

    __slots__ = ("_events", "count")

    def __init__(self, events: bytes) -> None:
        self._events = events
        self.count = len(events) // _EVENT_BYTES

    def _words(self, place: int) -> list[int]:
        return memoryview(self._events).cast("Q")[place::_WORD_STEP].tolist()

    @property
    def senders(self) -> list[int]:
        return self._words(_SENDER)

    @property
    def addresses(self) -> list[int]:
        return self._words(_DATA)

    @property
    def sizes(self) -> list[int]:
        return memoryview(self._events).cast("I")[_SIZE::_HALF_STEP].tolist()


class Events:
    """What C has written, in its memory: read before C is called again."""

    __slots__ = ("_events", "count")

    def __init__(self, events: CData, count: int) -> None:
        self._events = events
        self.count = count

    def rows(self) -> list[EventRow]:
        return read_rows(self._events, self.count)

    def deliveries(self) -> tuple[int, Columns] | None:
        """Whose and which, if all are deliveries of one group: under load, the usual case."""
        events = bytes(_buffer(self._events, self.count * _EVENT_BYTES))
        view = memoryview(events)
        kinds = view.cast("I")[_KIND::_HALF_STEP].tobytes()
        if kinds != _DELIVERY_KIND * self.count:
            return None
        users = view.cast("Q")[_USER::_WORD_STEP].tobytes()
        if users != users[:8] * self.count:
            return None
        return int.from_bytes(users[:8], sys.byteorder), Columns(events)


class EventBuffer:
    """Room for `capacity` events, filled by `fetch`."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._events = ffi.new("qsm_event[]", capacity)

    def fetch(self, core: Core, count_max: int) -> Events:
        count = lib.qsm_engine_events(core.pointer, self._events, min(count_max, self.capacity))
        return Events(self._events, check(count))
