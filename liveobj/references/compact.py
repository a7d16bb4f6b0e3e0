"""Owns the short spelling of a reference, for a QR code or a line of chat: the file, packed.

`LIVEOBJECT:` and the compressed file in the 45 characters that a QR code packs tightest. Whatever
stands there may have been made by anybody: it is unpacked within the bounds of a file and then read
like one.
"""

from __future__ import annotations

import zlib

from liveobj.references.errors import NotAReference
from liveobj.references.model import Reference
from liveobj.references.reading import read_reference
from liveobj.references.writing import write_reference
from liveobj.references.xml_tree import SIZE_BYTES_MAX
from transport.sentences import worded

PREFIX = "LIVEOBJECT:"
# A space is one of the characters, and a mail program may take one away at the end.
_END = "/"
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"
_VALUES = {character: value for value, character in enumerate(_ALPHABET)}


def compact_text(reference: Reference) -> str:
    """The reference as one line."""
    return PREFIX + _encode(zlib.compress(write_reference(reference), 9)) + _END


def is_compact(text: str) -> bool:
    return text.strip()[: len(PREFIX)].upper() == PREFIX


def read_compact(text: str) -> Reference:
    """Reads what `compact_text` wrote; raises ReferenceProblem."""
    body = text.strip()[len(PREFIX) :].removesuffix(_END)
    if len(body) > 2 * SIZE_BYTES_MAX:
        raise NotAReference(worded("This text is too long for a live object."))
    try:
        packed = _decode(body.upper())
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(packed, SIZE_BYTES_MAX + 1)
    except (ValueError, OverflowError, zlib.error):
        raise NotAReference(worded("This text is a damaged live object; copy it again.")) from None
    if len(data) > SIZE_BYTES_MAX or not unpacker.eof:
        raise NotAReference(worded("This text is a damaged live object; copy it again."))
    return read_reference(data)


def _encode(data: bytes) -> str:
    """RFC 9285: two bytes become three characters, a last one two."""
    result: list[str] = []
    for index in range(0, len(data) - 1, 2):
        value = data[index] * 256 + data[index + 1]
        result += [_ALPHABET[value % 45], _ALPHABET[value // 45 % 45], _ALPHABET[value // 2025]]
    if len(data) % 2:
        result += [_ALPHABET[data[-1] % 45], _ALPHABET[data[-1] // 45]]
    return "".join(result)


def _decode(text: str) -> bytes:
    try:
        values = [_VALUES[character] for character in text]
    except KeyError:
        raise ValueError("not one of the 45 characters") from None
    if len(values) % 3 == 1:
        raise ValueError("a character is missing")
    result = bytearray()
    for index in range(0, len(values) - 2, 3):
        first, second, third = values[index : index + 3]
        result += (first + 45 * second + 2025 * third).to_bytes(2, "big")
    if len(values) % 3:
        result += (values[-2] + 45 * values[-1]).to_bytes(1, "big")
    return bytes(result)
