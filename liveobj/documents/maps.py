"""Owns a replicated map: plain values by name, where the last writer of a name wins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import loro

from liveobj.documents.errors import DocumentError
from liveobj.documents.observing import Container, Delivery, Plain

if TYPE_CHECKING:
    from liveobj.documents.document import Document, Origin


@dataclass(frozen=True, slots=True)
class MapChange:
    """The names whose values have changed, with their new values, and those that are gone."""

    origin: Origin
    label: str
    updated: Mapping[str, Plain]
    removed: frozenset[str]


class Map(Container[MapChange]):
    """A map in a document. Made by `Document.map`."""

    def __init__(self, document: Document, inner: loro.LoroMap) -> None:
        super().__init__(document, inner.id)
        self._map = inner

    def __len__(self) -> int:
        return len(self._map)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._map

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._map.keys()))

    def get(self, name: str, default: Plain = None) -> Plain:
        found = self._map.get(name)
        return default if found is None else read_plain(found)

    def to_dict(self) -> dict[str, Plain]:
        return cast(dict[str, Plain], self._map.get_deep_value())

    def set(self, name: str, value: Plain) -> None:
        """Setting what is there already changes nothing, so it costs nobody anything."""
        if name in self._map and self.get(name) == value and type(self.get(name)) is type(value):
            return
        with self._editing(DocumentError, f"Cannot set '{name}'"):
            self._map.insert(name, cast(Any, value))

    def remove(self, name: str) -> None:
        if name in self._map:
            with self._editing(DocumentError, f"Cannot remove '{name}'"):
                self._map.delete(name)

    def take_down(self, diff: loro.MapDelta, origin: Origin, label: str) -> Delivery:
        updated, removed = read_map_delta(diff)
        return self._note(MapChange(origin, label, updated, removed))


def read_plain(found: loro.ValueOrContainer) -> Plain:
    """Containers inside containers were made by some other program; they are read as values."""
    if isinstance(found, loro.ValueOrContainer.Value):
        return cast(Plain, found.value)
    if isinstance(found, loro.ValueOrContainer.Container):
        inner = found.container
        if isinstance(inner, loro.LoroMap | loro.LoroList | loro.LoroMovableList):
            return cast(Plain, inner.get_deep_value())
        if isinstance(inner, loro.LoroText):
            return inner.to_string()
    return None


def read_map_delta(diff: loro.MapDelta) -> tuple[dict[str, Plain], frozenset[str]]:
    updated: dict[str, Plain] = {}
    removed: set[str] = set()
    for name, found in diff.updated.items():
        if found is None:
            removed.add(name)
        else:
            updated[name] = read_plain(found)
    return updated, frozenset(removed)
