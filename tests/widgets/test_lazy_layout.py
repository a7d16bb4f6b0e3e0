"""Long texts are laid out a paragraph at a time, and places on the page are right all the same."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject, QPointF, QRect, Qt
from PySide6.QtGui import (
    QFont,
    QImage,
    QPaintEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QApplication, QTextEdit

from widgets.lazy_layout import LazyLayout

ROOT = Path(__file__).parents[2]


class Page(QTextEdit):
    """A view with the layout, of a size that is always the same."""

    def __init__(self, paragraphs: int) -> None:
        super().__init__()
        self.pages = LazyLayout(self.document())
        self.document().setUndoRedoEnabled(False)
        self.document().setDocumentLayout(self.pages)
        self.pages.set_margins(10, 20, 30, 40)
        dice = random.Random(3)
        self.setPlainText("\n".join("word " * dice.randint(0, 40) for _ in range(paragraphs)))
        self.resize(500, 400)

    def tops(self) -> list[float]:
        block = self.document().begin()
        tops = []
        while block.isValid():
            tops.append(self.pages.blockBoundingRect(block).top())
            block = block.next()
        return tops


@pytest.fixture
def page(qapp: QApplication, qtbot: Any) -> Page:
    page = Page(400)
    qtbot.addWidget(page)
    page.show()
    qapp.processEvents()
    return page


def measured(page: Page) -> int:
    block = page.document().begin()
    count = 0
    while block.isValid():
        count += page.pages.is_measured(block)
        block = block.next()
    return count


def laid_out(page: Page) -> int:
    """Of those with words in them: the line of an empty one takes no room worth a thought."""
    block = page.document().begin()
    count = 0
    while block.isValid():
        count += bool(block.text()) and page.pages.is_laid_out(block)
        block = block.next()
    return count


def test_lines_are_kept_of_what_is_seen_alone(page: Page) -> None:
    seen = laid_out(page)
    page.pages.lay_out_more(lambda: True)
    assert measured(page) == 400
    assert laid_out(page) == seen
    page.verticalScrollBar().setValue(page.verticalScrollBar().maximum())
    page.grab()
    assert seen < laid_out(page) < 120
    assert page.pages.is_laid_out(page.document().lastBlock())


def test_heights_are_measured_as_they_are_laid_out(page: Page) -> None:
    dice = random.Random(4)
    cursor = QTextCursor(page.document())
    for number in range(0, 400, 3):
        block = page.document().findBlockByNumber(number)
        cursor.setPosition(block.position() + dice.randrange(block.length()))
        look = QTextCharFormat()
        look.setFont(QFont(dice.choice(("Inter", "monospace")), dice.choice((9, 14, 30))))
        look.setFontWeight(dice.choice((400, 700)))
        cursor.insertText(dice.choice(("large words ", "漢字", "🙂 ")) * dice.randint(1, 9), look)
        margins = QTextBlockFormat()
        margins.setTopMargin(dice.choice((0, 7)))
        margins.setLeftMargin(dice.choice((0, 40)))
        margins.setAlignment(
            dice.choice((Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignJustify))
        )
        cursor.mergeBlockFormat(margins)
    page.pages.lay_out_more(lambda: True)
    block = page.document().begin()
    while block.isValid():
        height = block.lineCount()
        page.pages._lay_out(block)
        assert block.lineCount() == height, block.text()
        block = block.next()


def test_only_what_is_seen_is_laid_out_and_the_rest_when_there_is_time(page: Page) -> None:
    assert 1 <= laid_out(page) < 60
    left = iter(range(100))
    assert page.pages.lay_out_more(lambda: next(left, None) is not None)
    assert 100 <= measured(page) < 170
    assert not page.pages.lay_out_more(lambda: True)
    assert measured(page) == 400


def test_an_edit_lays_out_nothing_but_its_paragraph(page: Page) -> None:
    page.pages.lay_out_more(lambda: True)
    cursor = QTextCursor(page.document().findBlockByNumber(200))
    cursor.insertText("more words " * 30)
    assert measured(page) >= 398
    page.pages.lay_out_more(lambda: True)
    assert page.tops() == sorted(page.tops())


def test_after_an_edit_a_few_paragraphs_are_looked_at_however_many_follow(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.pages.lay_out_more(lambda: True)
    looked_at: list[int] = []
    is_measured = page.pages.is_measured

    def look(block: QTextBlock) -> bool:
        looked_at.append(block.blockNumber())
        return is_measured(block)

    monkeypatch.setattr(page.pages, "is_measured", look)
    for number in (3, 4, 200):
        QTextCursor(page.document().findBlockByNumber(number)).insertText("word\nand more ")
    assert not page.pages.lay_out_more(lambda: True)
    assert len(looked_at) < 60
    assert measured(page) == 403


def test_what_is_laid_out_already_is_passed_over_no_longer_than_there_is_time(page: Page) -> None:
    page.pages.lay_out_more(lambda: True)
    page.pages._stale.add_all(400)
    asked = 0

    def goes_on() -> bool:
        nonlocal asked
        asked += 1
        return False

    turns = 1
    while page.pages.lay_out_more(goes_on):
        turns += 1
    assert turns >= 6
    assert asked >= 6


def test_glyphs_are_kept_of_what_was_painted_lately_and_of_no_more(page: Page) -> None:
    page.pages.lay_out_more(lambda: True)
    bar = page.verticalScrollBar()
    for top in (*range(0, bar.maximum(), 300), bar.maximum()):
        bar.setValue(top)
        page.grab()
    block, kept = page.document().begin(), []
    while block.isValid():
        if block.layout().cacheEnabled():
            kept.append(block.blockNumber())
        block = block.next()
    assert kept
    assert len(kept) <= 256
    assert kept[-1] == 399
    tops = page.tops()
    assert tops == sorted(tops)


@pytest.mark.parametrize("seed", range(5))
def test_after_any_edits_everything_is_where_a_fresh_layout_has_it(page: Page, seed: int) -> None:
    dice = random.Random(seed)
    cursor = QTextCursor(page.document())
    for _ in range(60):
        cursor.setPosition(dice.randrange(page.document().characterCount()))
        match dice.randrange(5):
            case 0:
                cursor.insertText("word " * dice.randint(1, 60))
            case 1:
                cursor.insertBlock()
            case 2:
                cursor.movePosition(
                    QTextCursor.MoveOperation.NextBlock, QTextCursor.MoveMode.KeepAnchor
                )
                cursor.removeSelectedText()
            case 3:
                look = QTextBlockFormat()
                look.setTopMargin(dice.randint(0, 30))
                look.setBottomMargin(dice.randint(0, 30))
                look.setLeftMargin(dice.randint(0, 90))
                cursor.setBlockFormat(look)
            case 4:
                page.pages.lay_out_more(lambda: dice.random() < 0.9)
    kept = page.tops(), page.tops()  # the first lays out what the second asks for
    page.pages.set_margins(11, 20, 30, 40)
    page.pages.set_margins(10, 20, 30, 40)
    page.pages.lay_out_more(lambda: True)
    assert kept[1] == page.tops()


def test_every_letter_is_found_where_it_is_shown(page: Page) -> None:
    for number in (0, 7, 150, 399):
        block = page.document().findBlockByNumber(number)
        page.pages.lay_out_more(lambda: True)
        for place in range(0, block.length(), 7):
            cursor = QTextCursor(block)
            cursor.setPosition(block.position() + place)
            rect = page.cursorRect(cursor)
            point = QPointF(rect.center()) + QPointF(0.5, page.verticalScrollBar().value())
            found = page.pages.hitTest(point, Qt.HitTestAccuracy.FuzzyHit)
            assert abs(found - cursor.position()) <= 1
    assert page.pages.hitTest(QPointF(499, 3), Qt.HitTestAccuracy.ExactHit) == -1


def test_a_selection_is_painted(page: Page) -> None:
    plain = page.grab().toImage()
    page.selectAll()
    assert page.grab().toImage() != plain


_TAKEN_DOWN = """
import sys
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from shiboken6 import delete
from tests.widgets.test_lazy_layout import Page

