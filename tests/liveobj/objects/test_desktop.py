"""The desktop: what merges how, what is undone, what is passed over."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from liveobj.capabilities import view_only
from liveobj.documents import ReadOnly
from liveobj.documents.observing import Plain
from liveobj.objects.desktop import (
    Desktop,
    ItemsChange,
    Placing,
    names_given,
    new_desktop,
    open_desktop,
)
from liveobj.objects.desktop_items import (
    COORDINATE_MAX,
    SIDE_MAX,
    SIDE_MIN,
    Form,
    Frame,
    around,
    read_item,
)
from liveobj.objects.text_note import new_note
from liveobj.references import read_reference
from tests.liveobj.support import LocalOffice

DESKTOP = new_desktop("Team", random.Random(5).randbytes)
NOTE = new_note("Plan", random.Random(6).randbytes)
FRAME = Frame(10, 20, 300, 200)
SOMEBODY = "0123456789abcdef"


class Office(LocalOffice[Desktop]):
    """Ada and Bob, who hear of each other when `settle` is called."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, DESKTOP, open_desktop)
        self.ada, self.bob = self.open(1), self.open(2)
        self.settle()

    def agreed(self) -> Desktop:
        self.settle()
        assert self.ada.items == self.bob.items
        assert self.ada.in_order() == self.bob.in_order()
        return self.ada


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def places(desktop: Desktop, count: int) -> list[str]:
    return [desktop.place(NOTE, FRAME.moved(100 * n, 0)) for n in range(count)]


def test_what_is_placed_is_seen_by_the_other(office: Office) -> None:
    identity = office.ada.place(NOTE, FRAME)
    item = office.agreed().items[identity]
    assert item.form is Form.OBJECT
    assert item.frame == FRAME
    assert read_reference(item.reference) == NOTE


def test_a_move_and_a_resize_at_the_same_time_both_hold(office: Office) -> None:
    (identity,) = places(office.ada, 1)
    office.settle()
    office.ada.arrange({identity: FRAME.moved(50, 60)})
    office.bob.arrange({identity: Frame(FRAME.x, FRAME.y, 400, 500)})
    assert office.agreed().items[identity].frame == Frame(60, 80, 400, 500)


def test_two_moves_of_one_item_end_in_one_place_of_the_two(office: Office) -> None:
    (identity,) = places(office.ada, 1)
    office.settle()
    office.ada.arrange({identity: FRAME.moved(1, 2)})
    office.bob.arrange({identity: FRAME.moved(100, 200)})
    end = office.agreed().items[identity].frame
    assert end in (FRAME.moved(1, 2), FRAME.moved(100, 200))


def test_who_deletes_wins_over_who_moves_and_can_take_it_back(office: Office) -> None:
    (identity,) = places(office.ada, 1)
    office.settle()
    office.ada.delete([identity])
    office.bob.arrange({identity: FRAME.moved(5, 5)})
    assert office.agreed().items == {}
    assert office.ada.document.undo()
    assert office.agreed().items[identity].reference


def test_undo_takes_back_ones_own_gestures_one_by_one(office: Office) -> None:
    first = office.ada.place(NOTE, FRAME)
    office.settle()
    second = office.bob.place(NOTE, FRAME)
    office.settle()
    office.ada.arrange({first: FRAME.moved(5, 0)})
    office.ada.arrange({first: FRAME.moved(9, 0)})
    office.bob.arrange({second: FRAME.moved(7, 0)})
    office.settle()
    assert office.ada.document.undo()
    assert office.agreed().items[first].frame == FRAME.moved(5, 0)
    assert office.ada.document.undo()
    assert office.ada.document.undo()
    assert set(office.agreed().items) == {second}
    assert office.ada.items[second].frame == FRAME.moved(7, 0)
    assert not office.ada.document.undo()
    assert office.ada.document.redo()
    assert set(office.agreed().items) == {first, second}


def test_stacking(office: Office) -> None:
    a, b, c, d = places(office.ada, 4)

    def order(desktop: Desktop) -> str:
        names = {a: "a", b: "b", c: "c", d: "d"}
        return "".join(names[item.identity] for item in desktop.in_order())

    assert order(office.ada) == "abcd"
    office.ada.bring_to_front([a, c])
    assert order(office.ada) == "bdac"
    office.ada.send_to_back([c, d])
    assert order(office.ada) == "dcba"
    office.ada.bring_forward([d])
    assert order(office.ada) == "cdba"
    office.ada.send_backward([a])
    assert order(office.ada) == "cdab"
    office.ada.send_backward([c])
    office.ada.bring_forward([b])
    assert order(office.agreed()) == "cdab"
    for _ in range(120):  # halving the space between two would end after some fifty times
        office.ada.bring_forward([c])
        office.ada.send_backward([c])
    assert order(office.agreed()) == "cdab"


def test_two_who_place_at_the_same_time_can_still_be_put_in_between(office: Office) -> None:
    low = office.ada.place(NOTE, FRAME)
    office.settle()
    office.ada.place(NOTE, FRAME)
    office.bob.place(NOTE, FRAME)
    first, second, third = (item.identity for item in office.agreed().in_order())
    assert first == low
    office.ada.bring_forward([low])
    assert [item.identity for item in office.agreed().in_order()] == [second, low, third]


