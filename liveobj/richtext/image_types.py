"""Owns telling kinds of images by their first bytes, and the size of those that say it there."""

from __future__ import annotations

import struct

_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png", ".png"),
    (b"\xff\xd8\xff", "image/jpeg", ".jpeg"),
    (b"GIF8", "image/gif", ".gif"),
    (b"RIFF", "image/webp", ".webp"),
    (b"BM", "image/bmp", ".bmp"),
)
# Of an image that does not say its size: a sensible one for a page.
_SIZE_PX = (320, 240)


def mime_type_of(data: bytes) -> str:
    return next((mime for start, mime, _ in _STARTS if data.startswith(start)), "image/png")


def ending_of(data: bytes) -> str:
    return next((ending for start, _, ending in _STARTS if data.startswith(start)), ".png")


def size_of(data: bytes) -> tuple[int, int]:
    """Width and height in pixels, as far as it is easily known."""
    if data.startswith(_STARTS[0][0]) and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
    elif data.startswith(b"GIF8") and len(data) >= 10:
        width, height = struct.unpack("<HH", data[6:10])
    else:
        width, height = _jpeg_size(data) if data.startswith(b"\xff\xd8") else _SIZE_PX
    return (width, height) if 0 < width < 65536 and 0 < height < 65536 else _SIZE_PX


def _jpeg_size(data: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        kind = data[at + 1]
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return _SIZE_PX
