"""The state line says "saved" only when everything that was written in the page is on the disk."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

from app.object_page import ObjectPage
from tests.app.conftest import MakePlace, Place
from widgets.chat.chat_view import ChatView
from widgets.kinds import KINDS
from widgets.table.table_view import TableView

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def front(place: Place) -> ObjectPage:
    page = place.window.front
    assert page is not None
    return page


def wait_saved(place: Place, qtbot: Any) -> None:
    qtbot.waitUntil(lambda: place.window.state_text.startswith("saved"))


def test_a_letter_and_that_it_is_not_saved_are_seen_in_the_same_frame(
    make_place: MakePlace, qtbot: Any
) -> None:
    place = make_place("Ada")
    place.run("note.new")
    for letter in "quick":
        wait_saved(place, qtbot)
        qtbot.keyClick(place.editor, letter)
        assert not place.window.state_text.startswith("saved"), "nothing has run since the key"
    wait_saved(place, qtbot)
    shared = front(place).opened.opening.shared
    assert shared.flush()


@pytest.mark.parametrize("word", [kind.word for kind in KINDS])
def test_no_kind_is_called_saved_after_an_edit(
    word: str, make_place: MakePlace, qtbot: Any
) -> None:
    place = make_place("Ada")
    place.run(f"{word}.new")
    wait_saved(place, qtbot)
    front(place).opened.opening.shared.rename("Another name")
    assert not place.window.state_text.startswith("saved")
    wait_saved(place, qtbot)


def test_a_desktop_is_not_called_saved_while_a_note_on_it_is_not(
    make_place: MakePlace, qtbot: Any
) -> None:
    place = make_place("Ada")
    place.run("desktop.new")
    view = front(place).view
    assert view.place_new(KINDS["note"])
    qtbot.waitUntil(lambda: bool([s for s in place.session.unclosed() if "Note" in s.title]))
    inside = [shared for shared in place.session.unclosed() if "Note" in shared.title]
    wait_saved(place, qtbot)
    inside[0].document.text("text").insert(0, "on the desktop")
    assert not place.window.state_text.startswith("saved")
    wait_saved(place, qtbot)


def test_what_is_typed_into_a_cell_and_not_entered_is_not_called_saved(
    make_place: MakePlace, qtbot: Any
) -> None:
    place = make_place("Ada")
    place.run("table.new")
    view = front(place).view
    assert isinstance(view, TableView)
    wait_saved(place, qtbot)
    qtbot.keyClick(view.grid, "4")
    editor = view.grid.findChild(QLineEdit)
    assert place.window.state_text.startswith("draft not saved")
    qtbot.keyClick(editor, "2")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not place.window.state_text.startswith("draft"))
    wait_saved(place, qtbot)
    qtbot.keyClick(view.formula, "5")
    assert place.window.state_text.startswith("draft not saved")
    qtbot.keyClick(view.formula, Qt.Key.Key_Return)
    wait_saved(place, qtbot)


def test_a_message_that_is_not_sent_is_a_draft(make_place: MakePlace, qtbot: Any) -> None:
    place = make_place("Ada")
    place.run("chat.new")
    view = front(place).view
    assert isinstance(view, ChatView)
    wait_saved(place, qtbot)
    qtbot.keyClicks(view.composer, "lunch")
    assert place.window.state_text.startswith("draft not saved")
    qtbot.keyClick(view.composer, Qt.Key.Key_Return)
    assert not place.window.state_text.startswith("saved")
    wait_saved(place, qtbot)
