"""Long pastes and removals go in slices: nobody waits for them, all of it lands where meant."""

from __future__ import annotations

import random
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QTextCursor

from tests.widgets.test_note_editor import Note, open_editor, selection, send, set_caret
from widgets import long_edits, pasting
from widgets.note_editor import NoteEditor
from widgets.pasting import STEP_CHARACTERS
from widgets.text_binding import TextBinding
from widgets.theme import Theme


class TickingClock:
    """Two milliseconds pass whenever somebody looks: a slice has a few steps, on every machine."""

    def __init__(self) -> None:
        self.now_s = 50.0

    def __call__(self) -> float:
        self.now_s += 0.002
        return self.now_s


LINES = "".join(f"line {number} of what is pasted\n" for number in range(6000))


@pytest.fixture
def ada() -> Note:
    return Note(1, "Ada")


@pytest.fixture
def jun() -> Note:
    return Note(2, "Jun")


@pytest.fixture
def editor(theme: Theme, ada: Note, qtbot: Any) -> NoteEditor:
    return open_editor(theme, ada, qtbot, TickingClock())


def paste(editor: NoteEditor, words: str) -> None:
    mime = QMimeData()
    mime.setText(words)
    editor.insertFromMimeData(mime)


def slices(editor: NoteEditor, count: int) -> None:
    """So many turns of the loop, as far as the paste is concerned."""
    for each in list(editor.long_edits._pastings):
        for _ in range(count):
            each.run_slice()


def run_all(editor: NoteEditor) -> None:
    for _ in range(2000):
        if not editor.long_edits.is_pasting:
            break
        slices(editor, 1)
    assert not editor.long_edits.is_pasting
    editor.show_newest()


