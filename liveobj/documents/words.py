"""Owns the words of any document: every text in it, one a line, for whoever searches."""

from __future__ import annotations

from collections.abc import Iterator

from liveobj.documents.document import Document

WORDS_CHARACTERS_MAX = 500_000
_DEPTH_MAX = 30


def words_in(document: Document) -> str:
    """Every text of the document, however deep, up to a bound; names of fields are left out, and so
    is what is markup rather than words, such as references to other objects."""
    found: list[str] = []
    room = WORDS_CHARACTERS_MAX
    for text in _texts(document.to_plain(), _DEPTH_MAX):
        words = text.strip()
        if not words or words.startswith("<"):
            continue
        found.append(words[:room])
        room -= len(words) + 1
        if room <= 0:
            break
    return "\n".join(found)


def _texts(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, dict):
        for name in sorted(value, key=str):
            yield from _texts(value[name], depth - 1)
    elif depth and isinstance(value, list):
        for item in value:
            yield from _texts(item, depth - 1)
