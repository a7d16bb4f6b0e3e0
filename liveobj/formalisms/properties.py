"""Owns formalisms whose predicates are sets of properties, where some properties imply others.

A set of properties, closed under what they imply, is an element of a lattice: more is stronger. Two
of the built-in formalisms are of this shape and differ in their tables.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import cast

from liveobj.types import NotAConstraint, Structure

Properties = frozenset[str]


class PropertyTable:
    """Properties with what each implies, directly; and other spellings of them."""

    def __init__(self, implied: Mapping[str, Iterable[str]], synonyms: Mapping[str, str]) -> None:
        self._closure = {name: self._close(name, implied) for name in implied}
        self._synonyms = dict(synonyms)

    @staticmethod
    def _close(name: str, implied: Mapping[str, Iterable[str]]) -> Properties:
        found: set[str] = set()
        waiting = [name]
        while waiting:
            current = waiting.pop()
            if current not in found:
                found.add(current)
                waiting.extend(implied[current])
        return frozenset(found)

    @property
    def names(self) -> list[str]:
        return list(self._closure)

    def find(self, text: str) -> str | None:
        name = " ".join(text.lower().replace("-", " ").split())
        name = self._synonyms.get(name, name)
        return name if name in self._closure else None

    def close(self, names: Iterable[str]) -> Properties:
        return frozenset().union(*(self._closure[name] for name in names))

    def essential(self, properties: Properties) -> list[str]:
        """Those that do not follow from others; what one says of a closed set."""
        return [
            name
            for name in self.names
            if name in properties
            and not any(name in self._closure[other] for other in properties - {name})
        ]


class PropertyFormalism:
    """A formalism over one table; texts are properties separated by commas."""

    id = ""
    title = ""
    table: PropertyTable

    def parse(self, text: str, structure: Structure) -> Hashable:
        names: list[str] = []
        for part in text.split(","):
            name = self.table.find(part)
            if name is None:
                known = ", ".join(self.table.names)
                raise NotAConstraint(
                    f"'{part.strip()}' is not a property of {self.title}; known are: {known}."
                )
            names.append(name)
        return self.table.close(names)

    def implies(self, stronger: Hashable, weaker: Hashable) -> bool:
        return cast(Properties, weaker) <= cast(Properties, stronger)

    def explain(self, stronger: Hashable, weaker: Hashable) -> str:
        missing = cast(Properties, weaker) - cast(Properties, stronger)
        names = [f"'{name}'" for name in self.table.essential(missing)]
        return f"{' and '.join(names)} {'does' if len(names) == 1 else 'do'} not follow from that"

    def both(self, first: Hashable, second: Hashable) -> Hashable:
        return cast(Properties, first) | cast(Properties, second)
