"""The state line says the truth in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from liveobj.objects.shared_document import SharedState
from widgets.people import ShownPerson
from widgets.state_line import StateDetails, StateLine
from widgets.state_words import NetworkWords, details, summary
from widgets.theme import Theme

GOOD = SharedState(
    "Plan", saved=True, unsent=0, people=3, catching_up=False, can_edit=True, problem=None
)
NETWORK = NetworkWords("Office network: multicast ok", "This PC reaches the others.")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (GOOD, "saved · 3 people here"),
        (replace(GOOD, people=1), "saved · only you are here"),
        (replace(GOOD, people=1, unsent=4), "saved · only you are here"),
        (replace(GOOD, people=0, unsent=4), "saved · offline · 4 changes not sent"),
        (
            replace(GOOD, unsent=1),
            "saved · 3 people here · 1 change not yet received by the others",
        ),
        (
            replace(GOOD, unsent=20_000),
            "saved · 3 people here · many changes not yet received by the others",
        ),
        (replace(GOOD, saved=False), "saving… · 3 people here"),
        (replace(GOOD, draft=True), "draft not saved · 3 people here"),
        (replace(GOOD, problem="The disk is full."), "not saved · 3 people here"),
        (replace(GOOD, catching_up=True), "saved · catching up · 3 people here"),
        (replace(GOOD, can_edit=False), "saved · 3 people here · you can read it"),
    ],
)
def test_the_words(state: SharedState, words: str) -> None:
    assert summary(state) == words


def test_the_details_explain_every_part_and_the_problem() -> None:
    rows = dict(details(replace(GOOD, problem="The disk is full.", can_edit=False), NETWORK))
    assert rows["Saved"] == "The disk is full."
    assert set(rows) == {"Saved", "Together", "Sent", "Rights", "Network"}
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


class HandAlarm:
    """Rings when the test says so."""

    def __init__(self) -> None:
        self.callback: Callable[[], None] | None = None

    def set(self, _delay_s: float, callback: Callable[[], None]) -> None:
        self.callback = callback

    def clear(self) -> None:
        self.callback = None

    def ring(self) -> None:
        callback, self.callback = self.callback, None
        assert callback is not None
        callback()


def test_unsaved_is_shown_at_once_and_saved_a_little_later(theme: Theme, qtbot: Any) -> None:
    settling = HandAlarm()
    line = StateLine(theme, NETWORK, settling=settling)
    qtbot.addWidget(line)
    line.show_state(GOOD, (), line)
    assert line.text.startswith("saved")
    line.show_state(replace(GOOD, saved=False), (), line)
    assert line.text.startswith("saving")
    line.show_state(GOOD, (), line)
    line.show_state(replace(GOOD, people=2), (), line)
    assert line.text == "saving… · 2 people here", "one may be about to type the next letter"
    line.show_state(replace(GOOD, saved=False), (), line)
    assert settling.callback is None
    line.show_state(GOOD, (), line)
    settling.ring()
    assert line.text == "saved · 3 people here"
    line.show_state(replace(GOOD, saved=False), (), line)
    line.show_state(GOOD, (), "another object")
    assert line.text.startswith("saved")


def test_what_is_received_soon_is_not_mentioned(theme: Theme, qtbot: Any) -> None:
    sending = HandAlarm()
    line = StateLine(theme, NETWORK, sending=sending)
    qtbot.addWidget(line)
    line.show_state(replace(GOOD, unsent=2), (), line)
    assert line.text == "saved · 3 people here"
    sending.ring()
    assert line.text == "saved · 3 people here · 2 changes not yet received by the others"
    line.show_state(replace(GOOD, unsent=3), (), line)
    assert line.text.endswith("3 changes not yet received by the others")
    line.show_state(GOOD, (), line)
    assert line.text == "saved · 3 people here"
