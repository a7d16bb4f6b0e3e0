"""Maps, lists, movable lists, trees and counters: edits, merges, changes, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liveobj.documents import (
    Document,
    DocumentError,
    ListChange,
    MapChange,
    Origin,
    PositionError,
    ReadOnly,
    TreeAction,
    TreeChange,
    TreeItem,
    Version,
)
from liveobj.documents.lists import apply_list_steps
from liveobj.documents.observing import Plain


def merge(*documents: Document) -> None:
    for one in documents:
        for other in documents:
            one.import_update(other.export_since(one.version))


def test_a_map_holds_plain_values() -> None:
    here = Document(1).map("m")
    values: dict[str, Plain] = {
        "text": "é😀",
        "integer": 5,
        "number": 1.5,
        "yes": True,
        "none": None,
        "bytes": b"\0\xff",
        "list": [1, "x", None],
        "map": {"a": {"b": 1}},
    }
    for name, value in values.items():
        here.set(name, value)
    assert here.to_dict() == values
    assert sorted(here) == sorted(values)
    assert here.get("text") == "é😀"
    assert here.get("nothing", 7) == 7
    assert "text" in here
    here.remove("text")
    here.remove("text")
    assert "text" not in here
    assert len(here) == 7


def test_a_map_tells_what_changed_and_nothing_for_nothing() -> None:
    document = Document(1)
    here = document.map("m")
    changes: list[MapChange] = []
    here.observe(changes.append)
    with document.transaction("two"):
        here.set("a", 1)
        here.set("b", 2)
    here.set("a", 1)
    here.set("a", True)
    here.remove("b")
    assert [(c.label, dict(c.updated), c.removed) for c in changes] == [
        ("two", {"a": 1, "b": 2}, frozenset()),
        ("", {"a": True}, frozenset()),
        ("", {}, frozenset({"b"})),
    ]


def test_maps_merge_name_by_name() -> None:
    one, two = Document(1), Document(2)
    one.map("m").set("a", 1)
    two.map("m").set("b", 2)
    merge(one, two)
    assert one.map("m").to_dict() == two.map("m").to_dict() == {"a": 1, "b": 2}


def test_what_cannot_be_kept_is_refused() -> None:
    document = Document(1)
    with pytest.raises(DocumentError, match="Cannot set 'x'"):
        document.map("m").set("x", object())  # type: ignore[arg-type]
    with pytest.raises(DocumentError):
        document.list("l").append({1})  # type: ignore[arg-type]
    assert document.version == Version()


def test_lists_grow_and_shrink() -> None:
    here = Document(1).list("l")
    here.append("a", "c")
    here.insert(1, "b")
    here.delete(0)
    assert here.to_list() == list(here) == ["b", "c"]
    assert here[1] == "c"
    assert len(here) == 2
    for index in (-1, 2):
        with pytest.raises(IndexError):
            here[index]
    with pytest.raises(PositionError):
        here.insert(9, "x")
    with pytest.raises(PositionError):
        here.delete(1, 5)


def test_an_item_moved_by_two_is_there_once() -> None:
    one, two = Document(1), Document(2)
    one.movable_list("l").append("a", "b", "c")
    merge(one, two)
    one.movable_list("l").move(0, 2)
    two.movable_list("l").move(0, 1)
    merge(one, two)
    assert one.movable_list("l").to_list() == two.movable_list("l").to_list()
    assert sorted(map(str, one.movable_list("l"))) == ["a", "b", "c"]
    one.movable_list("l").set(0, "B")
    with pytest.raises(PositionError):
        one.movable_list("l").move(0, 9)
    with pytest.raises(PositionError):
        one.movable_list("l").set(9, "x")


def test_kinds_of_lists_share_a_name_without_mixing() -> None:
    document = Document(1)
    plain: list[ListChange] = []
    movable: list[ListChange] = []
    document.list("l").observe(plain.append)
    document.movable_list("l").observe(movable.append)
    document.list("l").append(1)
    assert (len(plain), len(movable)) == (1, 0)
    document.movable_list("l").append(2)
    assert (len(plain), len(movable)) == (1, 1)


edits = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 3), st.integers(0, 99), st.integers(0, 99)),
    max_size=30,
)


@given(edits)
def test_steps_rebuild_a_movable_list_on_both_sides(
    script: list[tuple[int, int, int, int]],
) -> None:
    documents = [Document(1), Document(2)]
    copies: list[list[Plain]] = [[], []]

    def follow(index: int) -> Callable[[ListChange], None]:
        def apply(change: ListChange) -> None:
            copies[index] = apply_list_steps(copies[index], change.steps)

        return apply

    for index, document in enumerate(documents):
        document.movable_list("l").observe(follow(index))
    for who, what, a, b in script:
        items = documents[who].movable_list("l")
        size = len(items)
        if what == 0 or size == 0:
            items.insert(a % (size + 1), b)
        elif what == 1:
            items.delete(a % size)
        elif what == 2:
            items.move(a % size, b % size)
        else:
            items.set(a % size, b)
        if a % 3 == 0:
            merge(*documents)
    merge(*documents)
    assert copies[0] == copies[1] == documents[0].movable_list("l").to_list()


def test_a_counter_adds_up() -> None:
    one, two = Document(1), Document(2)
    by: list[float] = []
    one.counter("c").observe(lambda change: by.append(change.by))
    one.counter("c").add(2)
    two.counter("c").add(0.5)
    two.counter("c").add(-1)
    merge(one, two)
    assert one.counter("c").value == two.counter("c").value == 1.5
    assert by == [2, -0.5]


def test_a_tree_is_made_moved_and_cut() -> None:
    document = Document(1)
    tree = document.tree("t")
    items: list[TreeItem] = []
    origins: list[Origin] = []

    def note(change: TreeChange) -> None:
        items.extend(change.items)
        origins.append(change.origin)

    tree.observe(note)
    root = tree.create()
    first, second = tree.create(root), tree.create(root, 0)
    assert tree.children() == [root]
    assert tree.children(root) == [second, first]
    assert tree.parent(first) == root
    assert tree.parent(root) is None
    tree.set(first, "title", "First")
    assert tree.get(first, "title") == "First"
    assert tree.get(first, "colour", "red") == "red"
    assert tree.data(first) == {"title": "First"}
    tree.move(second, first)
    tree.move(second, None, 0)
    assert tree.children() == [second, root]
    tree.delete(root)
    assert first not in tree
    assert [item.action for item in items] == [
        TreeAction.CREATED,
        TreeAction.CREATED,
        TreeAction.CREATED,
        TreeAction.DATA,
        TreeAction.MOVED,
        TreeAction.MOVED,
        TreeAction.DELETED,
    ]
    assert items[3] == TreeItem(first, TreeAction.DATA, data={"title": "First"})
    assert items[4] == TreeItem(second, TreeAction.MOVED, first, 0)
    assert set(origins) == {Origin.LOCAL}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda tree, node: tree.move(node, node),
        lambda tree, node: tree.move("5@9", None),
        lambda tree, node: tree.delete("nonsense"),
        lambda tree, node: tree.create("9@9"),
        lambda tree, node: tree.get("9@9", "x"),
        lambda tree, node: tree.set(node, "x", object()),
        lambda tree, node: tree.children("9@9"),
    ],
)
def test_what_a_tree_refuses(wrong: Callable[[Any, str], object]) -> None:
    tree = Document(1).tree("t")
    node = tree.create()
    with pytest.raises(DocumentError):
        wrong(tree, node)
    assert tree.children() == [node]


def test_two_who_move_nodes_into_each_other_make_no_circle() -> None:
    one, two = Document(1), Document(2)
    a, b = one.tree("t").create(), one.tree("t").create()
    merge(one, two)
    one.tree("t").move(a, b)
    two.tree("t").move(b, a)
    merge(one, two)
    assert one.tree("t").children() == two.tree("t").children()
    assert len(one.tree("t").children()) == 1


def test_all_kinds_can_be_undone_and_refuse_viewers() -> None:
    document = Document(1)
    with document.transaction():
        document.map("m").set("a", 1)
        document.list("l").append(1)
        document.counter("c").add(1)
        document.tree("t").create()
    document.undo()
    assert document.map("m").to_dict() == {}
    assert document.list("l").to_list() == []
    assert document.counter("c").value == 0
    assert document.tree("t").children() == []
    viewer = Document(2, editable=False)
    for edit in (
        lambda: viewer.map("m").set("a", 1),
        lambda: viewer.list("l").append(1),
        lambda: viewer.counter("c").add(1),
        lambda: viewer.tree("t").create(),
    ):
        with pytest.raises(ReadOnly):
            edit()
