"""What is painted beside the words of paragraphs: bullets, numbers, boxes to tick, bars of quotes.

These are not part of the text, so that positions in view and text are the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QTextBlock
from PySide6.QtWidgets import QTextEdit

from liveobj.richtext.model import BULLET, CHECK, CODE_BLOCK, NUMBER, QUOTE
from widgets import fonts
from widgets.document.rich_look import INDENT_PX, block_of
from widgets.look import SPACE_PX
from widgets.theme import Theme

_BOX_PX = 15
_BAR_PX = 3
_DOT_PX = 5.0
_CORNER_PX = 6


class BlockPainter:
    """Paints for one editor; only what can be seen."""

    def __init__(self, theme: Theme, view: QTextEdit) -> None:
        self._theme = theme
        self._view = view

    def paint_behind(self, painter: QPainter, area: QRect) -> None:
        """Grounds under lines of code; those that follow one another are one. They reach a little
        beyond their lines."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._colour("sunken"))
        stretch: QRectF | None = None
        for block, rect in self._visible(area.adjusted(0, -SPACE_PX, 0, SPACE_PX)):
            if _is_code(block):
                left = self._text_left(block) - 3 * SPACE_PX
                ground = QRectF(left, rect.top() - SPACE_PX, rect.right() - left, rect.height())
                ground.setBottom(rect.bottom() + SPACE_PX)
                # The round ends are elsewhere if there is more of it that is not painted now.
                if stretch is None and _is_code(block.previous()):
                    ground.setTop(ground.top() - 2 * _CORNER_PX)
                if _is_code(block.next()):
                    ground.setBottom(ground.bottom() + 2 * _CORNER_PX)
                stretch = ground if stretch is None else stretch.united(ground)
            elif stretch is not None:
                painter.drawRoundedRect(stretch, _CORNER_PX, _CORNER_PX)
                stretch = None
        if stretch is not None:
            painter.drawRoundedRect(stretch, _CORNER_PX, _CORNER_PX)

    def paint(self, painter: QPainter, area: QRect) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        number = 0
        for block, rect in self._visible(area):
            look = block_of(block.blockFormat())
            if look.style == NUMBER:
                number = number + 1 if number else _number_of(block)
                if _before_differs(block):
                    number = _number_of(block)
                self._paint_number(painter, block, rect, number)
                continue
            number = 0
            if look.style == BULLET:
                self._paint_bullet(painter, block, rect, look.indent)
            elif look.style == CHECK:
                self._paint_box(painter, self._box(block, rect), look.done)
            elif look.style == QUOTE:
                left = self._text_left(block) - INDENT_PX / 2
                height = rect.height()
                painter.fillRect(QRectF(left, rect.top(), _BAR_PX, height), self._colour("border"))

    def box_at(self, point: QPoint) -> int | None:
        """The position of the item whose box is there."""
        for block, rect in self._visible(QRect(0, point.y() - 2, 4000, 4)):
            if block_of(block.blockFormat()).style == CHECK:
                box = self._box(block, rect).adjusted(-4, -4, 4, 4)
                if box.contains(QPointF(point)):
                    return block.position()
        return None

    # Where things are

    def _visible(self, area: QRect) -> Iterator[tuple[QTextBlock, QRectF]]:
        """Paragraphs that can be seen, with the rectangle of their words."""
        layout = self._view.document().documentLayout()
        dx = self._view.horizontalScrollBar().value()
        dy = self._view.verticalScrollBar().value()
        block = self._view.cursorForPosition(QPoint(0, max(0, area.top()))).block()
        while block.isValid():
            outer = layout.blockBoundingRect(block).translated(-dx, -dy)
            if outer.top() > area.bottom():
                return
            if block.isVisible():
                yield block, outer
            block = block.next()

    def _first_line(self, block: QTextBlock, rect: QRectF) -> QRectF:
        """Of the words, in the view."""
        line = block.layout().lineAt(0)
        if not line.isValid():
            return rect
        top = rect.top() + line.y()
        return QRectF(rect.left(), top, rect.width(), line.height())

    def _box(self, block: QTextBlock, rect: QRectF) -> QRectF:
        line = self._first_line(block, rect)
        left = self._text_left(block) - INDENT_PX + SPACE_PX
        # The line is higher than its letters, by what its height is multiplied with, above them.
        middle = line.bottom() - fonts.Size.READING * 0.62
        return QRectF(left, middle - _BOX_PX / 2, _BOX_PX, _BOX_PX)

    def _text_left(self, block: QTextBlock) -> float:
        left = self._view.document().documentMargin() + block.blockFormat().leftMargin()
        return left - self._view.horizontalScrollBar().value()

    # Painting

    def _colour(self, role: str):  # type: ignore[no-untyped-def]
        return self._theme.colour(role)

    def _paint_bullet(
        self, painter: QPainter, block: QTextBlock, rect: QRectF, indent: int
    ) -> None:
        box = self._box(block, rect)
        dot = QRectF(0, 0, _DOT_PX, _DOT_PX)
        dot.moveCenter(box.center())
        painter.setPen(QPen(self._colour("muted"), 1.4))
        painter.setBrush(self._colour("muted") if indent % 2 == 0 else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(dot)

    def _paint_number(
        self, painter: QPainter, block: QTextBlock, rect: QRectF, number: int
    ) -> None:
        box = self._box(block, rect)
        painter.setPen(self._colour("muted"))
        painter.setFont(fonts.font(fonts.Size.READING))
        words = QRectF(box.right() - 60, box.center().y() - 14, 60 + SPACE_PX, 28)
        painter.drawText(
            words, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{number}."
        )

    def _paint_box(self, painter: QPainter, box: QRectF, done: bool) -> None:
        painter.setPen(QPen(self._colour("accent" if done else "muted"), 1.5))
        painter.setBrush(self._colour("accent") if done else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(0.75, 0.75, -0.75, -0.75), 4, 4)
        if done:
            painter.setPen(QPen(self._colour("on_accent"), 2))
            left, top = box.left(), box.top()
            tick = [QPointF(left + x, top + y) for x, y in ((4, 7.8), (6.6, 10.4), (11, 5))]
            painter.drawPolyline(tick)


def _is_code(block: QTextBlock) -> bool:
    return block.isValid() and block_of(block.blockFormat()).style == CODE_BLOCK


def _before_differs(block: QTextBlock) -> bool:
    """Whether the item before is not simply one less."""
    before = block.previous()
    if not before.isValid():
        return True
    return block_of(before.blockFormat()).indent != block_of(block.blockFormat()).indent


def _number_of(block: QTextBlock) -> int:
    """Which item of its list a paragraph is: deeper ones in between do not count."""
    indent = block_of(block.blockFormat()).indent
    number = 1
    before = block.previous()
    while before.isValid():
        look = block_of(before.blockFormat())
        if look.indent < indent or (look.indent == indent and look.style != NUMBER):
            break
        number += look.indent == indent
        before = before.previous()
    return number
