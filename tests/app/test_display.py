"""Whether there is a screen, without asking Qt."""

from __future__ import annotations

import pytest

from app.display import display_problem


@pytest.mark.parametrize(
    ("environment", "part"),
    [
        ({}, "no display"),
        ({"QT_QPA_PLATFORM": "xcb", "WAYLAND_DISPLAY": "w"}, "no display"),
        ({"DISPLAY": ":4711"}, ":4711 does not answer"),
        ({"DISPLAY": "rubbish"}, "rubbish does not answer"),
        ({"DISPLAY": "localhost:4711"}, "does not answer"),
    ],
)
def test_no_screen_is_one_sentence(environment: dict[str, str], part: str) -> None:
    assert part in display_problem(environment)


@pytest.mark.parametrize(
    "environment", [{"QT_QPA_PLATFORM": "offscreen"}, {"WAYLAND_DISPLAY": "wayland-0"}]
)
def test_other_screens_are_left_to_qt(environment: dict[str, str]) -> None:
    assert display_problem(environment) == ""


def test_a_screen_that_answers(virtual_display: str) -> None:
    assert display_problem({"DISPLAY": virtual_display}) == ""