def test_a_long_paste_goes_in_slices_of_bounded_size(
    editor: NoteEditor, ada: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    applied: list[int] = []
    replace_shown = TextBinding.replace_shown

    def count(binding: TextBinding, cursor: QTextCursor, at: int, removed: int, added: str) -> None:
        applied.append(len(added))
        replace_shown(binding, cursor, at, removed, added)

    monkeypatch.setattr(TextBinding, "replace_shown", count)
    paste(editor, LINES)
    assert ada.text.length == 0
    turns, most = 0, 0
    while editor.long_edits.is_pasting:
        before = ada.text.length
        slices(editor, 1)
        most = max(most, ada.text.length - before)
        turns += 1
        assert editor.toPlainText() == ada.text.to_string()
    assert most <= 5 * STEP_CHARACTERS
    assert turns > 8
    assert max(applied) <= STEP_CHARACTERS
    assert editor.toPlainText() == ada.text.to_string() == LINES
    assert selection(editor) == (len(LINES), len(LINES))


def test_a_long_paste_reads_the_text_never_as_a_whole(
    editor: NoteEditor, ada: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada.text.insert(0, "before\nafter")
    editor.show_newest()
    set_caret(editor, 7)
    reads: list[str] = []
    monkeypatch.setattr(type(ada.text), "to_string", lambda _text: reads.append("all") or "")
    paste(editor, LINES)
    run_all(editor)
    assert reads == []
    monkeypatch.undo()
    assert ada.text.to_string() == f"before\n{LINES}after"


def test_one_undo_takes_a_long_paste_back_and_redo_brings_it_again(
    editor: NoteEditor, ada: Note, qtbot: Any
) -> None:
    qtbot.keyClicks(editor, "ab")
    set_caret(editor, 1)
    paste(editor, LINES)
    run_all(editor)
    assert editor.toPlainText() == f"a{LINES}b"
    editor.undo_edit()
    editor.show_newest()
    assert editor.toPlainText() == ada.text.to_string() == "ab"
    editor.redo_edit()
    editor.show_newest()
    assert editor.toPlainText() == ada.text.to_string() == f"a{LINES}b"


def test_what_is_typed_meanwhile_stands_after_the_paste(
    editor: NoteEditor, ada: Note, qtbot: Any
) -> None:
    qtbot.keyClicks(editor, "start end")
    set_caret(editor, 6)
    paste(editor, LINES)
    qtbot.keyClicks(editor, "on")
    slices(editor, 2)
    qtbot.keyClicks(editor, "ly ")
    run_all(editor)
    assert editor.toPlainText() == ada.text.to_string() == f"start {LINES}only end"
    assert selection(editor)[1] == len(f"start {LINES}only ")


def test_a_long_paste_takes_the_place_of_the_selection_as_one_step(
    editor: NoteEditor, ada: Note, qtbot: Any
) -> None:
    qtbot.keyClicks(editor, "keep this keep")
    editor.replicated.undo_boundary()
    set_caret(editor, 5, 9)
    paste(editor, LINES)
    run_all(editor)
    assert editor.toPlainText() == ada.text.to_string() == f"keep {LINES} keep"
    editor.undo_edit()
    editor.show_newest()
    assert editor.toPlainText() == ada.text.to_string() == "keep this keep"


def test_escape_ends_a_paste_and_takes_it_back(editor: NoteEditor, ada: Note, qtbot: Any) -> None:
    qtbot.keyClicks(editor, "ab")
    paste(editor, LINES)
    slices(editor, 2)
    assert 0 < editor.long_edits._pastings[0].percent < 50
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert not editor.long_edits.is_pasting
    editor.show_newest()
    assert editor.toPlainText() == ada.text.to_string() == "ab"


def test_escape_leaves_what_was_typed_meanwhile(editor: NoteEditor, ada: Note, qtbot: Any) -> None:
    paste(editor, LINES)
    slices(editor, 1)
    qtbot.keyClicks(editor, "mine")
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert not editor.long_edits.is_pasting
    assert ada.text.to_string().endswith("mine")
    assert 4 < ada.text.length < len(LINES)


def test_undo_in_the_middle_of_a_paste_ends_it(editor: NoteEditor, ada: Note, qtbot: Any) -> None:
    paste(editor, LINES)
    slices(editor, 2)
    editor.undo_edit()
    run_all(editor)
    assert editor.toPlainText() == ada.text.to_string() == ""


def test_the_card_tells_how_far_it_is(editor: NoteEditor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_edits, "CARD_AFTER_S", 0.0)
    card = editor.long_edits.card
    paste(editor, LINES)
    slices(editor, 3)
    assert card.isVisible()
    percent = editor.long_edits._pastings[0].percent
    assert 0 < percent < 100
    assert card.text == f"Pasting… {percent} %"
    assert editor.rect().contains(card.geometry())
    run_all(editor)
    assert not card.isVisible()


def test_a_page_that_is_closed_has_all_of_the_paste(theme: Theme, ada: Note, qtbot: Any) -> None:
    editor = NoteEditor(theme, ada, clock=TickingClock())
    paste(editor, LINES)
    slices(editor, 1)
    editor.close_view()
    editor.deleteLater()
    assert ada.text.to_string() == LINES


def test_line_ends_and_halves_of_characters_from_elsewhere_are_made_plain(
    editor: NoteEditor, ada: Note
) -> None:
    paste(editor, "one\r\ntwo\rthree\u2029" * 3000)
    run_all(editor)
    assert editor.toPlainText() == ada.text.to_string() == "one\ntwo\nthree\n" * 3000
    assert pasting.plain_lines("a\ud83d\u0041") == "a\ufffdA"


def test_nothing_is_pasted_where_one_may_only_look(theme: Theme, qtbot: Any) -> None:
    note = Note(1, "Ada", editable=False)
    editor = open_editor(theme, note, qtbot, TickingClock())
    paste(editor, LINES)
    assert not editor.long_edits.is_pasting
    assert editor.toPlainText() == ""


@pytest.mark.parametrize("key", ["y", Qt.Key.Key_Delete, Qt.Key.Key_Backspace])
def test_a_long_selection_goes_in_slices_too(
    editor: NoteEditor, ada: Note, qtbot: Any, key: Any
) -> None:
    ada.text.insert(0, LINES)
    editor.show_newest()
    editor.selectAll()
    if isinstance(key, str):
        qtbot.keyClicks(editor, key)
    else:
        qtbot.keyClick(editor, key)
    left = key if isinstance(key, str) else ""
    assert ada.text.to_string() == left
    editor.show_newest()
    assert editor.toPlainText() == left
    assert selection(editor) == (len(left), len(left))
    editor.undo_edit()
    editor.show_newest()
    assert editor.toPlainText() == ada.text.to_string() == LINES


@pytest.mark.parametrize("seed", range(12))
def test_view_and_texts_are_the_same_after_everything_at_once(
    seed: int, theme: Theme, ada: Note, jun: Note, qtbot: Any
) -> None:
    dice = random.Random(seed)
    editor = open_editor(theme, ada, qtbot, TickingClock())
    ada.text.insert(0, "begin 😀\n" * 50)
    send(ada, jun)
    words = "".join(dice.choices(["wörd ", "😀", "\n", "pasted ", "漢字 "], k=9000))
    for _ in range(40):
        match dice.randrange(8):
            case 0:
                if not editor.long_edits.is_pasting:
                    paste(editor, words)
            case 1 | 2:
                slices(editor, 1)
            case 3:
                qtbot.keyClicks(editor, dice.choice(["typed ", "x"]))
            case 4:
                at = dice.randrange(len(jun.text.to_string().encode("utf-16-le")) // 2 + 1)
                try:
                    jun.text.insert(at, dice.choice(["far ", "\n"]))
                except Exception:  # in the middle of a character
                    jun.text.insert(0, "far")
                send(jun, ada)
            case 5:
                editor.moveCursor(dice.choice(list(QTextCursor.MoveOperation)[1:12]))
            case 6:
                editor.undo_edit() if dice.random() < 0.5 else editor.redo_edit()
            case 7:
                send(ada, jun)
    run_all(editor)
    send(ada, jun)
    send(jun, ada)
    editor.show_newest()
    assert editor.toPlainText() == ada.text.to_string() == jun.text.to_string()
