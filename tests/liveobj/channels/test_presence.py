"""Presence: what members say of themselves besides their names."""

from __future__ import annotations

import random

import pytest

from liveobj.channels.messages import BadMessage
from liveobj.channels.presence import Caret, Presence, PresenceEntry
from liveobj.documents.observing import Plain


def two() -> tuple[Presence, Presence]:
    """Ada, and what Jun knows of her after every change of hers."""
    jun = Presence(PresenceEntry("Jun", "#006892"), lambda: None)
    ada = Presence(PresenceEntry("Ada", "#c1277a"), lambda: jun.accept(1, ada.mine.fields()))
    return ada, jun


@pytest.mark.parametrize(
    "spot",
    [
        ["canvas", 12.5, -3],
        {"at": [1, 2], "selected": [b"abc"], "view": [0.0, 0.0, 1.5]},
        "x" * 500,
        0,
        False,
    ],
)
def test_a_spot_arrives_as_it_was_set(spot: Plain) -> None:
    ada, jun = two()
    ada.set_spot(spot)
    assert jun.others[1].spot == spot
    ada.set_spot(None)
    assert jun.others[1].spot is None


def test_a_spot_goes_beside_the_caret() -> None:
    ada, jun = two()
    ada.set_spot([1])
    ada.set_caret(Caret("text", b"h", b"a"))
    assert jun.others[1] == PresenceEntry("Ada", "#c1277a", Caret("text", b"h", b"a"), [1])


@pytest.mark.parametrize(
    "spot",
    [
        "x" * 600,
        [[[[[1]]]]],
        list(range(17)),
        2**70,
        {1: 2},
        {"of": object()},
    ],
)
def test_a_spot_that_nobody_would_take_is_refused_before_it_is_sent(spot: Plain) -> None:
    ada, jun = two()
    ada.set_spot(["before"])
    with pytest.raises(ValueError, match="nobody would take this spot"):
        ada.set_spot(spot)
    assert jun.others[1].spot == ["before"]


def test_entries_of_versions_that_know_no_spot_are_read() -> None:
    assert PresenceEntry.read({"name": "Ada", "colour": "#c1277a"}).spot is None
    assert "spot" not in PresenceEntry("Ada", "#c1277a").fields()


def test_any_value_is_taken_or_refused() -> None:
    chance = random.Random(7)

    def value(depth: int) -> object:
        if depth == 0 or chance.random() < 0.4:
            return chance.choice([None, True, 3, 2.5, "word", b"\x00", "x" * 300, float("nan")])
        if chance.random() < 0.5:
            return [value(depth - 1) for _ in range(chance.randrange(4))]
        return {str(n): value(depth - 1) for n in range(chance.randrange(4))}

    taken = 0
    for _ in range(500):
        try:
            entry = PresenceEntry.read({"name": "x", "colour": "#000000", "spot": value(6)})
        except BadMessage:
            continue
        taken += 1
        PresenceEntry.read(entry.fields())
    assert 0 < taken < 500
