"""Owns the formalism of security: what is kept secret, what is authenticated, and who may write."""

from __future__ import annotations

from collections.abc import Hashable
from typing import cast

from liveobj.formalisms.properties import Properties, PropertyTable
from liveobj.types import NotAConstraint, Structure

_TABLE = PropertyTable(
    {
        "confidential": (),
        "forward secret": ("confidential",),
        "integrity": (),
        "authenticated": ("integrity",),
        "signed": ("authenticated",),
    },
    {"encrypted": "confidential", "secret": "confidential", "tamper proof": "integrity"},
)
# Fewer writers is the stronger promise.
_WRITERS = ("nobody", "owner", "editors", "members", "anyone")
_PREFIX = "writers"

Predicate = tuple[Properties, int]


class SecurityFormalism:
    """For example: "confidential, authenticated, writers editors"."""

    id = "live-objects:security"
    title = "security"

    def parse(self, text: str, structure: Structure) -> Hashable:
        names: list[str] = []
        writers = len(_WRITERS) - 1
        for part in text.split(","):
            words = part.lower().split()
            if len(words) == 2 and words[0] == _PREFIX:
                writers = min(writers, self._writers(words[1]))
                continue
            name = _TABLE.find(part)
            if name is None:
                known = ", ".join([*_TABLE.names, *(f"{_PREFIX} {w}" for w in _WRITERS)])
                raise NotAConstraint(
                    f"'{part.strip()}' is not a property of security; known are: {known}."
                )
            names.append(name)
        return (_TABLE.close(names), writers)

    def _writers(self, word: str) -> int:
        if word not in _WRITERS:
            raise NotAConstraint(f"'{word}' is not a kind of writer: {', '.join(_WRITERS)}.")
        return _WRITERS.index(word)

    def implies(self, stronger: Hashable, weaker: Hashable) -> bool:
        given, given_writers = cast(Predicate, stronger)
        wanted, wanted_writers = cast(Predicate, weaker)
        return wanted <= given and given_writers <= wanted_writers

    def explain(self, stronger: Hashable, weaker: Hashable) -> str:
        given, given_writers = cast(Predicate, stronger)
        wanted, wanted_writers = cast(Predicate, weaker)
        parts = [f"it is not {name}" for name in _TABLE.essential(wanted - given)]
        if given_writers > wanted_writers:
            parts.append(
                f"{_WRITERS[given_writers]} may write, not only {_WRITERS[wanted_writers]}"
            )
        return " and ".join(parts)

    def both(self, first: Hashable, second: Hashable) -> Hashable:
        a, a_writers = cast(Predicate, first)
        b, b_writers = cast(Predicate, second)
        return (a | b, min(a_writers, b_writers))
