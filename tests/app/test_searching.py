"""Searching everything on this PC: what was just written, what is closed, what must be reread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt

from app.words_helper import read_elsewhere
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


def test_object_whose_keys_are_gone_is_found_and_says_what_one_can_do(
    make_place: MakePlace, qtbot: Any
) -> None:
    place = make_place("Ada")
    place.run("note.new")
    qtbot.keyClicks(place.editor, "vanished")
    page = place.window.front
    assert page is not None
    place.desk.searching.flush()
    place.run("object.save")
    place.run("object.close")
    page.file.unlink()
    (found,) = place.desk.searching("vanished")
    place.window.open_asked.emit(found.key)
    (failure,) = place.desk.describe()["failures"]
    assert "What you wrote is still here" in failure


def test_the_words_of_a_large_object_are_read_by_a_helper(
    make_place: MakePlace, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make_place("Ada")
    place.run("document.new")
    qtbot.keyClicks(place.window.front.view.editor, "a pineapple in it")
    place.desk.searching.flush()
    place.window.front.opened.opening.shared.flush()
    monkeypatch.setattr("app.searching.LARGE_BYTES", 1)
    monkeypatch.setattr(place.desk.searching, "_put_small", _forbidden)
    qtbot.keyClicks(place.window.front.view.editor, " and an apricot")
    qtbot.waitUntil(lambda: bool(place.desk.searching._dirty))
    place.desk.searching._take_one()
    assert not place.desk.searching._dirty
    qtbot.keyClicks(place.window.front.view.editor, " and more")
    place.desk.searching._take_one()
    assert place.desk.searching._dirty, "a large one is not read again for a while"
    place.desk.searching._writer.submit(lambda: None).result()
    assert [found.kind for found in place.desk.searching("apricot")] == ["Document"]


def test_words_that_repeat_are_read_by_the_helper_too_when_they_are_many(
    make_place: MakePlace, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make_place("Ada")
    place.run("note.new")
    place.desk.searching.flush()
    opened = place.window.front.opened
    monkeypatch.setattr(place.desk.searching, "_put_small", _forbidden)
    opened.opening.shared.text.insert(0, "the same again " * 20_000)
    opened.opening.shared.flush()
    place.desk.searching.flush()
    assert [found.kind for found in place.desk.searching("again")] == ["Note"]


def _forbidden(*_arguments: Any) -> None:
    raise AssertionError("it is large")


def test_a_helper_that_fails_leaves_the_index_as_it_is(tmp_path: Path) -> None:
    broken = tmp_path / "broken.liveobject"
    broken.write_text("<broken")
    assert read_elsewhere(broken, tmp_path) is None
