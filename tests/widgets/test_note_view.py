"""The view of a note: finding, comments, and its past with who and when."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from tests.app.conftest import MakePlace, hub, make_place
from tests.app.memory_network import MemoryHub

__all__ = ["hub", "make_place"]

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def test_two_people_find_comment_and_go_back_in_a_note(
    make_place: MakePlace,
    hub: MemoryHub,
    qtbot: Any,
) -> None:
    ada, jun = make_place("Ada"), make_place("Jun")
    ada.run("note.new")
    page = ada.window.front
    assert page is not None
    jun.desk.open_file(page.opened.file)
    view: Any = page.view
    qtbot.keyClicks(ada.editor, "milk and eggs and milk")
    hub.run()
    QApplication.processEvents()

    assert ada.run("note.find")
    qtbot.keyClicks(view.find_bar.words, "milk")
    view.find_bar.replacement.setText("bread")
    view.find_bar.replace_all()
    assert ada.editor.toPlainText() == "bread and eggs and bread"
    qtbot.keyClick(view.find_bar.words, Qt.Key.Key_Escape)

    ada.editor.select(0, 5)
    assert ada.run("note.comment")
    qtbot.keyClicks(view.comments_panel.field, "White or brown?")
    hub.run()
    jun.editor.show_newest()
    jun.editor.select(0, 0)
    qtbot.keyClicks(jun.editor, "Jun: ")  # while the comment is being written
    hub.run()
    qtbot.keyClick(view.comments_panel.field, Qt.Key.Key_Return)
    hub.run()
    theirs: Any = jun.window.front
    threads = theirs.view.opening.shared.comments.threads()
    assert [message.text for message in threads[0].messages] == ["White or brown?"]
    assert (threads[0].start, threads[0].end) == (5, 10)

    hub.run()
    ada.editor.show_newest()
    assert ada.run("note.history")
    bar = view.history_bar
    assert [stop.who for stop in bar.stops] == ["Ada", "Jun", "Ada"]
    bar.slider.setValue(0)
    bar.show_now()
    assert view.past.toPlainText() == "bread and eggs and bread"
    assert not ada.run("note.comment")
    bar.bring_back()
    hub.run()
    jun.editor.show_newest()
    assert jun.editor.toPlainText() == "bread and eggs and bread"
    assert ada.run("edit.undo")
    assert ada.editor.toPlainText().startswith("Jun: ")
