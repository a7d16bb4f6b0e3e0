"""What one can do at the desk, through the registered actions, two people on one network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication

from app.main import main
from liveobj.references import read_reference_file
from tests.app.conftest import MakePlace
from tests.app.memory_network import MemoryHub

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def test_the_first_start_shows_home_and_nothing_that_cannot_be_done(make_place: MakePlace) -> None:
    place = make_place("Ada")
    assert place.window.at_home
    reasons = {command.title: command.reason for command in place.window.registry.commands()}
    assert reasons["New note"] == ""
    assert reasons["Undo"] == "no object is open"
    assert not place.run("reference.copy")


def test_a_new_note_is_written_in_at_once_and_is_there_again_later(
    make_place: MakePlace, qtbot: Any
) -> None:
    place = make_place("Ada")
    place.run("note.new")
    qtbot.keyClicks(place.editor, "hello")
    assert place.window.windowTitle() == "Note 16 November – Live Objects"
    place.run("object.save")
    assert place.window.notice.text.startswith("Saved here")
    place.run("object.close")
    assert place.window.at_home
    entry = place.session.recent.entries[0]
    assert entry.title == "Note 16 November"
    place.window.open_asked.emit(entry.key)
    assert place.editor.toPlainText() == "hello"


def test_new_notes_get_titles_of_their_own(make_place: MakePlace) -> None:
    place = make_place("Ada")
    for _ in range(3):
        place.run("note.new")
    titles = [page.title for page in place.window.object_pages()]
    assert titles == ["Note 16 November", "Note 16 November (2)", "Note 16 November (3)"]


def test_two_people_write_in_one_note(make_place: MakePlace, hub: MemoryHub, qtbot: Any) -> None:
    ada, jun = make_place("Ada"), make_place("Jun")
    ada.run("note.new")
    page = ada.window.front
    assert page is not None
    jun.desk.open_file(page.opened.file)
    qtbot.keyClicks(ada.editor, "hello")
    hub.run()
    qtbot.waitUntil(lambda: jun.editor.toPlainText() == "hello")
    qtbot.keyClicks(jun.editor, "Oh, ")
    hub.run()
    qtbot.waitUntil(lambda: ada.editor.toPlainText() == "Oh, hello")
    qtbot.waitUntil(lambda: "2 people here" in ada.window.state_text)
    description = ada.desk.describe()
    assert description["objects"][0]["people"] == ["Ada", "Jun"]
    assert description["objects"][0]["text"] == "Oh, hello"
    assert "Jun" in description["objects"][0]["carets"]


def test_the_same_object_opens_once(make_place: MakePlace) -> None:
    place = make_place("Ada")
    place.run("note.new")
    page = place.window.front
    assert page is not None
    place.run("view.home")
    assert place.window.front is None
    assert place.desk.open_file(page.opened.file)
    assert place.window.front is page
    assert place.window.tabs.count() == 1


def test_a_reference_goes_by_clipboard_and_by_file(make_place: MakePlace, tmp_path: Path) -> None:
    ada, jun = make_place("Ada"), make_place("Jun")
    ada.run("note.new")
    assert ada.window.front is not None
    jun.session.trust.remember_object(ada.window.front.opened.opening.reference)
    assert ada.run("reference.copy")
    assert QGuiApplication.clipboard().text().lstrip().startswith("<")
    assert jun.run("object.paste")
    page, copied = ada.window.front, jun.window.front
    assert page is not None
    assert copied is not None
    assert copied.opened.opening.identity == page.opened.opening.identity
    file = tmp_path / "handed over.liveobject"
    ada.desk.sharing.save(page, page.opened.opening.reference, file)
    assert read_reference_file(file) == page.opened.opening.reference
    missing = tmp_path / "missing" / "x.liveobject"
    ada.desk.sharing.save(page, page.opened.opening.reference, missing)
    assert "cannot be written" in ada.window.notice.text


def test_what_cannot_be_opened_shows_a_card_and_the_rest_lives_on(
    make_place: MakePlace, tmp_path: Path, qtbot: Any
) -> None:
    place = make_place("Ada")
    place.run("note.new")
    broken = tmp_path / "broken.liveobject"
    broken.write_text("<nonsense/>")
    assert not place.desk.open_file(broken)
    assert place.window.tabs.tabText(1) == "Not opened"
    assert place.window.front is None
    place.run("object.close")
    qtbot.keyClicks(place.editor, "still here")
    assert place.editor.toPlainText() == "still here"


def test_undo_and_redo_are_enabled_when_there_is_something(
    make_place: MakePlace, qtbot: Any
) -> None:
    place = make_place("Ada")
    place.run("note.new")
    assert not place.run("edit.undo")
    qtbot.keyClicks(place.editor, "x")
    assert place.run("edit.undo")
    assert place.editor.toPlainText() == ""
    assert place.run("edit.redo")
    assert place.editor.toPlainText() == "x"
    qtbot.waitUntil(place.window.registry["edit.undo"].isEnabled)


def test_the_theme_is_switched_and_remembered(make_place: MakePlace) -> None:
    place = make_place("Ada")
    place.run("theme.toggle")
    assert place.window.theme.dark
    place.run("theme.light")
    assert not place.window.theme.dark
    assert place.settings.now.theme == "light"
    assert place.window.registry["theme.light"].isChecked()


def test_the_palette_opens_by_key_from_within_a_note_and_runs_what_is_chosen(
    make_place: MakePlace, qtbot: Any
) -> None:
    place = make_place("Ada")
    place.run("note.new")
    with qtbot.waitActive(place.window):
        place.window.activateWindow()
    qtbot.keyClicks(place.editor, "text")
    qtbot.keyClick(place.editor, Qt.Key.Key_Home)
    qtbot.keyClick(place.editor, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    palette = place.window.palette_widget
    assert palette.isVisible()
    assert place.editor.toPlainText() == "text"
    qtbot.keyClicks(palette._field, "home")
    qtbot.keyClick(palette._field, Qt.Key.Key_Return)
    assert place.window.at_home


def test_the_side_folds_by_itself_in_a_narrow_window(make_place: MakePlace, qtbot: Any) -> None:
    place = make_place("Ada")
    place.window.resize(1000, 600)
    qtbot.waitUntil(lambda: not place.window.side.folded)
    place.window.resize(650, 600)
    qtbot.waitUntil(lambda: place.window.side.folded)
    place.window.resize(1000, 600)
    qtbot.waitUntil(lambda: not place.window.side.folded)
    place.run("view.side")
    assert place.window.side.folded


def test_a_file_that_is_dropped_on_the_window_or_a_note_is_opened(
    make_place: MakePlace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = make_place("Ada")
    place.run("note.new")
    file = tmp_path / "Dropped.liveobject"
    assert main(["new", str(file)]) == 0
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file)), QUrl("https://example.org/")])
    assert not place.editor.canInsertFromMimeData(data)
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    copy = Qt.DropAction.CopyAction
    enter = QDragEnterEvent(QPoint(9, 9), copy, data, buttons, keys)
    QApplication.sendEvent(place.window, enter)
    assert enter.isAccepted()
    drop = QDropEvent(QPointF(9, 9), copy, data, buttons, keys)
    QApplication.sendEvent(place.window, drop)
    assert place.window.windowTitle() == "Dropped – Live Objects"


def test_closing_the_window_ends_the_program(make_place: MakePlace) -> None:
    place = make_place("Ada")
    place.window.close()
    assert place.quits == [True]


def test_requests_of_other_programs(make_place: MakePlace, tmp_path: Path) -> None:
    ada, jun = make_place("Ada"), make_place("Jun")
    ada.run("note.new")
    page = ada.window.front
    assert page is not None
    assert jun.desk.answer({"do": "open", "files": [str(page.opened.file)]}) == {"opened": 1}
    assert jun.desk.answer({"do": "describe"})["objects"][0]["title"] == "Note 16 November"
    picture = tmp_path / "window.png"
    assert jun.desk.answer({"do": "picture", "file": str(picture)}) == {"saved": True}
    assert picture.read_bytes().startswith(b"\x89PNG")
    for strange in ({}, {"do": "dance"}, {"do": "open", "files": [1]}, {"do": "open"}):
        assert "error" in jun.desk.answer(strange)


def test_every_action_has_a_title_and_no_key_twice(make_place: MakePlace) -> None:
    actions = make_place("Ada").window.registry.actions
    keys = [action.shortcut for action in actions if action.shortcut]
    assert len(keys) == len(set(keys))
    assert all(action.title for action in actions)


def test_every_control_has_a_name_for_those_who_cannot_see_it(make_place: MakePlace) -> None:
    from PySide6.QtWidgets import QAbstractButton

    place = make_place("Ada")
    place.run("note.new")
    buttons = place.window.findChildren(QAbstractButton)
    shown = [button for button in buttons if button.isVisible()]
    nameless = [b for b in shown if not (b.accessibleName() or b.text().strip())]
    assert len(shown) > 5
    assert nameless == []
