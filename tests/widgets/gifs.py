"""Animated GIFs of one colour each, written by hand: Qt reads them and cannot write them."""

from __future__ import annotations

import struct
from collections.abc import Sequence

_CLEAR, _END, _BITS = 4, 5, 3


def _codes(colour: int) -> bytes:
    """Four pixels; the table is cleared before it would need longer codes."""
    codes = [_CLEAR, colour, colour, _CLEAR, colour, colour, _END]
    packed = sum(code << (_BITS * place) for place, code in enumerate(codes))
    return packed.to_bytes((len(codes) * _BITS + 7) // 8, "little")


def gif(colours: Sequence[int], delay_cs: int = 5, repeats: int | None = 0) -> bytes:
    """2 by 2 pixels; `colours` (0 black, 1 red, 2 green, 3 blue) one after the other. `repeats` is
    0 for ever, None for a file that says nothing of it."""
    head = b"GIF89a" + struct.pack("<HHBBB", 2, 2, 0b10000001, 0, 0)
    palette = bytes([0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255])
    loops = (
        b"" if repeats is None else b"!\xff\x0bNETSCAPE2.0\x03\x01" + struct.pack("<HB", repeats, 0)
    )
    frames = b""
    for colour in colours:
        data = _codes(colour)
        frames += b"!\xf9\x04\x00" + struct.pack("<HBB", delay_cs, 0, 0)
        frames += b"," + struct.pack("<HHHHB", 0, 0, 2, 2, 0)
        frames += bytes([2, len(data)]) + data + b"\0"
    return head + palette + loops + frames + b";"
