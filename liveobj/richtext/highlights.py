"""Owns the colours of highlighted words in files, and which of ours a foreign one is most like."""

from __future__ import annotations

import re

from liveobj.richtext.model import COLOURS

HIGHLIGHTS = {
    "yellow": "#fff0a8",
    "green": "#cdefcb",
    "blue": "#cfe6fa",
    "pink": "#fbd7e6",
    "orange": "#ffddbb",
}
_COLOUR = re.compile(r"#?([0-9a-fA-F]{6})")


def nearest_highlight(colour: str) -> str:
    """Empty for white, and for what is no colour."""
    found = _COLOUR.fullmatch(colour)
    if found is None or found[1].lower() == "ffffff":
        return ""
    wanted = _channels(found[1])

    def distance(name: str) -> int:
        pairs = zip(_channels(HIGHLIGHTS[name][1:]), wanted, strict=True)
        return sum((one - other) ** 2 for one, other in pairs)

    return min(COLOURS, key=distance)


def _channels(text: str) -> tuple[int, int, int]:
    return int(text[0:2], 16), int(text[2:4], 16), int(text[4:6], 16)
