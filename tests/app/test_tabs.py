"""Tabs: titles that can be changed, keys that walk, pages that come back."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QPushButton, QToolButton

from app.object_lists import OpenList
from liveobj.capabilities import view_only
from liveobj.objects.catalogue import MAKERS
from liveobj.references import write_reference_file
from liveobj.storage import sqlite_file
from tests.app.conftest import MakePlace, Place
from tests.app.memory_network import MemoryHub
from widgets.action import Action
from widgets.error_card import ErrorCard
from widgets.object_tabs import TitleField

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def three(place: Place) -> list[Any]:
    for _ in range(3):
        place.run("note.new")
    return place.window.object_pages()


def test_a_title_is_written_into_the_tab_and_changes_for_everybody(
    make_place: MakePlace, hub: MemoryHub, qtbot: Any
) -> None:
    ada, jun = make_place("Ada"), make_place("Jun")
    ada.run("note.new")
    page = ada.window.front
    assert page is not None
    jun.desk.open_file(page.file)
    assert ada.run("object.rename")
    field = ada.window.tabs.findChild(TitleField)
    field.setText("  Lunch & more ")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    hub.run()
    assert ada.window.windowTitle() == "Note 16 November – Live Objects"
    qtbot.waitUntil(lambda: ada.window.windowTitle() == "Lunch & more – Live Objects")
    qtbot.waitUntil(lambda: jun.window.tabs.tabText(0) == "Lunch && more")
    assert ada.session.recent.entries[0].title == "Lunch & more"


def test_escape_leaves_the_title_and_a_reader_cannot_change_it(
    make_place: MakePlace, qtbot: Any, tmp_path: Path
) -> None:
    ada, jun = make_place("Ada"), make_place("Jun")
    ada.run("note.new")
    ada.run("object.rename")
    field = ada.window.tabs.findChild(TitleField)
    field.setText("Never")
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    page = ada.window.front
    assert page is not None
    assert page.title == "Note 16 November"
    file = tmp_path / "read.liveobject"
    write_reference_file(view_only(page.opened.opening.reference), file)
    jun.desk.open_file(file)
    assert not jun.run("object.rename")


def test_keys_walk_through_the_tabs(make_place: MakePlace) -> None:
    place = make_place("Ada")
    assert not place.run("tab.next")
    pages = three(place)
    place.run("tab.next")
    assert place.window.front is pages[0]
    place.run("tab.before")
    assert place.window.front is pages[2]
    place.run("tab.2")
    assert place.window.front is pages[1]
    place.run("tab.8")
    assert place.window.front is pages[1]
    place.run("tab.9")
    assert place.window.front is pages[2]
    place.run("view.home")
    place.run("tab.1")
    assert place.window.front is pages[0]


def test_a_view_that_uses_a_key_has_it(make_place: MakePlace, monkeypatch: Any) -> None:
    place = make_place("Ada")
    three(place)
    registry = place.window.registry
    assert registry["tab.1"].shortcut() == QKeySequence("Ctrl+1")
    mine = Action("note.heading", "Heading 1", lambda: None, "Ctrl+1")
    registry.show_view_actions([mine])
    assert registry["tab.1"].shortcut().isEmpty()
    assert registry["note.heading"].shortcut() == QKeySequence("Ctrl+1")
    registry.show_view_actions(())
    assert registry["tab.1"].shortcut() == QKeySequence("Ctrl+1")


def test_others_are_closed_and_what_was_closed_comes_back(make_place: MakePlace) -> None:
    place = make_place("Ada")
    assert not place.run("object.reopen")
    pages = three(place)
    titles = [page.title for page in pages]
    place.window.bring_to_front(pages[1])
    place.run("object.close_others")
    assert [page.title for page in place.window.object_pages()] == [titles[1]]
    assert not place.run("object.close_others")
    place.run("object.reopen")
    place.run("object.reopen")
    assert {page.title for page in place.window.object_pages()} == set(titles)
    assert not place.run("object.reopen")


def test_pinned_objects_are_at_the_side_and_not_twice(make_place: MakePlace) -> None:
    place = make_place("Ada")
    three(place)
    place.run("object.pin")
    side = place.window.side
    assert [row.accessibleName() for row in side.pinned.rows] == ["Open Note 16 November (3)"]
    assert len(side.recent.rows) == 2
    assert place.window.registry["object.pin"].isChecked()
    key = place.session.pinned.entries[0].key
    place.window.pin_asked.emit(key)
    assert side.pinned.rows == ()
    place.window.pin_asked.emit("/never/heard/of")


def test_what_was_open_is_open_again_in_its_order(make_place: MakePlace) -> None:
    place = make_place("Ada")
    place.desk.restoring.begin(restore=True)
    pages = three(place)
    place.window.bring_to_front(pages[1])
    kept = OpenList(place.paths.open_now)
    assert kept.keys == tuple(page.identity for page in pages)
    assert kept.front == pages[1].identity
    place.desk.close()
    place.session.close_all()
    # As after a kill: the same folder, a new program.
    again = make_place("Ada")
    again.desk.restoring.begin(restore=True)
    titles = [page.title for page in again.window.object_pages()]
    assert titles == [page.title for page in pages]
    assert again.window.front is again.window.object_pages()[1]


def database_of(place: Place, page: Any) -> Path:
    return place.paths.objects / f"{page.opened.opening.identity}.db"


def refuse(database: Path) -> None:
    """No disk opens a folder as a database."""
    database.rename(database.with_suffix(".kept"))
    database.mkdir()


def work_again(database: Path) -> None:
    database.rmdir()
    database.with_suffix(".kept").rename(database)


def test_what_the_disk_refuses_to_open_keeps_its_tab_and_can_be_tried_again(
    make_place: MakePlace, qtbot: Any
) -> None:
    place = make_place("Ada")
    place.desk.restoring.begin(restore=True)
    pages = three(place)
    qtbot.keyClicks(place.editor, "my only copy")
    database = database_of(place, pages[2])
    place.desk.close()
    place.session.close_all()
    refuse(database)
    again = make_place("Ada")
    again.desk.restoring.begin(restore=True)
    card = again.window.front_page
    assert isinstance(card, ErrorCard)
    assert "could not be opened" in card.accessibleName()
    assert len(again.window.object_pages()) == 2
    kept = OpenList(again.paths.open_now)
    assert kept.keys == tuple(page.identity for page in pages), "the tab is not forgotten"
    assert kept.front == pages[2].identity
    card.findChildren(QPushButton)[0].click()
    assert isinstance(again.window.front_page, ErrorCard), "it still refuses"
    work_again(database)
    again.window.front_page.findChildren(QPushButton)[0].click()
    assert again.editor.toPlainText() == "my only copy"
    assert again.window.tabs.count() == 3


def test_a_new_object_that_the_disk_refuses_is_not_made_twice(
    make_place: MakePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make_place("Ada")
    with monkeypatch.context() as patch:
        patch.setattr(sqlite_file.sqlite3, "connect", _refuse)
        place.run("note.new")
    card = place.window.front_page
    assert isinstance(card, ErrorCard)
    card.findChildren(QPushButton)[0].click()
    assert place.window.front is not None
    assert len(list(place.paths.references.iterdir())) == 1


def _refuse(*_: object, **_options: object) -> None:
    raise sqlite3.OperationalError("disk I/O error")


def test_what_an_earlier_version_hid_comes_back_with_a_sentence(
    make_place: MakePlace, qtbot: Any
) -> None:
    place = make_place("Ada")
    place.run("note.new")
    qtbot.keyClicks(place.editor, "the plan")
    page = place.window.front
    assert page is not None
    file, database = page.file, database_of(place, page)
    place.desk.close()
    place.session.close_all()
    database.rename(f"{database}.damaged-1")
    again = make_place("Ada")
    assert again.desk.open_file(file)
    assert again.editor.toPlainText() == "the plan"
    assert "An earlier version hid" in again.window.notice.text


def test_nothing_is_restored_when_it_is_not_wanted_or_has_failed_twice(
    make_place: MakePlace,
) -> None:
    place = make_place("Ada")
    place.desk.restoring.begin(restore=True)
    three(place)
    place.desk.close()
    place.session.close_all()
    kept = OpenList(place.paths.open_now)
    kept.trying()
    kept.trying()
    again = make_place("Ada")
    again.desk.restoring.begin(restore=True)
    assert again.window.object_pages() == []
    assert "ended twice" in again.window.notice.text


def test_an_object_without_a_view_is_shown_by_its_card(
    make_place: MakePlace, tmp_path: Path
) -> None:
    import os

    place = make_place("Ada")
    file = tmp_path / "Heat.liveobject"
    write_reference_file(MAKERS["sensor"]("Heat", os.urandom), file)
    assert place.desk.open_file(file)
    assert place.window.windowTitle() == "Heat – Live Objects"
    page = place.window.front_page
    assert page is not None
    assert "running" in page.focusProxy().accessibleName()
    assert place.window.registry["object.close"].isEnabled()
    assert not place.window.registry["share.open"].isEnabled()
    place.run("object.close")
    assert place.window.at_home
    assert place.session.recent.entries[0].title == "Heat"


def test_the_cross_of_a_tab_closes_it(make_place: MakePlace) -> None:
    place = make_place("Ada")
    three(place)
    bar = place.window.tabs.tabBar()
    cross = bar.tabButton(0, bar.ButtonPosition.RightSide)
    assert isinstance(cross, QToolButton)
    cross.click()
    assert place.window.tabs.count() == 2


def test_a_tab_is_as_wide_as_its_picture_title_and_cross(make_place: MakePlace) -> None:
    place = make_place("Ada")
    place.run("note.new")
    place.run("chat.new")
    bar = place.window.tabs.tabBar()
    for index in range(bar.count()):
        words = bar.fontMetrics().horizontalAdvance(bar.tabText(index))
        spare = bar.tabRect(index).width() - words
        assert spare < 100, "no room is kept for a second cross"
