"""What typing means beyond letters: signs at the start of a line that make it a heading or a list,
signs around words that mark them, and addresses that become links. It reads; it changes nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass

from liveobj.richtext.model import Block, safe_link

_LINE_SIGNS: dict[str, Block] = {
    "#": Block("h1"),
    "##": Block("h2"),
    "###": Block("h3"),
    "####": Block("h4"),
    "-": Block("bullet"),
    "*": Block("bullet"),
    "+": Block("bullet"),
    "1.": Block("number"),
    "1)": Block("number"),
    "[]": Block("check"),
    "[ ]": Block("check"),
    "[x]": Block("check", done=True),
    ">": Block("quote"),
    "```": Block("code"),
}
_WORD_SIGNS = (
    (re.compile(r"(?<![*\w])\*\*([^*\s](?:[^*]*[^*\s])?)\*\*$"), "bold", 2),
    (re.compile(r"(?<![*\w])\*([^*\s](?:[^*]*[^*\s])?)\*$"), "italic", 1),
    (re.compile(r"(?<!`)`([^`]+)`$"), "code", 1),
    (re.compile(r"(?<![~\w])~~([^~\s](?:[^~]*[^~\s])?)~~$"), "strike", 2),
)
_ADDRESS = re.compile(
    r"(?:^|(?<=[\s(\u2028]))(https?://[^\s<>\"]{4,}?|www\.[^\s<>\"]{4,}?)[.,;:!?)]*$"
)


@dataclass(frozen=True, slots=True)
class WordSign:
    """Words between signs, at the end of a text: `signs` characters on each side of `length`."""

    mark: str
    signs: int
    length: int


def line_sign(text: str) -> Block | None:
    """The look that a line gets when a blank is typed after this."""
    return _LINE_SIGNS.get(text)


def word_sign(text: str) -> WordSign | None:
    """What the end of a text asks for."""
    for pattern, mark, signs in _WORD_SIGNS:
        found = pattern.search(text)
        if found:
            return WordSign(mark, signs, len(found[1]))
    return None


def address_at_end(text: str) -> tuple[int, int, str] | None:
    """Start, end and address of what a text ends with, if it is one."""
    found = _ADDRESS.search(text)
    if not found:
        return None
    words = found[1]
    address = safe_link(words if words.startswith("http") else f"https://{words}")
    return None if address is None else (found.start(1), found.end(1), address)
