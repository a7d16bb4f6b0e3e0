"""Files in and out by the helper process, while people write; history, comments and finding."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl

from liveobj.richtext.convert import main
from liveobj.richtext.files import read_file
from liveobj.richtext.model import Block, Paragraph, Run, Table
from tests.widgets.document.conftest import Desk
from transport.whole_file import private_files


def wait_for_words(desk: Desk, words: str) -> None:
    desk.qtbot.waitUntil(lambda: words in str(desk.one.body.text), timeout=20_000)


def test_a_file_is_dropped_in_while_somebody_writes(desk: Desk, tmp_path: Path) -> None:
    desk.type("before")
    desk.settle()
    file = tmp_path / "plan.md"
    lines = "\n\n".join(f"paragraph {number} with **bold** words" for number in range(400))
    file.write_text(f"# Plan\n\n{lines}\n\nlast words\n")
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(file))])
    desk.one.editor.offer(mime, 6)
    desk.two.body.text.insert(0, "Jun was here. ")
    desk.hub.run()
    wait_for_words(desk, "last words")
    one, two = desk.contents()
    assert one == two
    assert len(one) == 402
    assert isinstance(one[0], Paragraph)
    assert one[0].text == "Jun was here. beforePlan"
    assert isinstance(one[5], Paragraph)
    assert one[5].runs[1] == Run("bold", {"bold": True})
    desk.one.undo_edit()
    assert desk.contents()[1] == (Paragraph((Run("Jun was here. before"),)),)


def test_a_file_becomes_the_document_if_that_is_empty(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "plan.html"
    file.write_text("<h1>Plan</h1><table><tr><th>a</th></tr><tr><td>b</td></tr></table><p>end</p>")
    desk.ada.around.files = [file]
    desk.one.run_action("import")
    wait_for_words(desk, "end")
    assert desk.contents()[1] == (
        Paragraph((Run("Plan"),), Block("h1")),
        Table((((Run("a"),),), ((Run("b"),),))),
        Paragraph((Run("end"),)),
    )


def test_a_bad_file_is_refused_with_a_sentence_and_changes_nothing(
    desk: Desk, tmp_path: Path
) -> None:
    desk.type("words")
    file = tmp_path / "bad.docx"
    file.write_bytes(b"no zip")
    desk.one.insert_files([file])
    desk.qtbot.waitUntil(lambda: bool(desk.ada.around.said), timeout=20_000)
    assert "bad.docx was not taken in" in desk.ada.around.said[0]
    assert desk.contents()[1] == (Paragraph((Run("words"),)),)


@pytest.mark.parametrize("ending", [".odt", ".docx"])
def test_a_document_is_exported(desk: Desk, tmp_path: Path, ending: str) -> None:
    desk.type("# Title\nwords")
    file = tmp_path / f"out{ending}"
    desk.ada.around.files = [file]
    desk.one.run_action("export")
    desk.qtbot.waitUntil(lambda: bool(desk.ada.around.said), timeout=20_000)
    assert desk.ada.around.said == [f"Exported as out{ending}."]
    assert read_file(file) == desk.one.body.content()


def test_export_of_a_private_program_has_the_rights_of_the_users_files(
    desk: Desk, tmp_path: Path
) -> None:
    desk.type("words")
    file = tmp_path / "out.odt"
    desk.ada.around.files = [file]
    mask = os.umask(0o022)
    try:
        with private_files():
            desk.one.run_action("export")
            desk.qtbot.waitUntil(lambda: bool(desk.ada.around.said), timeout=20_000)
    finally:
        os.umask(mask)
    assert file.stat().st_mode & 0o777 == 0o644


def test_closing_while_a_file_is_read_leaves_nothing_behind(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "plan.md"
    file.write_text("words\n")
    desk.one.insert_files([file])


@pytest.mark.parametrize("arguments", [[], ["read"], ["read", "x", "y"], ["fly", "a"]])
def test_the_helper_refuses_what_it_does_not_know(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("liveobj.richtext.convert._limit", lambda: None)
    assert main(arguments) == 2
    assert capsys.readouterr().err


def test_find_goes_from_place_to_place_and_replaces_with_the_same_marks(desk: Desk) -> None:
    desk.type("cat ")
    desk.one.body.text.insert(4, "😀 dog ")
    desk.one.show_newest()
    desk.one.editor.place_caret(11)
    desk.type("**Cat** cats")
    bar = desk.one.find_bar
    desk.one.run_action("find")
    desk.qtbot.keyClicks(bar.words, "cat")
    assert len(bar.places) == 3
    assert desk.one.editor.textCursor().selectedText() == "cat"
    desk.qtbot.keyClick(bar.words, Qt.Key.Key_Return)
    assert desk.one.editor.textCursor().selectedText() == "Cat"
    desk.qtbot.keyClick(bar.words, Qt.Key.Key_Return)
    desk.qtbot.keyClick(bar.words, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    bar.replacement.setText("bird")
    bar.match_case.setChecked(True)
    assert len(bar.places) == 2
    bar.match_case.setChecked(False)
    bar.replace_all()
    assert desk.contents()[1][0] == Paragraph(
        (Run("bird 😀 dog "), Run("bird", {"bold": True}), Run(" birds"))
    )
    desk.one.undo_edit()
    assert str(desk.one.body.text) == "cat 😀 dog Cat cats"
    desk.qtbot.keyClick(bar.words, Qt.Key.Key_Escape)
    assert not bar.isVisible()


def test_words_in_tables_are_found_and_replaced_with_all(desk: Desk) -> None:
    desk.type("cat")
    desk.one.insert_content([Table((((Run("a cat", {"bold": True}),), (Run("Cat"),)),))])
    bar = desk.one.find_bar
    bar.open_bar()
    bar.words.setText("cat")
    assert len(bar.places) == 3
    bar.replacement.setText("dog")
    bar.replace_all()
    table = next(part for part in desk.contents()[1] if isinstance(part, Table))
    assert table.rows == (((Run("a dog", {"bold": True}),), (Run("dog"),)),)
    desk.one.undo_edit()
    assert str(desk.one.body.text).startswith("cat")


def test_find_steps_through_the_cells_of_tables(desk: Desk) -> None:
    desk.type("cat ")
    many = tuple(((Run("x"),), (Run(f"row {number} cat"),)) for number in range(40))
    desk.one.insert_content([Table(many)])
    end = desk.one.body.text.length
    desk.one.body.text.insert(end, "the last cat")
    desk.one.show_newest()
    page, bar = desk.one.editor, desk.one.find_bar
    page.place_caret(0)
    bar.open_bar()
    bar.words.setFocus()
    bar.words.setText("cat")
    assert len(bar.places) == 42
    assert (page.cell, page.selection) == (None, (0, 3))
    for number in (0, 1, 2):
        desk.qtbot.keyClick(bar.words, Qt.Key.Key_Return)
        assert page.cell is not None
        assert page.cell.toPlainText() == f"row {number} cat"
        assert page.cell.textCursor().selectedText() == "cat"
    assert desk.one.window().focusWidget() is bar.words
    bar.go(-1)
    assert page.cell.toPlainText() == "row 1 cat"
    bar.replacement.setText("dog")
    bar.replace_one()
    assert page.cell.toPlainText() == "row 2 cat"
    for _ in range(37):
        bar.go(1)
    assert page.cell.toPlainText() == "row 39 cat"
    seen = page.grid.cell_rect().translated(page.grid.pos())
    assert page.viewport().rect().intersects(seen)
    bar.go(1)
    assert page.cell is None
    assert page.textCursor().selectedText() == "cat"
    table = next(part for part in desk.contents()[1] if isinstance(part, Table))
    assert [row[1][0].text for row in table.rows[:3]] == ["row 0 cat", "row 1 dog", "row 2 cat"]


def test_replace_one_by_one(desk: Desk) -> None:
    desk.type("aa aa aa")
    bar = desk.one.find_bar
    bar.open_bar()
    bar.words.setText("aa")
    bar.replacement.setText("b")
    bar.replace_one()
    bar.replace_one()
    assert str(desk.one.body.text).count("b") == 2


def test_comments_are_begun_answered_and_settled_by_two_people(desk: Desk) -> None:
    desk.type("some words to talk about")
    desk.one.editor.select(5, 10)
    desk.one.run_action("comment")
    panel, theirs = desk.one.comments_panel, desk.two.comments_panel
    desk.qtbot.keyClicks(panel.field, "Which?")
    desk.qtbot.keyClick(panel.field, Qt.Key.Key_Return)
    assert len(panel.cards) == 1
    desk.settle()
    theirs.open_panel()
    desk.qtbot.keyClicks(theirs.cards[0].field, "These.")
    desk.qtbot.keyClick(theirs.cards[0].field, Qt.Key.Key_Return)
    desk.settle()
    panel.refresh()
    (thread,) = desk.one.opening.shared.comments.threads()  # type: ignore[attr-defined]
    assert [(m.who, m.text) for m in thread.messages] == [("Ada", "Which?"), ("Jun", "These.")]
    desk.one.body.text.insert(0, "Oh, ")
    desk.one.show_newest()
    panel.cards[0].chosen.emit()
    assert desk.one.editor.textCursor().selectedText() == "words"
    panel.cards[0].settled.emit(True)
    assert panel.cards == []
    panel.settled_too.setChecked(True)
    assert len(panel.cards) == 1
    panel.cards[0].removed.emit()
    assert panel.cards == []


def test_a_comment_on_nothing_is_refused(desk: Desk) -> None:
    desk.one.run_action("comment")
    assert desk.ada.around.said == ["Select what the comment is about first."]


def test_the_past_is_shown_in_place_and_brought_back(desk: Desk) -> None:
    desk.type("# First")
    desk.settle()
    desk.two.body.text.insert(5, " and second")
    desk.settle()
    desk.one.run_action("history")
    bar = desk.one.history_bar
    assert [stop.who for stop in bar.stops] == ["Ada", "Jun"]
    assert bar.text.startswith("Jun · ")
    assert not bar.restore_button.isEnabled()
    bar.slider.setValue(0)
    bar.show_now()
    assert bar.text.startswith("Ada · ")
    past = desk.one.past
    assert past is not None
    assert past.toPlainText() == "First"  # type: ignore[attr-defined]
    assert past.block_here.style == "h1"  # type: ignore[attr-defined]
    desk.qtbot.keyClicks(past, "no")
    assert desk.one.editor.toPlainText() == "First and second"
    assert next(a for a in desk.one.actions_here() if a.identity == "document.bold").why_not()
    desk.qtbot.mouseClick(bar.restore_button, Qt.MouseButton.LeftButton)
    assert desk.one.past is None
    assert desk.contents()[1] == (Paragraph((Run("First"),), Block("h1")),)
    desk.one.undo_edit()
    assert desk.contents()[1][0] == Paragraph((Run("First and second"),), Block("h1"))
