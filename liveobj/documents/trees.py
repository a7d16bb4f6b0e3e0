"""Owns a replicated tree: nodes that can be moved without ever making a circle, each with data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

import loro

from liveobj.documents.errors import DocumentError
from liveobj.documents.maps import read_map_delta, read_plain
from liveobj.documents.observing import Container, Delivery, Plain

if TYPE_CHECKING:
    from liveobj.documents.document import Document, Origin

_NODE = re.compile(r"(\d{1,10})@(\d{1,20})")


class TreeAction(Enum):
    """What happened to a node."""

    CREATED = "created"
    MOVED = "moved"
    DELETED = "deleted"
    DATA = "data"


@dataclass(frozen=True, slots=True)
class TreeItem:
    """One node's change. `parent` and `index` are where it is now (None and 0: at the top, or
    gone); `data` are the values that changed, None for one that was removed."""

    node: str
    action: TreeAction
    parent: str | None = None
    index: int = 0
    data: Mapping[str, Plain] | None = None


@dataclass(frozen=True, slots=True)
class TreeChange:
    """What happened, in order."""

    origin: Origin
    label: str
    items: tuple[TreeItem, ...]


class Tree(Container[TreeChange]):
    """A tree in a document. Made by `Document.tree`. Nodes are known by texts that never change."""

    def __init__(self, document: Document, inner: loro.LoroTree) -> None:
        super().__init__(document, inner.id)
        self._tree = inner

    def __contains__(self, node: object) -> bool:
        if not isinstance(node, str) or not _NODE.fullmatch(node):
            return False
        target = _read(node)
        return self._tree.contains(target) and not self._tree.is_node_deleted(target)

    def create(self, parent: str | None = None, index: int | None = None) -> str:
        """Makes a node under `parent`, last or at `index`; returns what it is known by."""
        with self._editing(DocumentError, "Cannot make a node"):
            above = self._known(parent)
            if index is None:
                return _name(self._tree.create(above))
            return _name(self._tree.create_at(index, above))

    def move(self, node: str, parent: str | None, index: int | None = None) -> None:
        """Refused where it would put a node inside itself."""
        with self._editing(DocumentError, "Cannot move this node"):
            target, above = self._must(node), self._known(parent)
            if index is None:
                self._tree.mov(target, above)
            else:
                self._tree.mov_to(target, index, above)

    def delete(self, node: str) -> None:
        """With everything below."""
        with self._editing(DocumentError, "Cannot delete this node"):
            self._tree.delete(self._must(node))

    def children(self, node: str | None = None) -> list[str]:
        """In order; those at the top for None."""
        return [_name(child) for child in self._tree.children(self._known(node)) or []]

    def parent(self, node: str) -> str | None:
        found = self._tree.parent(self._must(node))
        return None if found is None else _name(found)

    def get(self, node: str, name: str, default: Plain = None) -> Plain:
        found = self._tree.get_meta(self._must(node)).get(name)
        return default if found is None else read_plain(found)

    def data(self, node: str) -> dict[str, Plain]:
        return cast(dict[str, Plain], self._tree.get_meta(self._must(node)).get_deep_value())

    def set(self, node: str, name: str, value: Plain) -> None:
        with self._editing(DocumentError, f"Cannot set '{name}' of this node"):
            self._tree.get_meta(self._must(node)).insert(name, cast(Any, value))

    def _must(self, node: str) -> loro.TreeID:
        if node not in self:
            raise DocumentError(f"There is no node {node!r:.40} in the tree.")
        return _read(node)

    def _known(self, node: str | None) -> loro.TreeID | None:
        return None if node is None else self._must(node)

    def take_down(self, diff: loro.TreeDiff, origin: Origin, label: str) -> Delivery:
        items = tuple(_item(item) for item in diff.diff)
        return self._note(TreeChange(origin, label, items))

    def take_down_data(
        self, node: loro.TreeID, diff: loro.MapDelta, origin: Origin, label: str
    ) -> Delivery:
        updated, removed = read_map_delta(diff)
        data = {**updated, **dict.fromkeys(removed)}
        return self._note(
            TreeChange(origin, label, (TreeItem(_name(node), TreeAction.DATA, data=data),))
        )


def _name(node: loro.TreeID) -> str:
    return f"{node.counter}@{node.peer}"


def _read(node: str) -> loro.TreeID:
    found = _NODE.fullmatch(node)
    assert found is not None, "looked at before"
    return loro.TreeID(int(found[2]), int(found[1]))


def _item(item: loro.TreeDiffItem) -> TreeItem:
    action = item.action
    if isinstance(action, loro.TreeExternalDiff.Delete):
        return TreeItem(_name(item.target), TreeAction.DELETED)
    assert isinstance(action, loro.TreeExternalDiff.Create | loro.TreeExternalDiff.Move)
    created = isinstance(action, loro.TreeExternalDiff.Create)
    return TreeItem(
        _name(item.target),
        TreeAction.CREATED if created else TreeAction.MOVED,
        None if action.parent is None else _name(action.parent),
        action.index,
    )
