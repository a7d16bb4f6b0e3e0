"""Who is online and what they look at; following; being idle, away, hidden."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtWidgets import QApplication, QMenu

from liveobj.channels.presence import Attention
from tests.app.conftest import MakePlace, Place
from tests.app.memory_network import MemoryHub
from widgets.people import Here

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture
def pair(make_place: MakePlace, hub: MemoryHub) -> tuple[Place, Place]:
    """Ada and Jun, with two notes that both have open; both look at the second."""
    ada, jun = make_place("Ada"), make_place("Jun")
    for _ in range(2):
        ada.run("note.new")
    for page in ada.window.object_pages():
        jun.desk.open_file(page.file)
    look(hub, ada, jun)
    return ada, jun


def look(hub: MemoryHub, *places: Place) -> None:
    for place in places:
        place.desk.office.show()
    hub.run()
    for place in places:
        place.desk.office.show()
    hub.run()


def test_the_side_says_who_looks_at_what(pair: tuple[Place, Place], hub: MemoryHub) -> None:
    ada, jun = pair
    assert [p.words for p in ada.desk.office.people()] == ["in Note 16 November (2)"]
    jun.run("tab.1")
    look(hub, jun, ada)
    assert [p.words for p in ada.desk.office.people()] == ["in Note 16 November"]
    assert ada.desk.describe()["people"] == ["Jun: in Note 16 November"]
    jun.run("view.home")
    look(hub, jun, ada)
    assert ada.desk.office.people()[0].here is Here.BEHIND
    row = ada.window.side.people.rows[0]
    assert row.accessibleName() == "Jun, has Note 16 November open"


def test_idle_and_away_are_told(pair: tuple[Place, Place], hub: MemoryHub) -> None:
    ada, jun = pair
    jun.desk.office._idle_timer.timeout.emit()
    look(hub, jun, ada)
    assert ada.desk.office.people()[0].words == "idle, in Note 16 November (2)"
    jun.desk.office.note_input()
    look(hub, jun, ada)
    assert ada.desk.office.people()[0].here is Here.LOOKING
    jun.window.showMinimized()
    look(hub, jun, ada)
    assert ada.desk.office.people()[0].words == "away"
    front = ada.window.front
    assert front is not None
    assert [person.words for person in front.people] == ["Ada (you)", "Jun (away)"]


def test_who_hides_is_not_shown_but_counted(
    pair: tuple[Place, Place], hub: MemoryHub, qtbot: Any
) -> None:
    ada, jun = pair
    jun.run("presence.hide")
    look(hub, jun, ada)
    assert ada.desk.office.people() == []
    assert jun.settings.now.presence_hidden
    qtbot.waitUntil(lambda: "2 people here" in ada.window.state_text)
    jun.run("presence.hide")
    look(hub, jun, ada)
    assert [person.name for person in ada.desk.office.people()] == ["Jun"]


def test_another_name_reaches_everybody(pair: tuple[Place, Place], hub: MemoryHub) -> None:
    ada, jun = pair
    jun.settings.change(name="Jun Sato", colour="#006892")
    look(hub, jun, ada)
    assert [person.name for person in ada.desk.office.people()] == ["Jun Sato"]
    assert jun.paths.settings.read_text().count("Jun Sato") == 1


def test_following_shows_what_they_look_at_until_one_does_something(
    pair: tuple[Place, Place], hub: MemoryHub
) -> None:
    ada, jun = pair
    node = ada.desk.office.people()[0].node
    ada.desk.office.follow(node)
    assert ada.window.top.following.text() == "Following Jun"
    jun.run("tab.1")
    look(hub, jun, ada)
    assert ada.window.front is ada.window.object_pages()[0]
    ada.editor.setFocus()
    event = QEvent(QEvent.Type.KeyPress)
    ada.desk.office.eventFilter(ada.window, event)
    assert ada.desk.office.following is None
    assert not ada.window.top.following.isVisible()
    ada.desk.office.follow(12345)
    assert ada.desk.office.following is None


def test_a_person_has_a_menu(pair: tuple[Place, Place], hub: MemoryHub) -> None:
    ada, jun = pair
    jun.run("tab.1")
    look(hub, jun, ada)
    ada.window.side.person_asked.emit(ada.desk.office.people()[0], QPoint(5, 5))
    menu = next(w for w in QApplication.topLevelWidgets() if isinstance(w, QMenu) and w.isVisible())
    assert [action.text() for action in menu.actions()] == ["Follow Jun", "Show Note 16 November"]
    menu.actions()[1].trigger()
    menu.close()
    assert ada.window.front is ada.window.object_pages()[0]


def test_who_closes_says_good_bye_and_who_comes_back_is_seen(
    pair: tuple[Place, Place], hub: MemoryHub, qtbot: Any
) -> None:
    ada, jun = pair
    file = jun.window.object_pages()[1].file
    jun.run("object.close")
    look(hub, ada)
    front = ada.window.front
    assert front is not None
    assert [person.name for person in front.people] == ["Ada"]
    jun.desk.open_file(file)
    look(hub, jun, ada)
    assert [person.name for person in front.people] == ["Ada", "Jun"]
    presence = jun.window.object_pages()[-1].opened.opening.shared.presence
    assert presence.mine.attention is Attention.LOOKING


def test_who_drops_out_is_shown_as_reconnecting(pair: tuple[Place, Place], hub: MemoryHub) -> None:
    ada, jun = pair
    for page in jun.window.object_pages():
        page.opened.opening.shared.channel.leave()
    look(hub, ada)
    assert ada.desk.office.people()[0].words == "reconnecting"
    for page in jun.window.object_pages():
        page.opened.opening.shared.rejoin()
    look(hub, ada, jun)
    assert ada.desk.office.people()[0].here is Here.LOOKING


def test_a_disc_asks_for_the_menu_of_its_person(
    pair: tuple[Place, Place], qtbot: Any, hub: MemoryHub
) -> None:
    ada, _ = pair
    people = ada.window.top.people
    asked: list[str] = []
    people.asked.connect(lambda person: asked.append(person.name))
    qtbot.mousePress(people, Qt.MouseButton.LeftButton, pos=QPoint(30, 10))
    qtbot.mousePress(people, Qt.MouseButton.LeftButton, pos=QPoint(5, 10))
    assert asked == ["Jun", "Ada"]
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, QMenu):
            widget.close()
