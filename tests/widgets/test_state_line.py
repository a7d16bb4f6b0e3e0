"""The state line says the truth in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from liveobj.objects.shared_document import SharedState
from widgets.people import ShownPerson
from widgets.state_line import NetworkWords, StateDetails, StateLine, details, summary
from widgets.theme import Theme

GOOD = SharedState(
    "Plan", saved=True, unsent=0, people=3, catching_up=False, can_edit=True, problem=None
)
NETWORK = NetworkWords("Office network: multicast ok", "This PC reaches the others.")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (GOOD, "saved here · 3 people have it · 0 unsent"),
        (replace(GOOD, people=1), "saved here · only you have it · 0 unsent"),
        (replace(GOOD, people=0, unsent=4), "saved here · offline · 4 unsent"),
        (replace(GOOD, saved=False), "saving · 3 people have it · 0 unsent"),
        (replace(GOOD, problem="The disk is full."), "not saved · 3 people have it · 0 unsent"),
        (replace(GOOD, catching_up=True), "saved here · catching up · 3 people have it · 0 unsent"),
        (
            replace(GOOD, can_edit=False),
            "saved here · 3 people have it · 0 unsent · you can read it",
        ),
    ],
)
def test_the_words(state: SharedState, words: str) -> None:
    assert summary(state) == words


def test_the_details_explain_every_part_and_the_problem() -> None:
    rows = dict(details(replace(GOOD, problem="The disk is full.", can_edit=False), NETWORK))
    assert rows["Saved"] == "The disk is full."
    assert set(rows) == {"Saved", "Together", "Unsent", "Rights", "Network"}
    assert rows["Network"] == NETWORK.sentence


def test_a_click_opens_the_details(theme: Theme, qtbot: Any) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(700, 500)
    line = StateLine(theme, NETWORK, window)
    line.setGeometry(0, 460, 700, 40)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    assert not line._button.isVisible()
    line.show_state(GOOD, [ShownPerson("Ada", "#c1277a", me=True)])
    assert line.text == summary(GOOD)
    line._button.click()
    card = window.findChild(StateDetails)
    assert card.isVisible()
    assert window.rect().contains(card.geometry())
    qtbot.keyClick(card, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.findChild(StateDetails) is None)
