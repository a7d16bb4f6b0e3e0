"""Finds what can be clicked in a text that somebody else wrote: web and mail addresses, nothing
else."""

from __future__ import annotations

import re
from dataclasses import dataclass

from PySide6.QtCore import QUrl

ADDRESS_CHARACTERS_MAX = 2000
_SCHEMES = frozenset({"http", "https", "mailto"})
_ADDRESS = re.compile(
    r"\b(?:https?://|mailto:)[^\s<>\"'`\x00-\x1f]+"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+",
    re.IGNORECASE,
)
_NOT_LAST = ".,;:!?*_~"
_CLOSING = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Link:
    """Where in a text, counted in characters, and what it opens."""

    start: int
    end: int
    url: str


def find_links(text: str) -> list[Link]:
    """Every address in the text, in its order."""
    links = []
    for found in _ADDRESS.finditer(text):
        address = _without_what_follows(found[0])
        if len(address) > ADDRESS_CHARACTERS_MAX:
            continue
        known = address.lower().startswith(("http://", "https://", "mailto:"))
        url = QUrl(address if known else f"mailto:{address}", QUrl.ParsingMode.StrictMode)
        if can_be_opened(url):
            links.append(Link(found.start(), found.start() + len(address), url.toString()))
    return links


def can_be_opened(url: QUrl) -> bool:
    """Whether a click may hand it to the system: no files, no scripts, no other programs."""
    if not url.isValid() or url.scheme().lower() not in _SCHEMES:
        return False
    return bool(url.path()) if url.scheme().lower() == "mailto" else bool(url.host())


def _without_what_follows(address: str) -> str:
    """Without the full stop or bracket of the sentence around it."""
    while address:
        last = address[-1]
        opening = _CLOSING.get(last)
        closes_nothing = opening is not None and address.count(last) > address.count(opening)
        if last not in _NOT_LAST and not closes_nothing:
            break
        address = address[:-1]
    return address
