"""Searching everything on this PC: what was just written, what is closed, what must be reread."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt

from tests.app.conftest import MakePlace

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def test_what_is_written_is_found_in_the_palette(make_place: MakePlace, qtbot: Any) -> None:
    place = make_place("Ada")
    place.run("note.new")
    qtbot.keyClicks(place.editor, "the lemon cake is for Friday")
    place.run("note.new")
    assert place.desk.answer({"do": "search", "text": "lemon"}) == {"found": ["Note 16 November"]}
    place.run("object.close_others")
    place.window.open_palette()
    palette = place.window.palette_widget
    assert "Note 16 November" in palette.shown_titles()
    qtbot.keyClicks(palette._field, "lemon cak")
    qtbot.waitUntil(lambda: palette.shown_titles()[:1] == ["Note 16 November"])
    qtbot.keyClick(palette._field, Qt.Key.Key_Return)
    assert place.editor.toPlainText().startswith("the lemon")


def test_a_command_that_fits_well_is_above_the_objects(make_place: MakePlace, qtbot: Any) -> None:
    place = make_place("Ada")
    place.run("note.new")
    qtbot.keyClicks(place.editor, "undo everything")
    place.desk.searching.flush()
    place.window.open_palette()
    palette = place.window.palette_widget
    palette._field.setText("undo")
    palette.search_now()
    assert palette.shown_titles()[:2] == ["Undo", "Note 16 November"]


def test_another_title_is_found_and_words_that_are_gone_are_not(
    make_place: MakePlace, qtbot: Any
) -> None:
    place = make_place("Ada")
    place.run("note.new")
    qtbot.keyClicks(place.editor, "temporary")
    page = place.window.front
    assert page is not None
    place.desk.searching.flush()
    place.desk.objects.rename(page, "Strawberries")
    page.opened.opening.shared.text.replace(0, 9, "final")
    place.desk.searching.flush()
    assert place.desk.searching("temporary") == []
    assert [found.title for found in place.desk.searching("strawb")] == ["Strawberries"]
    assert [found.title for found in place.desk.searching("final")] == ["Strawberries"]


def test_the_index_is_made_anew_from_the_disk(make_place: MakePlace, qtbot: Any) -> None:
    place = make_place("Ada")
    for words in ("apples", "pears"):
        place.run("note.new")
        qtbot.keyClicks(place.editor, words)
    place.run("object.save")
    place.run("object.close")
    place.session.close_all()
    place.paths.search.write_bytes(b"broken" * 1000)
    place.desk.searching._index = None
    place.run("search.rebuild")
    place.desk.searching.flush()
    assert len(place.desk.searching("pears")) == 1


def test_a_file_that_is_gone_is_not_offered(make_place: MakePlace, qtbot: Any) -> None:
    place = make_place("Ada")
    place.run("note.new")
    qtbot.keyClicks(place.editor, "vanished")
    page = place.window.front
    assert page is not None
    place.desk.searching.flush()
    page.file.unlink()
    assert place.desk.searching("vanished") == []
