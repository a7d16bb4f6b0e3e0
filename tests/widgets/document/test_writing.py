"""Writing in a document with real keys: signs, lists, marks, links, undo; two people at once."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from liveobj.richtext.model import Block, Paragraph, Run
from tests.widgets.document.conftest import Desk

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def lines(desk: Desk) -> list[tuple[str, str, int]]:
    """Style, text and indent of each paragraph, the same for both."""
    one, two = desk.contents()
    assert one == two
    return [(p.block.style, p.text, p.block.indent) for p in one if isinstance(p, Paragraph)]


def first_runs(desk: Desk) -> tuple[Run, ...]:
    first = desk.one.body.content()[0]
    assert isinstance(first, Paragraph)
    return first.runs


SIGNS = {
    "# ": "h1",
    "## ": "h2",
    "### ": "h3",
    "- ": "bullet",
    "* ": "bullet",
    "1. ": "number",
    "[] ": "check",
    "> ": "quote",
    "``` ": "code",
}


def test_signs_at_the_start_of_a_line_make_its_look(desk: Desk) -> None:
    for typed, style in SIGNS.items():
        desk.type(typed + "words")
        assert lines(desk) == [(style, "words", 0)]
        desk.one.editor.selectAll()
        desk.qtbot.keyClick(desk.one.editor, Qt.Key.Key_Delete)
        desk.qtbot.keyClick(desk.one.editor, Qt.Key.Key_Backspace)
        assert lines(desk) == [("", "", 0)]


def test_a_sign_is_taken_back_by_one_undo(desk: Desk) -> None:
    desk.type("# ")
    desk.qtbot.keyClick(desk.one.editor, Qt.Key.Key_Z, CONTROL)
    assert lines(desk) == [("", "# ", 0)]


def test_lists_go_on_step_in_and_end(desk: Desk) -> None:
    desk.type("- one\ntwo\n")
    desk.qtbot.keyClick(desk.one.editor, Qt.Key.Key_Tab)
    desk.type("deeper\n\n\nplain")
    assert lines(desk) == [
        ("bullet", "one", 0),
        ("bullet", "two", 0),
        ("bullet", "deeper", 1),
        ("", "plain", 0),
    ]


def test_an_empty_line_ends_a_quote(desk: Desk) -> None:
    desk.type("> said\n\nplain")
    assert lines(desk) == [("quote", "said", 0), ("", "plain", 0)]


def test_a_link_is_followed_with_control_and_a_click(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(
        "widgets.document.document_view.QDesktopServices.openUrl",
        lambda url: opened.append(url.toString()),
    )
    desk.type("https://example.org/a and more")
    editor = desk.one.editor
    editor.place_caret(5)
    place = editor.cursorRect().center()
    desk.qtbot.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert opened == []
    desk.qtbot.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, CONTROL, place)
    assert opened == ["https://example.org/a"]


def test_enter_after_a_heading_is_plain_text(desk: Desk) -> None:
    desk.type("# Title\nwords")
    assert lines(desk) == [("h1", "Title", 0), ("", "words", 0)]


def test_backspace_at_the_start_first_takes_the_look(desk: Desk) -> None:
    desk.type("words\n- item")
    for _ in range(4):
        desk.qtbot.keyClick(desk.one.editor, Qt.Key.Key_Left)
    desk.qtbot.keyClick(desk.one.editor, Qt.Key.Key_Backspace)
    assert lines(desk) == [("", "words", 0), ("", "item", 0)]
    desk.qtbot.keyClick(desk.one.editor, Qt.Key.Key_Backspace)
    assert lines(desk) == [("", "wordsitem", 0)]


def test_marks_by_keys_and_by_signs(desk: Desk) -> None:
    desk.type("a ")
    desk.qtbot.keyClick(desk.one.editor, Qt.Key.Key_B, CONTROL)
    desk.type("bold")
    desk.qtbot.keyClick(desk.one.editor, Qt.Key.Key_B, CONTROL)
    desk.type(" **strong** and `code` x")
    one, two = desk.contents()
    assert one == two
    assert first_runs(desk) == (
        Run("a "),
        Run("bold", {"bold": True}),
        Run(" "),
        Run("strong", {"bold": True}),
        Run(" and "),
        Run("code", {"code": True}),
        Run(" x"),
    )


def test_keys_for_looks_work_on_the_selection(desk: Desk) -> None:
    desk.type("one\ntwo")
    desk.one.editor.selectAll()
    desk.qtbot.keyClick(desk.one.editor, Qt.Key.Key_2, CONTROL)
    assert [line[0] for line in lines(desk)] == ["h2", "h2"]
    desk.qtbot.keyClick(desk.one.editor, Qt.Key.Key_U, CONTROL)
    assert first_runs(desk) == (Run("one", {"underline": True}),)
    desk.one.run_action("clear")
    assert first_runs(desk) == (Run("one"),)


def test_an_address_becomes_a_link_and_what_follows_does_not(desk: Desk) -> None:
    desk.type("see https://example.org/a. Then")
    assert first_runs(desk) == (
        Run("see "),
        Run("https://example.org/a", {"link": "https://example.org/a"}),
        Run(". Then"),
    )


def test_a_link_is_made_changed_and_taken_away(desk: Desk) -> None:
    desk.type("here")
    desk.one.editor.selectAll()
    desk.one.run_action("link")
    box = desk.one.link_box
    box.field.setText("javascript:alert(1)")
    desk.qtbot.keyClick(box, Qt.Key.Key_Return)
    assert box.isVisible()
    box.field.setText("example.org")
    desk.qtbot.keyClick(box, Qt.Key.Key_Return)
    assert not box.isVisible()
    assert desk.contents()[1][0] == Paragraph((Run("here", {"link": "https://example.org"}),))
    desk.one.editor.place_caret(2)
    desk.one.run_action("link")
    assert box.field.text() == "https://example.org"
    box.field.clear()
    desk.qtbot.keyClick(box, Qt.Key.Key_Return)
    assert desk.contents()[1][0] == Paragraph((Run("here"),))


def test_a_line_break_is_not_a_paragraph(desk: Desk) -> None:
    desk.type("one")
    desk.qtbot.keyClick(desk.one.editor, Qt.Key.Key_Return, SHIFT)
    desk.type("two")
    assert lines(desk) == [("", "one\u2028two", 0)]


def test_undo_takes_ones_own_formatting_and_leaves_the_others_words(desk: Desk) -> None:
    desk.type("mine")
    desk.one.editor.selectAll()
    desk.qtbot.keyClick(desk.one.editor, Qt.Key.Key_1, CONTROL)
    desk.settle()
    desk.two.editor.setFocus()
    desk.two.body.text.insert(4, " and yours")
    desk.settle()
    desk.qtbot.keyClick(desk.one.editor, Qt.Key.Key_Z, CONTROL)
    assert lines(desk) == [("", "mine and yours", 0)]


def test_a_tick_is_shared(desk: Desk) -> None:
    desk.type("[] task")
    desk.one.editor.toggle_done(0)
    assert desk.contents()[1][0] == Paragraph((Run("task"),), Block("check", done=True))


def test_carets_of_others_are_seen(desk: Desk) -> None:
    desk.type("hello")
    desk.settle()
    desk.settle()
    assert [(caret.name, caret.position) for caret in desk.two.editor.remote_carets] == [("Ada", 5)]


def test_copy_and_paste_keep_looks_and_marks(desk: Desk) -> None:
    desk.type("# Title\nsome **bold** words")
    desk.one.editor.selectAll()
    desk.one.editor.copy()
    mime = QGuiApplication.clipboard().mimeData()
    assert "<h1>Title</h1>" in mime.html()
    assert mime.text() == "Title\nsome bold words"
    before = desk.contents()[1]
    desk.two.editor.setFocus()
    desk.two.editor.selectAll()
    desk.two.editor.paste()
    assert desk.contents()[0] == before


def test_cut_and_drop_move_within_the_page(desk: Desk) -> None:
    desk.type("one two")
    desk.one.editor.select(0, 4)
    desk.one.editor.cut()
    assert lines(desk) == [("", "two", 0)]


def test_who_may_only_look_cannot_edit(desk: Desk) -> None:
    desk.type("words")
    desk.settle()
    document = desk.two.opening.shared.document
    document.editable = False
    desk.two.editor.setReadOnly(True)
    desk.two.run_action("bold")
    desk.two.run_action("table")
    desk.qtbot.keyClicks(desk.two.editor, "no")
    desk.qtbot.keyClick(desk.two.editor, Qt.Key.Key_Return)
    assert lines(desk) == [("", "words", 0)]
    assert (
        "may look"
        in next(a for a in desk.two.actions_here() if a.identity == "document.bold").why_not()
    )
    document.editable = True
