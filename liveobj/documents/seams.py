"""Owns the seams of long texts: places where a writer's run of operations is interrupted.

loro joins what one writer inserts in one go, by pasting or by typing on, into one run. Merging an
edit that was made beside a run of N characters costs it N² in time and memory, at every replica.
A seam is one character that is inserted and deleted at once: it changes nothing that anybody sees,
but the run before it and the run after it are two. What is inserted here has a seam after every
RUN_CHARACTERS_MAX characters; a run that is longer can be given its seams afterwards, by anybody,
and merging is quick from then on, also of edits that were made before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import loro

RUN_CHARACTERS_MAX = 1000
# The character of the seam goes on with the run before it.
_PIECE_CHARACTERS = RUN_CHARACTERS_MAX - 1
_FILLER = " "


def room_after(unsewn: int) -> int:
    """How many characters more can follow those since the last seam, before the next."""
    return _PIECE_CHARACTERS - unsewn


def cut_text(text: str, first: int) -> Iterator[str]:
    """The text in pieces with a seam between any two; the first has at most `first` characters, and
    may be empty."""
    yield text[:first]
    for start in range(first, len(text), _PIECE_CHARACTERS):
        yield text[start : start + _PIECE_CHARACTERS]


def sew(text: loro.LoroText, position: int) -> None:
    """Puts a seam at a place in Unicode characters."""
    text.insert(position, _FILLER)
    text.delete(position, 1)


def sew_utf16(text: loro.LoroText, position: int) -> None:
    """Puts a seam at a place in UTF-16 units."""
    text.insert_utf16(position, _FILLER)
    text.delete_utf16(position, 1)


def halvings(start: int, end: int, most: int = RUN_CHARACTERS_MAX) -> Iterator[int]:
    """Where to cut `start` to `end` so that no part is longer than `most`: the middle first, then
    the middles of the halves, since to cut a run costs as much as it is long."""
    waiting = deque([(start, end)])
    while waiting:
        low, high = waiting.popleft()
        if high - low > most:
            middle = (low + high) // 2
            yield middle
            waiting += [(low, middle), (middle, high)]
