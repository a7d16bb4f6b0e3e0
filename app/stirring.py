"""Random edits of any document, to see whether all of its replicas still agree."""

from __future__ import annotations

import random
from typing import Any

from liveobj.documents import Document, DocumentError

LEDGER = "soak"
_LETTERS = "abcdefg ÄÖ漢😀\n"
_RUN_MAX = 12


def stir(document: Document, chance: random.Random, edits: int, mark: str) -> None:
    """Makes that many edits wherever the document has something, and writes `mark` into a map that
    nothing is ever taken out of. What a container refuses is passed over."""
    content = document.to_plain()
    for _ in range(edits):
        name = chance.choice(sorted(content)) if content else "text"
        try:
            _edit(document, name, content.get(name, ""), chance)
        except DocumentError:
            continue
    document.map(LEDGER).set(mark, True)


def _edit(document: Document, name: str, known: Any, chance: random.Random) -> None:
    if name == LEDGER:
        return
    if isinstance(known, str):
        _edit_text(document, name, chance)
    elif isinstance(known, dict):
        _edit_map(document, name, known, chance)


def _edit_text(document: Document, name: str, chance: random.Random) -> None:
    text = document.text(name)
    length = text.length
    place = chance.randint(0, length)
    with document.transaction("stir"):
        if length and chance.random() < 0.35:
            text.delete(place, min(chance.randint(1, _RUN_MAX), length - place))
        else:
            words = "".join(chance.choices(_LETTERS, k=chance.randint(1, _RUN_MAX)))
            text.insert(place, words)


def _edit_map(document: Document, name: str, known: dict[str, Any], chance: random.Random) -> None:
    """Values are replaced by others of their type: a view must make sense of what is there."""
    plain = [key for key, value in known.items() if isinstance(value, str | int | float | bool)]
    if not plain:
        return
    key = chance.choice(sorted(plain))
    value = known[key]
    with document.transaction("stir"):
        match value:
            case bool():
                document.map(name).set(key, not value)
            case int():
                document.map(name).set(key, value + chance.randint(-5, 5))
            case float():
                document.map(name).set(key, value + chance.uniform(-5, 5))
            case str():
                document.map(name).set(key, f"{value[:20]}{chance.randint(0, 99)}")
