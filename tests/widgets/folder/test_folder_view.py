"""The view of a folder: two people, folders in folders, drag and drop, small pictures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtWidgets import QApplication, QLineEdit

from liveobj.objects.shared_folder import new_folder
from liveobj.objects.text_note import new_note
from liveobj.references import Primitive, fingerprint, write_reference_file
from tests.app.conftest import MakePlace
from tests.app.memory_network import MemoryHub
from tests.widgets.pair import Pair, drop_on, show_view_only, view_of
from widgets import drag
from widgets.folder.thumbnails import QuietSurroundings, Thumbnails
from widgets.kinds import KINDS
from widgets.roles import Mode


@pytest.fixture
def pair(make_place: MakePlace, hub: MemoryHub) -> Pair:
    return Pair(make_place, hub, "folder")


def names(view: Any) -> list[str]:
    return [entry["name"] for entry in view.describe()["entries"]]


def test_what_one_puts_in_the_other_sees_and_opens(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    ada.make_inside(KINDS["note"])
    pair.settle()
    assert jun.describe()["entries"] == [{"name": "Note 16 November", "kind": "note"}]
    jun.list.choose("Note 16 November")
    qtbot.keyClick(jun.list, Qt.Key.Key_Return)
    assert view_of(pair.jun).describe()["text"] == "", "what lies in a live object opens at once"
    assert pair.jun.window.front is not None
    assert pair.jun.window.front.kind.word == "note"


def test_rename_remove_and_undo_with_the_keyboard(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    ada.make_inside(KINDS["note"])
    qtbot.keyClick(ada.list, Qt.Key.Key_F2)
    editor = next(each for each in ada.list.findChildren(QLineEdit) if each.isVisible())
    editor.selectAll()
    qtbot.keyClicks(editor, "Menu")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    QApplication.processEvents()
    pair.settle()
    assert names(jun) == ["Menu"]
    ada.list.choose("Menu")
    assert pair.ada.run("folder.remove")
    pair.settle()
    assert names(jun) == []
    pair.ada.run("edit.undo")
    pair.settle()
    assert names(jun) == names(ada) == ["Menu"]


def test_folders_open_in_place_and_in_each_other_they_do_no_harm(pair: Pair, qtbot: Any) -> None:
    ada, _ = pair.views
    outer = ada.opening.reference
    inner = new_folder("Inner", os.urandom)
    ada.folder.put("Inner", inner)
    ada.list.choose("Inner")
    qtbot.keyClick(ada.list, Qt.Key.Key_Return)
    assert ada.describe()["path"] == ["Folder 16 November", "Inner"]
    ada.folder.put("Outer again", outer)
    ada.list.choose("Outer again")
    qtbot.keyClick(ada.list, Qt.Key.Key_Return)
    assert ada.describe()["path"] == ["Folder 16 November"]
    ada.list.choose("Inner")
    ada.open_chosen()
    assert pair.ada.run("folder.back")
    assert ada.describe()["path"] == ["Folder 16 November"]
    ada.list.choose("Inner")
    assert pair.ada.run("folder.tab")
    assert pair.ada.window.front is not None
    assert pair.ada.window.front.title == "Inner"


def test_search_narrows_by_every_word(pair: Pair, qtbot: Any) -> None:
    ada, _ = pair.views
    for name in ("Lunch menu", "Lunch guests", "Budget"):
        ada.folder.put(name, new_note(name, os.urandom))
    qtbot.keyClicks(ada.search, "lu me")
    assert names(ada) == ["Lunch menu"]
    ada.search.clear()
    assert names(ada) == ["Budget", "Lunch guests", "Lunch menu"]


def test_references_files_and_tools_can_be_dropped(pair: Pair, tmp_path: Path) -> None:
    ada, jun = pair.views
    note = new_note("Menu", os.urandom)
    drop_on(ada, drag.mime_of(note, "Menu"))
    drop_on(ada, drag.mime_of(note, "Menu"))
    assert names(ada) == ["Menu"], "what is in the folder already is not put in twice"
    file = tmp_path / "Guests.liveobject"
    write_reference_file(new_note("Guests", os.urandom), file)
    broken = tmp_path / "broken.liveobject"
    broken.write_text("<nonsense/>")
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(file)), QUrl.fromLocalFile(str(broken))])
    drop_on(ada, mime)
    assert names(ada) == ["Guests", "Menu"]
    assert pair.ada.window.notice.text
    drop_on(ada, drag.mime_of_kind("chat"))
    pair.settle()
    assert names(jun) == ["Chat 16 November", "Guests", "Menu"]
    out = ada.model.mimeData([ada.model.index(2)])
    assert drag.references_in(out) == [note]


def test_small_pictures_show_what_is_in_the_objects(pair: Pair, qtbot: Any) -> None:
    ada, _ = pair.views
    ada.make_inside(KINDS["note"])
    ada.make_inside(KINDS["folder"])
    ada.grab()
    entry = next(each for each in ada.model.entries if "Note" in each.name)
    qtbot.waitUntil(lambda: ada.thumbnails.picture(entry.reference) is not None, timeout=5000)
    picture = ada.thumbnails.picture(entry.reference)
    assert picture.width() > 100
    assert not ada.grab().isNull()


def test_no_picture_is_made_of_what_was_never_live_here(pair: Pair, qtbot: Any) -> None:
    ada, _ = pair.views
    stranger = new_note("From somebody", os.urandom)
    ada.folder.put("Stranger", stranger)
    ada.grab()
    assert ada.thumbnails.picture(stranger) is None
    assert not ada.thumbnails._waiting
    assert not (pair.ada.paths.objects / f"{fingerprint(stranger)}.db").exists()


def test_a_picture_of_a_folder_makes_no_pictures_of_its_own(pair: Pair, qtbot: Any) -> None:
    ada, _ = pair.views
    ada.folder.put("itself", ada.opening.reference)
    quiet = Thumbnails(QuietSurroundings(ada.around), ada)
    assert quiet.picture(ada.opening.reference) is None
    assert not quiet._waiting
    ada.grab()
    qtbot.waitUntil(lambda: ada.thumbnails.picture(ada.opening.reference) is not None, timeout=5000)


@pytest.mark.parametrize("mode", [Mode.LIGHT, Mode.DARK])
def test_junk_in_the_document_is_shown_as_such(pair: Pair, mode: Mode) -> None:
    ada, jun = pair.views
    pair.ada.window.theme.set_mode(mode)
    junk = [None, 5, "text", b"", b"<x/>", b"\xff" * 99, [1], {"a": 1}]
    with jun.folder.document.transaction():
        for number, value in enumerate(junk):
            jun.folder.content.set(f"junk{number} <b>\n", value)
    jun.folder.put("unknown", Primitive("nobody:knows"))
    pair.settle()
    assert len(names(ada)) >= 8
    for cards in (True, False):
        ada.show_cards(cards)
        assert not pair.ada.window.grab().isNull()
    ada.list.selectAll()
    ada.open_chosen()
    assert "cannot be opened" in pair.ada.window.notice.text
    assert not pair.ada.window.grab().isNull()


def test_who_may_only_look_cannot_change(make_place: MakePlace, hub: MemoryHub) -> None:
    pair = Pair(make_place, hub, "folder")
    pair.views[0].make_inside(KINDS["note"])
    page = pair.ada.window.front
    assert page is not None
    mia = make_place("Mia")
    show_view_only(mia, page.opened.opening.reference)
    pair.settle()
    view = view_of(mia)
    view.show_newest()
    view.list.selectAll()
    assert not mia.run("folder.remove")
    view.remove_chosen()
    view.take_in(drag.mime_of(new_note("x", os.urandom), "x"))
    assert names(view) == ["Note 16 November"]
    assert mia.run("folder.look")
    assert view.describe()["look"] == "list"
