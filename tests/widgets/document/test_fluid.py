"""A long document stays quick while others edit all over it: what it costs, in processor time."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from liveobj.channels.presence import Presence, PresenceEntry
from liveobj.documents import Document, Text
from liveobj.objects.rich_document import RichBody
from liveobj.richtext.model import Block, Run
from widgets.document.formatted_edit import Writing
from widgets.document.rich_binding import RichBinding
from widgets.document.rich_editor import RichEditor
from widgets.theme import Theme

PARAGRAPHS = 2000
EDITS = 1500


class Long:
    """A long document in a view, and somebody else who edits it."""

    def __init__(self, theme: Theme) -> None:
        self.dice = random.Random(5)
        self.far = RichBody(Document(1), random.Random(1).randbytes)
        lines = [(Block(), [Run("word " * self.dice.randint(1, 30))]) for _ in range(PARAGRAPHS)]
        self.far.rich.insert_lines(0, lines)
        self.here = RichBody(Document(2), random.Random(2).randbytes)
        self.receive()
        nobody = Presence(PresenceEntry("Ada", "#006892"), lambda: None)
        writing = Writing(self.here.document, self.here.text, nobody, self.here.rich)
        # Half a millisecond passes whenever somebody looks at the clock, on every machine.
        ticks = itertools.count()
        self.editor = RichEditor(theme, writing, "text", clock=lambda: next(ticks) * 0.0005)
        self.editor.resize(800, 700)
        self.editor.show()

    def receive(self) -> None:
        news = self.far.document.export_since(self.here.document.version)
        self.here.document.import_update(news)

    def edit_everywhere(self, count: int) -> None:
        """The other one edits at random places, line ends too; it has all arrived here."""
        text = self.far.text
        for _ in range(count):
            at = self.dice.randrange(text.length - 2)
            match self.dice.randrange(8):
                case 0:
                    text.delete(at, 2)
                case 1:
                    self.far.rich.split(at)
                case 2:
                    self.far.rich.set_mark(at, at + 2, "bold", True)
                case _:
                    text.insert(at, "x")
        self.receive()

    @property
    def is_behind(self) -> bool:
        return self.editor.toPlainText() != self.here.text.to_string()


@pytest.fixture
def opening(qapp: QApplication, theme: Theme) -> Iterator[Long]:
    """It has just been opened."""
    long = Long(theme)
    yield long
    long.editor.close_view()
    long.editor.close()
    long.editor.deleteLater()


@pytest.fixture
def long(opening: Long, qapp: QApplication) -> Long:
    """All of it is there."""
    opening.editor.show_newest()
    qapp.processEvents()
    return opening


def cost_s(work: Callable[[], None]) -> float:
    start_s = time.thread_time()
    work()
    return time.thread_time() - start_s


def test_the_first_screen_is_there_at_once_and_the_rest_soon(
    opening: Long, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = opening.editor
    applied = 0
    apply_some = RichBinding.apply_some

    def count(binding: RichBinding, *arguments: Any) -> Any:
        nonlocal applied
        applied += 1
        return apply_some(binding, *arguments)

    monkeypatch.setattr(RichBinding, "apply_some", count)
    assert editor.is_filling
    shown = editor.toPlainText()
    assert 1000 < len(shown) < opening.here.text.length
    assert opening.here.text.to_string().startswith(shown)
    QTest.keyClicks(editor, "Hi ")
    opening.edit_everywhere(50)
    frames = 0
    while opening.is_behind:
        QTest.qWait(5)
        frames += 1
        assert editor.textCursor().position() >= 3
        assert frames < 400
    assert applied > 1, "in several turns of the loop"
    assert not editor.is_filling
    assert "Hi " in editor.toPlainText()[:100]


def test_one_edit_costs_the_same_however_long_the_text(long: Long) -> None:
    """Qt's own layout takes as long again for it as there are paragraphs."""
    long.editor.show_newest()
    everything_s = cost_s(
        lambda: long.editor.pages and long.editor.pages.lay_out_more(lambda: True)
    )

    def edit() -> None:
        long.far.text.insert(30, "x")
        long.receive()
        long.editor.show_newest()

    assert min(cost_s(edit) for _ in range(9)) < everything_s / 20


def test_no_key_reads_more_than_its_surroundings(
    long: Long, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []

    def count(name: str) -> None:
        whole = getattr(Text, name)

        def reads(text: Text, *arguments: Any) -> Any:
            found = whole(text, *arguments)
            read.append(len(found) if isinstance(found, str) else sum(len(p[0]) for p in found))
            return found

        monkeypatch.setattr(Text, name, reads)

    for name in ("to_string", "slice", "pieces"):
        count(name)
    for block in (0, 1000, 1999):
        place = QTextCursor(long.editor.document().findBlockByNumber(block))
        long.editor.setTextCursor(place)
        QTest.keyClicks(long.editor, "word ")
        for key in (Qt.Key.Key_Return, Qt.Key.Key_Backspace, Qt.Key.Key_Delete, Qt.Key.Key_Up):
            QTest.keyClick(long.editor, key)
        QTest.qWait(40)
    assert read
    assert max(read) < 2000


def test_a_key_does_not_wait_for_edits_elsewhere(long: Long) -> None:
    caret = QTextCursor(long.editor.document().findBlockByNumber(1000))
    long.editor.setTextCursor(caret)
    long.edit_everywhere(EDITS)
    assert long.is_behind
    before = caret.block().text()
    key_s = cost_s(lambda: QTest.keyClicks(long.editor, "Hi"))
    enter_s = cost_s(lambda: QTest.keyClick(long.editor, Qt.Key.Key_Return))
    assert long.is_behind
    all_s = cost_s(long.editor.show_newest)
    assert not long.is_behind
    assert (key_s + enter_s) * 2 < all_s
    assert long.editor.textCursor().block().previous().text() == "Hi"
    assert long.editor.textCursor().block().text().replace("x", "") == before.replace("x", "")


def test_what_waits_is_shown_in_a_few_frames_and_nothing_jumps(long: Long) -> None:
    editor = long.editor
    caret = QTextCursor(editor.document().findBlockByNumber(900))
    editor.setTextCursor(caret)
    QApplication.processEvents()
    high = editor.cursorRect().top()
    assert editor.viewport().rect().contains(editor.cursorRect())
    long.edit_everywhere(EDITS)
    frames = 0
    while long.is_behind:
        QTest.qWait(5)
        frames += 1
        assert editor.cursorRect().top() == high
        assert frames < 400
    assert editor.textCursor().position() == caret.position()
    marks = [(line.block, line.runs) for line in long.here.rich.lines()]
    assert marks == [(line.block, line.runs) for line in long.far.rich.lines()]


def test_two_write_at_once_and_agree_while_the_view_is_behind(long: Long) -> None:
    for _ in range(8):
        long.edit_everywhere(150)
        block = long.dice.randrange(long.editor.document().blockCount())
        long.editor.setTextCursor(QTextCursor(long.editor.document().findBlockByNumber(block)))
        QTest.keyClicks(long.editor, "ab ")
        QTest.keyClick(long.editor, Qt.Key.Key_Backspace)
        QTest.keyClick(long.editor, Qt.Key.Key_Delete)
        long.far.document.import_update(long.here.document.export_since(long.far.document.version))
    long.receive()
    long.editor.show_newest()
    assert long.editor.toPlainText() == long.here.text.to_string() == long.far.text.to_string()
