"""Owns the form of what a confined process and its keeper say: msgpack values, each with its length
before it.

The keeper reads what a stranger's code may have written: sizes are bounded, and everything that is
not a list of a known form is refused by whoever gets it. References travel as their XML, which is
read by the reader for hostile files.
"""

from __future__ import annotations

import struct
from typing import Any

import msgpack

from liveobj.references import Reference, read_reference, write_reference

FRAME_BYTES_MAX = 4 * 1024 * 1024

_LENGTH = struct.Struct("!I")
_REFERENCE = 1


class BadFrame(Exception):
    """Bytes that are no frame."""


def pack(message: list[Any]) -> bytes:
    data: bytes = msgpack.packb(message, use_bin_type=True, default=_pack_reference)
    if len(data) > FRAME_BYTES_MAX:
        raise BadFrame(f"A message of {len(data)} bytes is too long.")
    return _LENGTH.pack(len(data)) + data


def _pack_reference(value: object) -> msgpack.ExtType:
    if isinstance(value, Reference):
        return msgpack.ExtType(_REFERENCE, write_reference(value))
    raise BadFrame(f"{type(value).__name__} cannot be sent.")


def _read_extension(kind: int, data: bytes) -> Reference:
    if kind != _REFERENCE:
        raise BadFrame("a value of an unknown kind")
    return read_reference(data)


class Frames:
    """Puts what was read together."""

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, data: bytes) -> None:
        self._data += data

    def next(self) -> list[Any] | None:
        """The next message, None where it is not complete; raises BadFrame."""
        if len(self._data) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._data)
        if length > FRAME_BYTES_MAX:
            raise BadFrame(f"a message of {length} bytes")
        end = _LENGTH.size + length
        if len(self._data) < end:
            return None
        data = bytes(self._data[_LENGTH.size : end])
        del self._data[:end]
        try:
            message = msgpack.unpackb(data, raw=False, ext_hook=_read_extension)
        except Exception as problem:
            raise BadFrame(f"a message that cannot be read ({problem})") from None
        if not isinstance(message, list) or not message:
            raise BadFrame("a message that is no list")
        return message
