"""Owns how keys are written for people: letters and digits in groups of four, with a check.

A mistyped letter is noticed: four bytes of a hash over the purpose and the data follow the data.
"""

from __future__ import annotations

import base64
import binascii
from hashlib import blake2b

from transport.errors import BadArgument

_CHECK_BYTES = 4
_GROUP = 4


def write_key(data: bytes, purpose: str) -> str:
    """`data` as text; the same purpose must be named when it is read."""
    text = base64.b32encode(data + _check(data, purpose)).decode("ascii").rstrip("=").lower()
    return "-".join(text[at : at + _GROUP] for at in range(0, len(text), _GROUP))


def read_key(text: str, purpose: str, size: int) -> bytes:
    """The `size` bytes that were written for this purpose; case, spaces and dashes do not count."""
    packed = "".join(text.split()).replace("-", "").upper()
    try:
        raw = base64.b32decode(packed + "=" * (-len(packed) % 8))
    except (binascii.Error, ValueError):
        raw = b""
    data, check = raw[:-_CHECK_BYTES], raw[-_CHECK_BYTES:]
    if len(data) != size or check != _check(data, purpose):
        raise BadArgument("The key is mistyped or incomplete: copy it again, all of it.")
    return data


def _check(data: bytes, purpose: str) -> bytes:
    return blake2b(purpose.encode() + b"\0" + data, digest_size=_CHECK_BYTES).digest()
