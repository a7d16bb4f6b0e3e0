"""Owns the immutable, hashable mapping from names, of which types are made.

Verdicts about types are cached by the types themselves, so hashing one must be cheap: the hash is
worked out once, when the mapping is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

Item_co = TypeVar("Item_co", covariant=True)


class Named(Mapping[str, Item_co]):
    """Items by name. The order in which they were given does not matter."""

    __slots__ = ("_hash", "_items")

    def __init__(self, items: Mapping[str, Item_co] | None = None, /) -> None:
        self._items: dict[str, Item_co] = dict(sorted((items or {}).items()))
        self._hash = hash(tuple(self._items.items()))

    def __getitem__(self, name: str) -> Item_co:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Named):
            return NotImplemented
        return self._hash == other._hash and self._items == other._items

    def __repr__(self) -> str:
        return f"Named({self._items!r})"
