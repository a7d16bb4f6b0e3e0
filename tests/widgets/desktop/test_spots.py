"""What people tell each other of themselves: there and back, and whatever else may come."""

from __future__ import annotations

import random

import pytest

from liveobj.channels.presence import Presence, PresenceEntry
from liveobj.documents.observing import Plain
from liveobj.objects.desktop_items import Frame
from widgets.desktop.others import AWAY_S, IDLE_OPACITY, IDLE_S, Others
from widgets.desktop.spots import SELECTED_MAX, Spot, read_spot

IDS = tuple(f"{number:016x}" for number in range(1000))
FULL = Spot((1.5, -2.5), Frame(0, 0, 1e6, 2e6), IDS[:SELECTED_MAX], IDS[3], (-1e7, 1e7), (1e5, 1e5))


@pytest.mark.parametrize(
    "spot", [Spot(), Spot((1, 2)), Spot(selected=IDS[:2], inside=IDS[1]), FULL]
)
def test_a_spot_comes_back_as_it_was(spot: Spot) -> None:
    assert read_spot(spot.write()) == spot


def test_the_largest_spot_is_taken_by_presence() -> None:
    mine = Presence(PresenceEntry("Ada", "#006892"), lambda: None)
    mine.set_spot(FULL.write())
    many = Spot(selected=IDS)
    mine.set_spot(many.write())
    assert read_spot(mine.mine.spot) == Spot(selected=IDS[:SELECTED_MAX])


@pytest.mark.parametrize(
    "value",
    [
        None,
        7,
        "desktop",
        {},
        {"canvas": "map"},
        {"canvas": ["desktop"]},
    ],
)
def test_what_is_not_about_a_desktop_is_passed_over(value: Plain) -> None:
    assert read_spot(value) is None


@pytest.mark.parametrize(
    "said",
    [
        {"at": [1], "seen": [1, 2, 3], "selected": "x", "inside": b"short", "dragged": None},
        {"at": [float("nan"), 0], "seen": [0, 0, -5, 3], "selected": b"x" * 3, "resized": [0, 9]},
        {"at": ["1", "2"], "seen": [0, 0, float("inf"), 1], "inside": 7, "resized": [True, 1]},
        {"at": [1e300, 0], "seen": [0, 0, 0, 0], "selected": b"x" * 5000},
    ],
)
def test_parts_that_cannot_be_read_are_as_if_they_were_not_said(said: dict[str, Plain]) -> None:
    assert read_spot({"canvas": "desktop", **said}) == Spot()


def test_random_values_never_raise() -> None:
    chance = random.Random(3)
    values: list[Plain] = [None, 1, -2.5, "x", b"", b"y" * 8, [], [1, 2], [1, 2, 3, 4], {}, True]
    for _ in range(500):
        names = ("at", "seen", "selected", "inside", "dragged", "resized")
        said: dict[str, Plain] = {name: chance.choice(values) for name in names}
        assert read_spot({"canvas": "desktop", **said}) is not None


def test_pointers_fade_when_they_rest_and_go_when_their_owner_is_away() -> None:
    now = [100.0]
    presence = Presence(PresenceEntry("Ada", "#006892"), lambda: None)
    others = Others(presence, lambda: now[0])

    def says(spot: Plain) -> None:
        presence.accept(5, {"name": "Jun", "colour": "#c1277a", "spot": spot})
        others.refresh()

    says(Spot((1, 2)).write())
    jun = others.people[5]
    assert jun.opacity(now[0]) == 1.0
    assert others.next_fade_s() == IDLE_S
    now[0] += IDLE_S
    says(Spot((1, 2), selected=IDS[:1]).write())
    assert others.people[5].opacity(now[0]) == IDLE_OPACITY
    assert others.next_fade_s() == pytest.approx(AWAY_S - IDLE_S)
    now[0] += AWAY_S
    assert others.people[5].opacity(now[0]) == 0.0
    assert others.next_fade_s() is None
    says(Spot((3, 2)).write())
    assert others.people[5].opacity(now[0]) == 1.0
    says("nonsense")
    assert others.people[5].opacity(now[0]) == 0.0
    presence.keep_only(())
    others.refresh()
    assert others.people == {}
