"""Writing in a shared note: keys become edits, others' edits leave caret and scroll in peace."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt
from PySide6.QtGui import QInputMethodEvent, QTextCursor
from PySide6.QtWidgets import QApplication, QLineEdit

from liveobj.channels.presence import Caret, Presence, PresenceEntry
from liveobj.documents.document import Document
from liveobj.objects.text_note import TEXT_NAME
from widgets.note_editor import NoteEditor
from widgets.remote_carets import ACTIVE_S, RemoteCaret
from widgets.shared_text_edit import PAGE_MARGIN_PX
from widgets.theme import Theme


class Clock:
    def __init__(self) -> None:
        self.now_s = 50.0

    def __call__(self) -> float:
        return self.now_s


class Note:
    """A note whose edits and presence the test carries over itself."""

    def __init__(self, node: int, name: str, editable: bool = True) -> None:
        self.node = node
        self.document = Document(node, undo_merge_ms=1000, editable=editable)
        self.text = self.document.text(TEXT_NAME)
        self.presence = Presence(PresenceEntry(name, "#c1277a"), lambda: None)


def send(sender: Note, receiver: Note) -> None:
    receiver.document.import_update(sender.document.export_since(receiver.document.version))
    receiver.presence.accept(sender.node, sender.presence.mine.fields())


@pytest.fixture
def ada() -> Note:
    return Note(1, "Ada")


@pytest.fixture
def jun() -> Note:
    return Note(2, "Jun")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def editor(theme: Theme, ada: Note, clock: Clock, qtbot: Any) -> NoteEditor:
    return open_editor(theme, ada, qtbot, clock)


def open_editor(theme: Theme, note: Note, qtbot: Any, clock: Clock) -> NoteEditor:
    editor = NoteEditor(theme, note, clock=clock)
    qtbot.addWidget(editor, before_close_func=lambda editor: editor.close_view())
    editor.resize(800, 400)
    editor.show()
    editor.setFocus()
    return editor


def set_caret(editor: NoteEditor, anchor: int, position: int | None = None) -> None:
    caret = editor.textCursor()
    caret.setPosition(anchor)
    caret.setPosition(anchor if position is None else position, QTextCursor.MoveMode.KeepAnchor)
    editor.setTextCursor(caret)


def selection(editor: NoteEditor) -> tuple[int, int]:
    return editor.textCursor().anchor(), editor.textCursor().position()


def test_keys_reach_the_replicated_text(editor: NoteEditor, ada: Note, qtbot: Any) -> None:
    qtbot.keyClicks(editor, "hello")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(editor, "you")
    qtbot.keyClick(editor, Qt.Key.Key_Backspace)
    assert ada.text.to_string() == editor.toPlainText() == "hello\n\nyo"


def test_pasted_text_is_plain(editor: NoteEditor, ada: Note) -> None:
    data = QMimeData()
    data.setHtml("<b>bold</b> <img src='x'>")
    data.setText("bold")
    editor.insertFromMimeData(data)
    assert ada.text.to_string() == editor.toPlainText() == "bold"


def test_undo_takes_ones_own_edit_and_leaves_the_others(
    editor: NoteEditor, ada: Note, jun: Note, qtbot: Any
) -> None:
    qtbot.keyClicks(editor, "mine")
    send(ada, jun)
    jun.text.insert(4, " and yours")
    send(jun, ada)
    qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert editor.toPlainText() == ada.text.to_string() == " and yours"
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(editor, Qt.Key.Key_Z, both)
    assert editor.toPlainText() == ada.text.to_string() == "mine and yours"


def test_undo_can_be_asked_about(editor: NoteEditor, qtbot: Any) -> None:
    assert not editor.can_undo
    with qtbot.waitSignal(editor.history_changed):
        qtbot.keyClicks(editor, "x")
    assert editor.can_undo
    editor.undo_edit()
    assert editor.can_redo


def test_a_remote_edit_is_shown_in_the_next_frame(
    editor: NoteEditor, ada: Note, jun: Note, qtbot: Any
) -> None:
    jun.text.insert(0, "from afar")
    send(jun, ada)
    qtbot.waitUntil(lambda: editor.toPlainText() == "from afar")


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        ((6, 6), (0, 0, "Oh, "), (10, 10)),
        ((6, 6), (6, 0, "X"), (6, 6)),
        ((6, 6), (11, 0, "!"), (6, 6)),
        ((6, 6), (4, 4, ""), (4, 4)),
        ((6, 11), (6, 0, "X"), (7, 12)),
        ((6, 11), (11, 0, "X"), (6, 11)),
        ((11, 6), (6, 0, "X"), (12, 7)),
        ((6, 11), (8, 1, ""), (6, 10)),
    ],
)
def test_ones_own_caret_stays_where_it_is_in_the_text(
    editor: NoteEditor,
    ada: Note,
    jun: Note,
    before: tuple[int, int],
    edit: tuple[int, int, str],
    after: tuple[int, int],
) -> None:
    ada.text.insert(0, "hello world")
    send(ada, jun)
    editor.show_newest()
    set_caret(editor, *before)
    jun.text.replace(*edit)
    send(jun, ada)
    editor.show_newest()
    assert selection(editor) == after
    assert editor.toPlainText() == jun.text.to_string()


def test_what_one_looks_at_does_not_move_when_others_write_above(
    editor: NoteEditor, ada: Note, jun: Note
) -> None:
    ada.text.insert(0, "\n".join(f"line {number}" for number in range(200)))
    send(ada, jun)
    editor.show_newest()
    set_caret(editor, 900)
    editor.ensureCursorVisible()
    top = editor.cursorRect().top()
    jun.text.insert(0, "many\nnew\nlines\n" * 10)
    send(jun, ada)
    editor.show_newest()
    assert abs(editor.cursorRect().top() - top) <= 1


def test_scrolled_away_from_the_caret_the_first_line_stays(
    editor: NoteEditor, ada: Note, jun: Note
) -> None:
    ada.text.insert(0, "\n".join(f"line {number}" for number in range(200)))
    send(ada, jun)
    editor.show_newest()
    set_caret(editor, 0)
    editor.verticalScrollBar().setValue(1500)
    first = editor.cursorForPosition(editor.viewport().rect().topLeft()).block().text()
    jun.text.insert(5, "\nmore" * 20)
    send(jun, ada)
    editor.show_newest()
    assert editor.cursorForPosition(editor.viewport().rect().topLeft()).block().text() == first


def test_typing_right_after_a_remote_edit_lands_in_the_right_place(
    editor: NoteEditor, ada: Note, jun: Note, qtbot: Any
) -> None:
    qtbot.keyClicks(editor, "end")
    send(ada, jun)
    jun.text.insert(0, "start ")
    send(jun, ada)  # not shown yet: the key press comes first
    qtbot.keyClicks(editor, "!")
    assert editor.toPlainText() == ada.text.to_string() == "start end!"


def test_an_input_method_is_not_disturbed_while_it_composes(
    editor: NoteEditor, ada: Note, jun: Note
) -> None:
    ada.text.insert(0, "ab")
    send(ada, jun)
    editor.show_newest()
    set_caret(editor, 2)
    editor.inputMethodEvent(QInputMethodEvent("か", []))
    jun.text.insert(0, "X")
    send(jun, ada)
    editor.show_newest()
    assert editor.toPlainText() == "ab"
    commit = QInputMethodEvent("", [])
    commit.setCommitString("漢")
    editor.inputMethodEvent(commit)
    editor.show_newest()
    assert editor.toPlainText() == ada.text.to_string() == "Xab漢"


def test_carets_of_others_are_shown_with_name_and_place(
    editor: NoteEditor, ada: Note, jun: Note
) -> None:
    ada.text.insert(0, "hello world")
    send(ada, jun)
    place = jun.text.cursor_at(5)
    jun.presence.set_caret(Caret(TEXT_NAME, place, jun.text.cursor_at(2)))
    send(jun, ada)
    editor.show_newest()
    assert editor.remote_carets == (RemoteCaret(2, "Jun", "#c1277a", 5, 2),)
    ada.text.insert(0, "Oh, ")
    editor.show_newest()
    assert editor.remote_carets[0].position == 9
    ada.presence.keep_only([])
    editor.show_newest()
    assert editor.remote_carets == ()


def test_a_caret_is_painted_in_the_colour_of_its_person(
    editor: NoteEditor, ada: Note, jun: Note, theme: Theme
) -> None:
    ada.text.insert(0, "hello world")
    send(ada, jun)
    place = jun.text.cursor_at(5)
    jun.presence.set_caret(Caret(TEXT_NAME, place, place))
    send(jun, ada)
    editor.show_newest()
    at = QTextCursor(editor.document())
    at.setPosition(5)
    rect = editor.cursorRect(at)
    image = editor.viewport().grab().toImage()
    assert image.pixelColor(rect.left(), rect.center().y()) == theme.person_colour("#c1277a")


def test_ones_own_caret_is_told_to_the_others(editor: NoteEditor, ada: Note, qtbot: Any) -> None:
    qtbot.keyClicks(editor, "hello")
    set_caret(editor, 1, 4)
    editor.show_newest()
    caret = ada.presence.mine.caret
    assert caret is not None
    assert ada.text.position_of(caret.head) == 4
    assert ada.text.position_of(caret.anchor) == 1


def test_a_quiet_caret_becomes_small(
    editor: NoteEditor, ada: Note, jun: Note, clock: Clock
) -> None:
    place = jun.text.cursor_at(0)
    jun.presence.set_caret(Caret(TEXT_NAME, place, place))
    send(jun, ada)
    editor.show_newest()
    carets = editor._carets
    assert carets.is_active(carets.carets[0])
    assert carets.quiet_in_s() == ACTIVE_S
    clock.now_s += ACTIVE_S
    assert not carets.is_active(carets.carets[0])
    assert carets.quiet_in_s() is None


def test_rubbish_from_the_network_is_no_caret(editor: NoteEditor, ada: Note) -> None:
    fields = {"name": "", "colour": "#123456", "caret": [TEXT_NAME, b"rubbish", b""]}
    ada.presence.accept(9, fields)
    editor.show_newest()
    assert editor.remote_carets == ()


def test_a_note_that_one_may_only_read_cannot_be_edited(theme: Theme, qtbot: Any) -> None:
    note = Note(3, "Reader", editable=False)
    editor = open_editor(theme, note, qtbot, Clock())
    qtbot.keyClicks(editor, "no")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert editor.toPlainText() == note.text.to_string() == ""


def test_two_editors_on_one_note_show_the_same(theme: Theme, ada: Note, qtbot: Any) -> None:
    one, two = (open_editor(theme, ada, qtbot, Clock()) for _ in range(2))
    qtbot.keyClicks(one, "both")
    two.show_newest()
    assert two.toPlainText() == "both"


def test_a_theme_change_keeps_text_and_carets(
    editor: NoteEditor, ada: Note, theme: Theme, qtbot: Any
) -> None:
    qtbot.keyClicks(editor, "hello")
    theme.set_mode(type(theme.mode).DARK)
    assert editor.toPlainText() == ada.text.to_string() == "hello"


def test_a_caret_is_told_only_where_one_works(editor: NoteEditor, ada: Note) -> None:
    editor.show_newest()
    assert ada.presence.mine.caret is not None
    other = QLineEdit(editor)
    other.show()
    other.setFocus()
    editor.show_newest()
    assert ada.presence.mine.caret is None
    editor.setFocus()
    editor.show_newest()
    assert ada.presence.mine.caret is not None


def test_the_hint_of_an_empty_note_stands_below_the_names_of_the_others(
    editor: NoteEditor, ada: Note
) -> None:
    assert words_from(editor) == editor.cursorRect().top() >= PAGE_MARGIN_PX
    ada.text.insert(0, " ")
    editor.show_newest()
    assert words_from(editor) == -1, "what is written takes its place"


def words_from(editor: NoteEditor) -> int:
    """In which line of pixels, rounded down to that of the caret, the first words are."""
    editor.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    editor.clearFocus()
    image = editor.viewport().grab().toImage()
    ground = image.pixel(0, 0)
    for y in range(image.height()):
        if any(image.pixel(x, y) != ground for x in range(40, image.width() - 40)):
            caret = editor.cursorRect()
            return caret.top() if caret.top() <= y <= caret.bottom() else y
    return -1


def test_a_click_between_two_lines_is_on_the_nearer_one(
    theme: Theme, ada: Note, clock: Clock, qtbot: Any
) -> None:
    ada.text.insert(0, "first line of some words\nsecond line of some words")
    editor = open_editor(theme, ada, qtbot, clock)
    assert editor.textCursor().position() == 0
    caret = editor.textCursor()
    caret.setPosition(12)
    upper = editor.cursorRect(caret)
    caret.setPosition(12 + 25)
    lower = editor.cursorRect(caret)
    hit = set()
    for y in range(upper.top() + 2, lower.bottom() - 2):
        qtbot.mouseClick(
            editor.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(upper.center().x(), y)
        )
        hit.add(editor.textCursor().positionInBlock())
    assert hit <= set(range(9, 14))


def test_a_letter_does_not_wait_for_the_frame_of_a_caret(
    editor: NoteEditor, ada: Note, jun: Note, clock: Clock, qapp: QApplication
) -> None:
    send(jun, ada)
    qapp.processEvents()
    clock.now_s += 1
    jun.presence.set_caret(Caret(TEXT_NAME, jun.text.cursor_at(0), jun.text.cursor_at(0)))
    send(jun, ada)
    qapp.processEvents()
    assert editor.remote_carets, "it was shown just now"
    jun.text.insert(0, "x")
    send(jun, ada)
    for _ in range(2):
        qapp.processEvents()
    assert editor.toPlainText() == "x", "no time has passed, and it is there"
