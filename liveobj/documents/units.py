"""Owns how long a text is in UTF-16 units, which is what Qt counts in."""

from __future__ import annotations


def utf16_length(text: str) -> int:
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
