"""How a table lies on the page: how wide its columns and how high its rows are, and its words.

It reads the replicated table and paints; whoever shows it says how wide the page is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QPainter, QPen, QTextCursor, QTextDocument

from liveobj.documents import TextChange
from liveobj.observers import Subscription
from liveobj.richtext.embeds import Cell, Embeds, TableParts
from liveobj.richtext.model import BOLD, PLAIN, Run
from liveobj.richtext.rich_text import RichText
from widgets.document.rich_look import RichLook
from widgets.look import SPACE_PX
from widgets.theme import Theme

PADDING_PX = 2 * SPACE_PX
_COLUMN_MIN_PX = 40.0
_ROW_MIN_PX = 34.0


@dataclass(frozen=True, slots=True)
class Place:
    """A cell by its number from the top and from the left."""

    row: int
    column: int


class TableLayout:
    """Attributes: `parts` (the table), `rows` and `columns` (their names, as shown)."""

    def __init__(self, theme: Theme, embeds: Embeds, name: str) -> None:
        self._theme = theme
        self._embeds = embeds
        self._name = name
        self._look = RichLook(theme, compact=True)
        self._words: dict[Cell, QTextDocument] = {}
        self._watched: dict[Cell, Subscription] = {}
        self._width = 0.0
        self._heights: list[float] | None = None
        self.parts: TableParts = embeds.table(name)
        self.rows: list[str] = []
        self.columns: list[str] = []
        self.header = False
        self.renew()

    def close(self) -> None:
        for subscription in self._watched.values():
            subscription.close()
        self._watched.clear()

    def forget_look(self) -> None:
        """After a change of theme."""
        self._look.forget()
        self._words.clear()

    def renew(self) -> None:
        """Reads rows and columns again; cells tell by themselves when they change."""
        header = self._embeds.has_header(self._name)
        if header != self.header:
            self._words.clear()
        self.rows, self.columns, self.header = self.parts.rows, self.parts.columns, header
        self._heights = None

    def cell(self, place: Place) -> Cell:
        return Cell(self.rows[place.row], self.columns[place.column])

    def text(self, place: Place) -> RichText:
        return self.parts.cell(self.cell(place))

    def place_of(self, cell: Cell) -> Place | None:
        if cell.row in self.rows and cell.column in self.columns:
            return Place(self.rows.index(cell.row), self.columns.index(cell.column))
        return None

    # Sizes

    def size(self, width_px: float) -> QSizeF:
        if width_px != self._width:
            self._width, self._heights = width_px, None
        return QSizeF(width_px, max(_ROW_MIN_PX, sum(self._row_heights())) + 1)

    @property
    def _column_px(self) -> float:
        return max(_COLUMN_MIN_PX, self._width / max(1, len(self.columns)))

    def _row_heights(self) -> list[float]:
        if self._heights is None:
            self._heights = [self._row_height(row) for row in range(len(self.rows))]
        return self._heights

    def _row_height(self, row: int) -> float:
        inner = self._column_px - 2 * PADDING_PX
        height = _ROW_MIN_PX
        for column in range(len(self.columns)):
            words = self._document(Place(row, column))
            if words.textWidth() != inner:
                words.setTextWidth(inner)
            height = max(height, words.size().height() + 2 * PADDING_PX)
        return height

    def rect(self, place: Place) -> QRectF:
        top = sum(self._row_heights()[: place.row])
        height = self._row_heights()[place.row]
        return QRectF(place.column * self._column_px, top, self._column_px, height)

    def at(self, point: QPointF) -> Place | None:
        """The cell under a point."""
        column = int(point.x() // self._column_px)
        top = 0.0
        for row, height in enumerate(self._row_heights()):
            if top <= point.y() < top + height and 0 <= column < len(self.columns):
                return Place(row, column)
            top += height
        return None

    # Words

    def _document(self, place: Place) -> QTextDocument:
        cell = self.cell(place)
        found = self._words.get(cell)
        if found is None:
            found = self._words[cell] = QTextDocument()
            found.setDocumentMargin(0)
            self._fill(found, self.text(place), strong=self.header and place.row == 0)
            if cell not in self._watched:
                self._watched[cell] = self.text(place).text.observe(partial(self._forget, cell))
        return found

    def _forget(self, cell: Cell, _change: TextChange) -> None:
        self._words.pop(cell, None)
        self._heights = None

    def _fill(self, words: QTextDocument, text: RichText, *, strong: bool) -> None:
        cursor = QTextCursor(words)
        cursor.setBlockFormat(self._look.block(PLAIN))
        cursor.setBlockCharFormat(self._look.characters({}, PLAIN))
        for number, line in enumerate(text.lines()):
            if number:
                cursor.insertBlock()
            for run in line.runs:
                shown = Run(run.text, {**run.marks, BOLD: True}) if strong else run
                cursor.insertText(shown.text, self._look.characters(shown.marks, PLAIN))

    # Painting

    def paint(self, painter: QPainter, skip: Place | None = None) -> None:
        """Paints at the painter's origin; the words of `skip` are left out, as they are being
        edited."""
        size = self.size(self._width)
        page = QRectF(0, 0, size.width() - 1, size.height() - 1)
        if self.header and self.rows:
            head = QRectF(0, 0, page.width(), self._row_heights()[0])
            painter.fillRect(head, self._theme.colour("sunken"))
        for row in range(len(self.rows)):
            for column in range(len(self.columns)):
                if Place(row, column) != skip:
                    self._paint_words(painter, Place(row, column))
        painter.setPen(QPen(self._theme.colour("border"), 1))
        top = 0.0
        for height in self._row_heights()[:-1]:
            top += height
            painter.drawLine(QPointF(0, top), QPointF(page.right(), top))
        for column in range(1, len(self.columns)):
            left = column * self._column_px
            painter.drawLine(QPointF(left, 0), QPointF(left, page.bottom()))
        painter.drawRoundedRect(page.translated(0.5, 0.5), 4, 4)

    def _paint_words(self, painter: QPainter, place: Place) -> None:
        painter.save()
        rect = self.rect(place)
        painter.translate(rect.topLeft() + QPointF(PADDING_PX, PADDING_PX))
        self._document(place).drawContents(painter)
        painter.restore()
