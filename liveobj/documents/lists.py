"""Owns replicated lists: the plain one, and the one whose items can be moved and replaced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import loro

from liveobj.documents.errors import PositionError
from liveobj.documents.maps import read_plain
from liveobj.documents.observing import Container, Delivery, Plain

if TYPE_CHECKING:
    from liveobj.documents.document import Document, Origin


@dataclass(frozen=True, slots=True)
class ListStep:
    """One step over a list: exactly one of `retain`, `insert`, `delete` is set. An item that was
    moved is deleted in one place and inserted in another (`moved`)."""

    retain: int = 0
    insert: tuple[Plain, ...] = ()
    delete: int = 0
    moved: bool = False


@dataclass(frozen=True, slots=True)
class ListChange:
    """The steps that lead from the list before to the list after."""

    origin: Origin
    label: str
    steps: tuple[ListStep, ...]


def apply_list_steps(items: Sequence[Plain], steps: Sequence[ListStep]) -> list[Plain]:
    """The list after `steps`; what a view does to itself."""
    result: list[Plain] = []
    at = 0
    for step in steps:
        result += items[at : at + step.retain]
        at += step.retain + step.delete
        result += step.insert
    return result + list(items[at:])


class List(Container[ListChange]):
    """A list in a document. Made by `Document.list`."""

    def __init__(self, document: Document, inner: loro.LoroList | loro.LoroMovableList) -> None:
        super().__init__(document, inner.id)
        self._list = inner

    def __len__(self) -> int:
        return len(self._list)

    def __iter__(self) -> Iterator[Plain]:
        return iter(self.to_list())

    def __getitem__(self, index: int) -> Plain:
        found = self._list.get(index) if 0 <= index < len(self) else None
        if found is None:
            raise IndexError(f"There is no item {index} in a list of {len(self)}.")
        return read_plain(found)

    def to_list(self) -> list[Plain]:
        return cast(list[Plain], self._list.get_deep_value())

    def insert(self, index: int, *items: Plain) -> None:
        with self._editing(PositionError, f"Cannot insert at {index}"):
            for offset, item in enumerate(items):
                self._list.insert(index + offset, cast(Any, item))

    def append(self, *items: Plain) -> None:
        self.insert(len(self), *items)

    def delete(self, index: int, length: int = 1) -> None:
        with self._editing(PositionError, f"Cannot delete {length} from {index}"):
            self._list.delete(index, length)

    def take_down(self, diff: Sequence[loro.ListDiffItem], origin: Origin, label: str) -> Delivery:
        return self._note(ListChange(origin, label, tuple(_step(item) for item in diff)))


def _step(item: loro.ListDiffItem) -> ListStep:
    if isinstance(item, loro.ListDiffItem.Retain):
        return ListStep(retain=item.retain)
    if isinstance(item, loro.ListDiffItem.Delete):
        return ListStep(delete=item.delete)
    assert isinstance(item, loro.ListDiffItem.Insert), "loro knows three kinds of steps"
    return ListStep(insert=tuple(read_plain(v) for v in item.insert), moved=item.is_move)


class MovableList(List):
    """A list whose items keep their identity when moved: two who move one item do not double it."""

    def __init__(self, document: Document, inner: loro.LoroMovableList) -> None:
        super().__init__(document, inner)
        self._movable = inner

    def move(self, index: int, to: int) -> None:
        """Afterwards the item is at `to`."""
        with self._editing(PositionError, f"Cannot move {index} to {to}"):
            self._movable.mov(index, to)

    def set(self, index: int, value: Plain) -> None:
        with self._editing(PositionError, f"Cannot set item {index}"):
            self._movable.set(index, cast(Any, value))
