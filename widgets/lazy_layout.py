"""Lays out long texts a paragraph at a time: those that are seen at once, the others when there is
time.

Qt's own layout goes through all paragraphs after an edit, which takes the whole of a frame in a
long document. Here an edit costs the same wherever it is and however long the text: what was not
laid out yet has a height by guess, and Qt keeps the sum of all heights before any paragraph for us,
as what it calls line counts. It knows plain paragraphs and characters that stand for something;
frames and tables of Qt are not laid out.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QFontMetricsF,
    QPainter,
    QPalette,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextDocument,
    QTextFrame,
    QTextLayout,
    QTextOption,
)
from shiboken6 import isValid

from liveobj.richtext.rich_text import OBJECT as OBJECT_CHARACTER
from widgets.stale_blocks import StaleBlocks

_PROPORTIONAL = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value
_DISTANCE = QTextBlockFormat.LineHeightTypes.LineDistanceHeight.value
# So few paragraphs are painted alone when only their words have changed.
_FEW = 4
# What a line takes with all that is around it, by its letters; only for guesses.
_LINE_FACTOR = 1.5
# The glyphs of so many paragraphs are kept: some screens full.
_PAINTED_MAX = 256
# So many paragraphs that are laid out already are passed over before the time is looked at.
_PASSED_AT_ONCE = 64


class LazyLayout(QAbstractTextDocumentLayout):
    """Attributes: `knows_edits` (whoever edits calls `touch` for each paragraph; Qt's report, which
    is of everything between the first and the last edit, is then passed over)."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._document = document
        self._margins = (0.0, 0.0, 0.0, 0.0)
        self._width = 0.0
        # Paragraphs that were measured for another width have another number as their user state.
        self._round = 0
        self._usual = (20.0, 80.0)  # height of a line and letters in it
        self._size = QSizeF()
        self._options: dict[tuple[object, object], QTextOption] = {}
        self._stale = StaleBlocks()
        self._scratch = QTextLayout()
        self._painted: deque[int] = deque()  # numbers of paragraphs whose glyphs are kept
        self.knows_edits = False
        # Paragraphs whose words were edited since the last update, with the height that they had;
        # None if there is more to be painted than those.
        self._edited: dict[int, int] | None = {}
        self._count = 1

    def set_margins(self, left: float, top: float, right: float, bottom: float) -> None:
        """The empty edge of the page, in pixels."""
        if self._margins != (left, top, right, bottom):
            self._margins = (left, top, right, bottom)
            self._renew_width()
            self._tell_size()

    @property
    def width_px(self) -> float:
        """Between the margins."""
        return self._width

    # Edits

    def touch(self, block: QTextBlock, *, alone: bool = False) -> None:
        """The paragraph, or how it looks, was edited; with `alone`, no other looks different for
        that."""
        if block.isValid():
            self._take_down(block, alone)
            block.clearLayout()
            block.setUserState(-1)
            if block.lineCount() <= 1:
                block.setLineCount(self._guess(block))
            number, count = block.blockNumber(), self._document.blockCount()
            self._stale.add(number, count)
            after = block.next()
            if after.isValid():  # its distance from this one may be another
                after.setUserState(-1)
                self._stale.add(number + 1, count)

    def _take_down(self, block: QTextBlock, alone: bool) -> None:
        number = block.blockNumber()
        if self._edited is None or number in self._edited:
            return
        if alone and len(self._edited) < _FEW and self.is_laid_out(block):
            self._edited[number] = block.lineCount()
        else:
            self._edited = None

    def _tell_update(self) -> None:
        """Has painted what was edited: a few paragraphs, if nothing has moved."""
        edited, self._edited = self._edited, {}
        before, self._count = self._count, self._document.blockCount()
        area = QRectF()
        if edited is not None and before == self._count:
            for number, height in edited.items():
                block = self._document.findBlockByNumber(number)
                after = block.next()
                if self._moves(block, height) or self._moves(after, after.lineCount()):
                    area = QRectF()
                    break
                width = max(0.0, self._document.pageSize().width())
                area |= QRectF(0.0, self._top(block), width, height)
        if area.isEmpty():
            self.update.emit()
        else:
            # The stubs do not know that this signal comes with and without an area.
            self.update[QRectF].emit(area)  # type: ignore[index]

    def _moves(self, block: QTextBlock, height: int) -> bool:
        """Whether a paragraph has another height than before."""
        if block.isValid() and not self.is_laid_out(block):
            self._lay_out(block)
        return block.isValid() and block.lineCount() != height

    def documentChanged(self, start: int, removed: int, added: int) -> None:
        if self._is_taken_down():
            return
        if not self.knows_edits:
            everything = start == 0 and removed == 0 and added >= self._document.characterCount()
            first = self._document.findBlock(start)
            last = self._document.findBlock(max(start, start + added - 1))
            if everything:
                self._edited = None
                self._renew_width()
                self._options.clear()
                self._guess_new(first)
            else:
                for block in _until(first, last):
                    self.touch(block, alone=True)
            if last.isValid():
                self.touch(last, alone=True)
            self.touch(first, alone=True)
        self._stale.set_count(self._document.blockCount())
        self._tell_update()
        self._tell_size()

    def _renew_width(self) -> None:
        """Everything is to be laid out again, when it is seen."""
        left, _, right, _ = self._margins
        self._width = max(40.0, self._document.pageSize().width() - left - right)
        self._round = (self._round + 1) % 1_000_000
        metrics = QFontMetricsF(self._document.defaultFont())
        letters = self._width / max(1.0, metrics.averageCharWidth())
        self._usual = (_LINE_FACTOR * metrics.height(), max(1.0, letters))
        self._stale.add_all(self._document.blockCount())

    def _guess_new(self, block: QTextBlock) -> None:
        while block.isValid():
            if block.lineCount() <= 1:
                block.setLineCount(self._guess(block))
            block = block.next()

    def _guess(self, block: QTextBlock) -> int:
        height, letters = self._usual
        return max(2, round(height * math.ceil(block.length() / letters)))

    def _tell_size(self) -> None:
        size = self.documentSize()
        if size != self._size:
            self._size = size
            self.documentSizeChanged.emit(size)

    # Laying out

    def is_measured(self, block: QTextBlock) -> bool:
        """Whether its height is no guess."""
        return block.userState() == self._round

    def is_laid_out(self, block: QTextBlock) -> bool:
        """Whether its lines are there, to be painted and pointed at."""
        return self.is_measured(block) and block.layout().lineCount() > 0

    def is_ready(self, top: float, bottom: float) -> bool:
        """Whether everything between two heights of the page is laid out."""
        block = self._block_at(top)
        y = self._top(block)
        while block.isValid() and y <= bottom:
            if not self.is_laid_out(block):
                return False
            y += block.lineCount()
            block = block.next()
        return True

    def lay_out(self, top: float, bottom: float) -> None:
        """Everything between two heights of the page."""
        for _ in self._between(top, bottom):
            pass
        self._tell_size()

    def lay_out_more(self, goes_on: Callable[[], bool]) -> bool:
        """Measures what was not seen yet as long as it may; True if there is more."""
        if self._lay_out_few(goes_on):
            self._lay_out_rest(goes_on)
        self._tell_size()
        return bool(self._stale)

    def _lay_out_few(self, goes_on: Callable[[], bool]) -> bool:
        """Single paragraphs that were edited; False if there was no time for more."""
        for number in self._stale.few():
            block = self._document.findBlockByNumber(number)
            self._stale.remove(number)
            if block.isValid() and not self.is_measured(block):
                self._measure(block)
                if not goes_on():
                    return False
        return True

    def _lay_out_rest(self, goes_on: Callable[[], bool]) -> None:
        block = self._document.findBlockByNumber(self._stale.rest)
        passed = 0
        while block.isValid():
            passed += 1
            ready = self.is_measured(block)
            if not ready:
                self._measure(block)
            block = block.next()
            if (not ready or passed % _PASSED_AT_ONCE == 0) and not goes_on():
                break
        self._stale.rest = block.blockNumber() if block.isValid() else self._document.blockCount()

    def _measure(self, block: QTextBlock) -> None:
        """Its height is known then. Its lines are not kept: Qt's layout of a paragraph keeps some
        sixty bytes for each letter, as long as the paragraph lives."""
        text = block.text()
        if not text or OBJECT_CHARACTER in text:  # of these only Qt's own layout knows the room
            self._lay_out(block)
            return
        layout, look = self._scratch, block.blockFormat()
        layout.setText(text)
        layout.setFont(self._document.defaultFont())
        layout.setFormats(block.textFormats())
        self._note_height(block, look, self._break_lines(layout, block, look))

    def _lay_out(self, block: QTextBlock) -> None:
        look = block.blockFormat()
        self._note_height(block, look, self._break_lines(block.layout(), block, look))

    def _note_height(self, block: QTextBlock, look: QTextBlockFormat, height: float) -> None:
        # The line count is what Qt sums up: here, pixels.
        block.setLineCount(max(1, round(self._gap(block, look) + height)))
        block.setUserState(self._round)

    def _break_lines(self, layout: QTextLayout, block: QTextBlock, look: QTextBlockFormat) -> float:
        """Makes the lines of a paragraph; returns how high they are."""
        left = look.leftMargin()
        width = self._width - left - look.rightMargin()
        left += self._margins[0]
        kind, amount = look.lineHeightType(), look.lineHeight()
        layout.setTextOption(self._option(block, look))
        layout.beginLayout()
        y = 0.0
        while True:
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(width)
            line.setPosition(QPointF(left, y))
            height = math.ceil(line.ascent() + line.descent() + line.leading())
            if kind == _DISTANCE:
                y += height + amount
            else:
                y += height * amount / 100 if kind == _PROPORTIONAL else height
        layout.endLayout()
        return y

    def _option(self, block: QTextBlock, look: QTextBlockFormat) -> QTextOption:
        key = (look.alignment(), block.textDirection())
        found = self._options.get(key)
        if found is None:
            found = QTextOption(self._document.defaultTextOption())
            found.setAlignment(key[0])
            found.setTextDirection(key[1])
            self._options[key] = found
        return found

    def _gap(self, block: QTextBlock, look: QTextBlockFormat) -> float:
        """Between a paragraph and the one before: the larger of what the two want."""
        before = block.previous()
        if not before.isValid():
            return 0.0
        return max(look.topMargin(), before.blockFormat().bottomMargin())

    # Places

    def _top(self, block: QTextBlock) -> float:
        return self._margins[1] + block.firstLineNumber()

    def _block_at(self, y: float) -> QTextBlock:
        inside = max(0, int(y - self._margins[1]))
        found = self._document.findBlockByLineNumber(inside)
        return found if found.isValid() else self._document.lastBlock()

    def _between(self, top: float, bottom: float) -> Iterator[tuple[QTextBlock, float]]:
        """Paragraphs with the height of their first line, laid out."""
        block = self._block_at(top)
        y = self._top(block)
        while block.isValid() and y <= bottom:
            if not self.is_laid_out(block):
                self._lay_out(block)
            yield block, y + self._gap(block, block.blockFormat())
            y += block.lineCount()
            block = block.next()

    # Qt

    def _is_taken_down(self) -> bool:
        """Whether the document is being destroyed. Qt still asks for places when a window with
        the focus in it goes; an error raised into Qt at that moment would end the program."""
        return not isValid(self._document)

    def documentSize(self) -> QSizeF:
        if self._is_taken_down():
            return self._size
        _, top, _, bottom = self._margins
        width = max(0.0, self._document.pageSize().width())
        return QSizeF(width, top + self._document.lineCount() + bottom)

    def pageCount(self) -> int:
        return 1

    def frameBoundingRect(self, _frame: QTextFrame) -> QRectF:
        return QRectF(QPointF(0.0, 0.0), self.documentSize())

    def blockBoundingRect(self, block: QTextBlock) -> QRectF:
        """Lays the paragraph out if need be: Qt asks before it looks at its lines."""
        if self._is_taken_down() or not block.isValid():
            return QRectF()
        if not self.is_laid_out(block):
            self._lay_out(block)
            self._tell_size()
        gap = self._gap(block, block.blockFormat())
        width = max(0.0, self._document.pageSize().width())
        return QRectF(0.0, self._top(block) + gap, width, block.lineCount() - gap)

    def hitTest(self, point: Any, accuracy: Qt.HitTestAccuracy) -> int:
        if self._is_taken_down():
            return -1
        block = self._block_at(point.y())
        place = self.blockBoundingRect(block)
        layout, y = block.layout(), point.y() - place.top()
        line = layout.lineAt(0)
        for number in range(layout.lineCount()):
            line = layout.lineAt(number)
            if y < line.y() + line.height():
                break
        exact = accuracy == Qt.HitTestAccuracy.ExactHit
        if exact and not line.naturalTextRect().contains(QPointF(point.x(), y)):
            return -1
        found = line.xToCursor(point.x())
        return block.position() + int(found)

    def draw(self, painter: QPainter, context: QAbstractTextDocumentLayout.PaintContext) -> None:
        if self._is_taken_down():
            return
        clip = context.clip
        if not clip.isValid():
            clip = QRectF(QPointF(0.0, 0.0), self.documentSize())
        painter.setPen(context.palette.color(QPalette.ColorRole.Text))
        # The formats are copied: they go when the list does, and take Python's view of them along.
        grounds = [
            (one.cursor.selectionStart(), one.cursor.selectionEnd(), QTextCharFormat(one.format))
            for one in context.selections
        ]
        caret = context.cursorPosition
        for block, y in self._between(clip.top(), clip.bottom()):
            start, size = block.position(), block.length()
            ranges = []
            for one, other, look in grounds:
                if one < start + size and other > start and one < other:
                    found = QTextLayout.FormatRange()
                    found.start = max(0, one - start)
                    found.length = min(size, other - start) - found.start
                    found.format = look
                    ranges.append(found)
            layout = block.layout()
            if not layout.cacheEnabled():
                self._keep_glyphs(block)
            layout.draw(painter, QPointF(0.0, y), ranges, clip)
            self._draw_caret(painter, block, y, caret)

    def _keep_glyphs(self, block: QTextBlock) -> None:
        """Qt throws the glyphs of a paragraph away after each use and makes them again for the
        next, a few times for each key. Those of paragraphs that were painted lately are kept."""
        block.layout().setCacheEnabled(True)
        self._painted.append(block.blockNumber())
        if len(self._painted) > _PAINTED_MAX:
            old = self._document.findBlockByNumber(self._painted.popleft())
            if old.isValid() and old != block:
                old.layout().setCacheEnabled(False)
                old.clearLayout()  # its height stays

    def _draw_caret(self, painter: QPainter, block: QTextBlock, y: float, caret: int) -> None:
        layout = block.layout()
        if caret < -1:  # inside what an input method composes
            if layout.preeditAreaText():
                at = layout.preeditAreaPosition() - (caret + 2)
                layout.drawCursor(painter, QPointF(0.0, y), at, self._caret_width())
        elif block.contains(caret) or (
            caret == block.position() + block.length() and not block.next().isValid()
        ):
            at = caret - block.position()
            layout.drawCursor(painter, QPointF(0.0, y), at, self._caret_width())

    def _caret_width(self) -> int:
        found = self.property("cursorWidth")
        return found if isinstance(found, int) else 1


def _until(first: QTextBlock, last: QTextBlock) -> Iterator[QTextBlock]:
    end = last.blockNumber()
    block = first
    while block.isValid() and block.blockNumber() <= end:
        yield block
        block = block.next()