def test_groups_lie_in_groups(office: Office) -> None:
    a, b, c, d = places(office.ada, 4)
    office.ada.group([a, b])
    office.ada.group([b, c])
    desktop = office.agreed()
    assert desktop.together([c]) == {a, b, c}
    desktop.ungroup([a])
    assert office.bob.together([c]) == {a, b, c}
    office.settle()
    assert office.bob.together([c]) == {c}
    assert office.bob.together([a]) == {a, b}
    office.bob.ungroup([a])
    assert office.agreed().together([a]) == {a}
    office.ada.group([d])
    assert office.ada.items[d].groups == ()


def test_names(office: Office) -> None:
    (identity,) = places(office.ada, 1)
    office.ada.entitle(identity, "  Shopping \n list ")
    assert office.agreed().items[identity].title == "Shopping list"
    assert names_given(office.bob.document) == "Shopping list"
    office.bob.document.map("items").set("x/title", 7)
    assert names_given(office.bob.document) == "Shopping list"
    office.bob.entitle(identity, "")
    assert office.agreed().items[identity].title == ""


def test_who_may_only_look_changes_nothing(office: Office, tmp_path: Path) -> None:
    (identity,) = places(office.ada, 1)
    guest = office.open(3, view_only(DESKTOP))
    office.settle()
    assert set(guest.items) == {identity}
    for edit in (
        lambda: guest.place(NOTE, FRAME),
        lambda: guest.arrange({identity: FRAME}),
        lambda: guest.delete([identity]),
        lambda: guest.ungroup([identity]),
    ):
        with pytest.raises(ReadOnly):
            edit()
    assert set(office.agreed().items) == {identity}


def test_everything_is_there_after_a_restart(office: Office) -> None:
    placings = [Placing(b"x", FRAME.moved(n, n), Form.LINK, f"n{n}") for n in range(50)]
    office.ada.place_all(placings)
    before = dict(office.agreed().items)
    office.ada.close()
    assert dict(office.open(1).items) == before


def test_observers_hear_what_has_changed_and_who_did_it(office: Office) -> None:
    heard: list[ItemsChange] = []
    office.bob.observe_items(heard.append)
    a, b = places(office.ada, 2)
    office.settle()
    assert set().union(*(change.changed for change in heard)) == {a, b}
    assert not any(change.origin.mine for change in heard)
    heard.clear()
    office.bob.delete([a])
    assert [(change.removed, change.label) for change in heard] == [(frozenset([a]), "delete")]
    office.bob.arrange({"gone": FRAME, b: office.bob.items[b].frame})
    assert len(heard) == 1


WHAT: Plain = {"form": "object", "reference": b"x"}


@pytest.mark.parametrize(
    "key", ["", "/", "x/what", f"{SOMEBODY}", f"{SOMEBODY.upper()}/what", f"{SOMEBODY}x/what"]
)
def test_names_that_no_item_has_are_passed_over(office: Office, key: str) -> None:
    if key:
        office.ada.document.map("items").set(key, WHAT)
    assert office.agreed().items == {}


@pytest.mark.parametrize(
    "what",
    [
        None,
        "object",
        {"form": "shape", "reference": b"x"},
        {"form": "object", "reference": "x"},
        {"form": "object"},
        {"form": "object", "reference": b"x" * (1024 * 1024 + 1)},
    ],
)
def test_what_does_not_say_what_it_is_is_not_shown_and_not_lost(
    office: Office, what: Plain
) -> None:
    items = office.ada.document.map("items")
    items.set(f"{SOMEBODY}/what", what)
    items.set(f"{SOMEBODY}/place", [1, 2])
    assert office.agreed().items == {}
    assert f"{SOMEBODY}/place" in office.bob.document.map("items")


@pytest.mark.parametrize(
    "fields",
    [
        {"place": "here", "size": None, "order": "high", "groups": 7, "title": 3},
        {"place": [1], "size": [1, 2, 3], "order": [], "groups": [1, "x"], "title": b"x"},
        {"place": [float("nan"), 1], "size": [float("inf"), 1], "order": float("nan")},
        {"place": [True, False], "size": ["1", "2"], "order": True, "future": {"x": 1}},
    ],
)
def test_fields_that_cannot_be_read_are_as_if_they_were_not_there(
    fields: dict[str, Plain],
) -> None:
    plain = read_item(SOMEBODY, {"what": WHAT})
    assert plain is not None
    assert read_item(SOMEBODY, {"what": WHAT, **fields}) == plain


def test_numbers_without_bounds_are_brought_into_them() -> None:
    item = read_item(
        SOMEBODY,
        {"what": WHAT, "place": [-1e300, 1e300], "size": [0, 1e300], "order": 1e300},
    )
    assert item is not None
    assert item.frame == Frame(-COORDINATE_MAX, COORDINATE_MAX, SIDE_MIN, SIDE_MAX)


def test_unknown_fields_are_kept_and_go_with_their_item(office: Office) -> None:
    (identity,) = places(office.ada, 1)
    office.ada.document.map("items").set(f"{identity}/future", "something")
    office.settle()
    office.bob.arrange({identity: FRAME.moved(1, 1)})
    office.settle()
    assert office.ada.document.map("items").get(f"{identity}/future") == "something"
    office.bob.delete([identity])
    office.settle()
    assert len(office.ada.document.map("items")) == 0


def test_frames() -> None:
    assert around([]) is None
    assert around([Frame(0, 0, 10, 10), Frame(-5, 20, 10, 10)]) == Frame(-5, 0, 15, 30)
    assert Frame(0, 0, 10, 10).meets(Frame(9, 9, 5, 5))
    assert not Frame(0, 0, 10, 10).meets(Frame(10, 0, 5, 5))
    assert Frame(0, 0, 10, 10).holds(0, 0)
    assert not Frame(0, 0, 10, 10).holds(10, 0)
