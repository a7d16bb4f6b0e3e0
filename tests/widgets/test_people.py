"""People as discs: initials, order, the number of those who do not fit."""

from __future__ import annotations

from typing import Any

import pytest

from widgets.people import SHOWN_MAX, People, ShownPerson, initials
from widgets.theme import Theme


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Ada Lovelace", "AL"),
        ("ada", "A"),
        ("Jean-Luc van den Berg", "JB"),
        ("", "?"),
        ("(x)", "?"),
    ],
)
def test_initials(name: str, letters: str) -> None:
    assert initials(name) == letters


def test_the_rest_is_counted(theme: Theme, qtbot: Any) -> None:
    people = People(theme)
    qtbot.addWidget(people)
    assert people.sizeHint().width() == 0
    people.show_people([ShownPerson(f"P{n}", "#c1277a", me=n == 0) for n in range(SHOWN_MAX + 3)])
    assert people.accessibleName().startswith("People here: P0 (you), P1")
    assert people.grab().width() == people.sizeHint().width() * people.devicePixelRatio()


def test_whether_somebody_is_who_they_say_is_told() -> None:
    assert ShownPerson("Jun", "#c1277a").proof == "Jun · not verified"
    assert ShownPerson("Jun", "#c1277a", fingerprint="ab12 cd34").proof == "Jun · ab12 cd34"
    assert ShownPerson("Ada", "#c1277a", me=True).proof == "Ada (you)"