application = QApplication([])
window = QWidget()
page = Page(3)
QVBoxLayout(window).addWidget(page)
window.show()
page.setFocus()
window.activateWindow()
application.processEvents()
assert page.hasFocus()
if sys.argv[1] == "deleted":
    delete(window)
elif sys.argv[1] == "dropped":
    del page, window
application.processEvents()
"""


@pytest.mark.parametrize("end", ["deleted", "dropped", "left"])
def test_a_window_may_be_taken_down_with_the_focus_in_its_text(end: str) -> None:
    # A process of its own: what is tested for is that it does not crash.
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-c", _TAKEN_DOWN, end]
    done = subprocess.run(
        command, check=False, env=environment, cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def on_screen(page: QTextEdit) -> QImage:
    """What was painted so far, bit by bit, as it is on the screen."""
    return page.screen().grabWindow(page.winId()).toImage()


def painted_anew(page: QTextEdit) -> QImage:
    page.viewport().repaint()
    return on_screen(page)


@pytest.mark.parametrize("seed", range(4))
def test_painting_only_what_was_edited_leaves_nothing_old(
    page: Page, qapp: QApplication, seed: int
) -> None:
    dice = random.Random(seed)
    page.setCursorWidth(0)  # it blinks
    for _ in range(25):
        cursor = page.textCursor()
        cursor.setPosition(dice.randrange(400))
        match dice.randrange(4):
            case 0:
                cursor.insertText(dice.choice(["x", "more words ", "\n", "W" * 60]))
            case 1:
                cursor.deletePreviousChar()
            case 2:
                cursor.setPosition(cursor.position() + 20, QTextCursor.MoveMode.KeepAnchor)
                cursor.removeSelectedText()
            case 3:
                look = QTextBlockFormat()
                look.setTopMargin(dice.choice([0, 12]))
                cursor.mergeBlockFormat(look)
        qapp.processEvents()
        assert on_screen(page) == painted_anew(page)


def test_a_letter_paints_its_paragraph_alone(page: Page, qapp: QApplication) -> None:
    painted: list[QRect] = []

    class Watching(QObject):
        def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
            if isinstance(event, QPaintEvent):
                painted.append(event.rect())
            return False

    watching = Watching()
    page.viewport().installEventFilter(watching)
    page.textCursor().insertText("x")
    qapp.processEvents()
    assert painted
    assert max(rect.height() for rect in painted) < page.viewport().height() / 2
    page.viewport().removeEventFilter(watching)
