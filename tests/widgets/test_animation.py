"""Animated pictures: one after the other while they are seen, within bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QObject
from PySide6.QtGui import QImage

from tests.widgets.gifs import gif
from widgets import animation
from widgets.animation import Animation, may_move

RED, GREEN, BLUE = "#ff0000", "#00ff00", "#0000ff"


class Hand:
    """An alarm that rings when the test says so."""

    def __init__(self) -> None:
        self.delay_s: float | None = None
        self._callback: Callable[[], None] | None = None

    def set(self, delay_s: float, callback: Callable[[], None]) -> None:
        self.delay_s, self._callback = delay_s, callback

    def clear(self) -> None:
        self.delay_s = self._callback = None

    def ring(self) -> bool:
        callback = self._callback
        self.clear()
        if callback is not None:
            callback()
        return callback is not None


class Watched:
    """An animation that is painted as long as it gives something new."""

    def __init__(self, data: bytes, clock: Callable[[], float] = lambda: 0.0) -> None:
        self.parent, self.alarm = QObject(), Hand()
        self.animation = Animation(data, self.parent, self.alarm, clock)
        self.colours: list[str] = []
        self.animation.stepped.connect(self._on_stepped)

    def _on_stepped(self, image: QImage) -> None:
        self.colours.append(image.pixelColor(0, 0).name())

    def look(self, pictures: int) -> list[str]:
        for _ in range(pictures):
            self.animation.painted()
            if not self.alarm.ring():
                break
        return self.colours


@pytest.fixture(autouse=True)
def moving(monkeypatch: pytest.MonkeyPatch, qapp: Any) -> None:
    monkeypatch.setattr(animation, "motion_wanted", lambda: True)


def test_pictures_follow_each_other_and_begin_again() -> None:
    assert Watched(gif([1, 2, 3])).look(5) == [GREEN, BLUE, RED, GREEN, BLUE]


def test_it_ends_after_as_many_rounds_as_it_says() -> None:
    assert Watched(gif([1, 2], repeats=None)).look(9) == [GREEN]
    assert Watched(gif([1, 2], repeats=1)).look(9) == [GREEN, RED, GREEN]


def test_what_nobody_sees_stands_still() -> None:
    watched = Watched(gif([1, 2, 3]))
    watched.look(1)
    assert not watched.alarm.ring()
    assert watched.look(1) == [GREEN, BLUE]


def test_less_motion_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(animation, "motion_wanted", lambda: False)
    assert Watched(gif([1, 2, 3])).look(3) == []


def test_delays_are_those_of_the_file_within_bounds() -> None:
    for delay_cs, expected_s in ((5, 0.05), (0, 0.1), (1, 0.1), (300, 3.0)):
        watched = Watched(gif([1, 2], delay_cs))
        watched.animation.painted()
        assert watched.alarm.delay_s == pytest.approx(expected_s)


def test_what_takes_long_to_unpack_comes_slower() -> None:
    seconds = iter(range(100))
    watched = Watched(gif([1, 2, 3]), lambda: float(next(seconds)))
    watched.look(1)
    watched.animation.painted()
    assert watched.alarm.delay_s == pytest.approx(5.0)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GIF89a",
        gif([1]),
        gif([1, 2])[:-12],
        b"GIF89a" + b"\xff" * 40,
        gif([1, 2]).replace(b"GIF89a\x02\x00\x02\x00", b"GIF89a\xff\xff\xff\xff"),
    ],
)
def test_what_is_still_damaged_or_too_large_stands_still(data: bytes) -> None:
    assert len(Watched(data).look(4)) <= 4
    assert Watched(data).look(4).count(GREEN) <= 1


def test_closed_ones_give_nothing_more() -> None:
    watched = Watched(gif([1, 2, 3]))
    watched.animation.painted()
    watched.animation.close()
    watched.animation.close()
    assert watched.look(3) == []


def test_only_kinds_that_can_move_are_looked_at() -> None:
    assert may_move(gif([1, 2]))
    assert not may_move(b"\x89PNG")
