"""Paints one message of a chat and finds what is under the pointer in it.

Text of others is never read as markup: documents are made from plain text, and addresses in it get
a format of their own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from PySide6.QtCore import (
    QDate,
    QLocale,
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QFontMetrics,
    QPainter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from widgets import fonts
from widgets.chat.chat_model import ChatModel, Row, day_of, time_of, words_of
from widgets.chat.links import find_links
from widgets.language import tr
from widgets.look import SPACE_PX
from widgets.people import initials
from widgets.theme import Theme

_DISC_PX = 32
_SIDE_PX = 5 * SPACE_PX
_TEXT_LEFT_PX = _SIDE_PX + _DISC_PX + 3 * SPACE_PX
_TEXT_WIDTH_MAX_PX = 760
_HEAD_PX = 20
_QUOTE_PX = 20
_LINE_PX = 32
_GAP_PX = 3 * SPACE_PX
_KEPT_MAX = 600

Index = QModelIndex | QPersistentModelIndex


@dataclass(slots=True)
class _Layout:
    """A message laid out for one width; `row` is what it was made from."""

    row: Row
    width: int
    words: QTextDocument
    text_top: float
    height: int


class MessagePainter(QStyledItemDelegate):
    """Draws rows of a `ChatModel`. `names` gives the names that can be mentioned, one's own
    first."""

    def __init__(
        self, theme: Theme, model: ChatModel, names: Callable[[], Sequence[str]], view: QListView
    ) -> None:
        super().__init__(view)
        self._view = view
        self._theme = theme
        self._model = model
        self._names = names
        self._layouts: OrderedDict[str, _Layout] = OrderedDict()

    def forget(self) -> None:
        """Lays everything out anew: colours or names have changed."""
        self._layouts.clear()

    def link_at(self, index: Index, area: QRectF, position: QPointF) -> str:
        """The address under the pointer, or empty."""
        layout = self._layout(index, int(area.width()))
        inner = position - QPointF(_TEXT_LEFT_PX, area.top() + layout.text_top)
        return str(layout.words.documentLayout().anchorAt(inner))

    # Laying out

    def _layout(self, index: Index, width: int) -> _Layout:
        row = self._model.row(index.row())
        identity = row.message.identity
        kept = self._layouts.get(identity)
        if kept is not None and kept.width == width and kept.row == row:
            self._layouts.move_to_end(identity)
            return kept
        words = self._words(row)
        text_width = min(_TEXT_WIDTH_MAX_PX, max(80, width - _TEXT_LEFT_PX - _SIDE_PX))
        words.setTextWidth(text_width)
        top = (_GAP_PX if row.starts_group else 2) + _LINE_PX * (row.starts_day + row.first_unread)
        top += _QUOTE_PX if row.message.reply_to else 0
        top += _HEAD_PX if row.starts_group else 0
        layout = _Layout(row, width, words, top, int(top + words.size().height()) + 3)
        self._layouts[identity] = layout
        if len(self._layouts) > _KEPT_MAX:
            self._layouts.popitem(last=False)
        return layout

    def _words(self, row: Row) -> QTextDocument:
        document = QTextDocument()
        document.setDocumentMargin(0)
        document.setDefaultFont(fonts.font(fonts.Size.READING))
        cursor = QTextCursor(document)
        plain = QTextCharFormat()
        quiet = row.message.deleted
        plain.setForeground(self._theme.colour("muted" if quiet else "text"))
        plain.setFontItalic(quiet)
        text = words_of(row.message)
        cursor.insertText(text, plain)
        if not quiet:
            self._format_links(document, text)
            self._format_mentions(document, text)
        if row.message.edited:
            edited = QTextCharFormat()
            edited.setFont(fonts.font(fonts.Size.SMALL))
            edited.setForeground(self._theme.colour("muted"))
            cursor.insertText("  " + tr("edited"), edited)
        return document

    def _format_links(self, document: QTextDocument, text: str) -> None:
        for link in find_links(text):
            marked = QTextCharFormat()
            marked.setAnchor(True)
            marked.setAnchorHref(link.url)
            marked.setForeground(self._theme.colour("accent"))
            marked.setFontUnderline(True)
            _merge(document, text, link.start, link.end, marked)

    def _format_mentions(self, document: QTextDocument, text: str) -> None:
        if "@" not in text:
            return
        marked = QTextCharFormat()
        marked.setForeground(self._theme.colour("accent"))
        marked.setFontWeight(fonts.Weight.STRONG)
        for name in self._names():
            at = text.find("@" + name) if name else -1
            while at >= 0:
                _merge(document, text, at, at + len(name) + 1, marked)
                at = text.find("@" + name, at + 1)

    # Painting

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        area = QRectF(option.rect)
        state = option.state
        layout = self._layout(index, int(area.width()))
        row = layout.row
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        top = area.top() + (_GAP_PX if row.starts_group else 2)
        if row.starts_day:
            self._paint_line(painter, area, top, _day_words(row), "muted")
            top += _LINE_PX
        if row.first_unread:
            self._paint_line(painter, area, top, tr("New"), "danger")
            top += _LINE_PX
        if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            role = "selection" if state & QStyle.StateFlag.State_Selected else "sunken"
            ground = QRectF(area.left() + 8, top - 2, area.width() - 16, area.bottom() - top + 2)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.colour(role))
            painter.drawRoundedRect(ground, 8, 8)
        if row.message.reply_to:
            self._paint_quote(painter, area, top, row)
            top += _QUOTE_PX
        if row.starts_group:
            self._paint_head(painter, area, top, row)
        self._paint_mention_bar(painter, area, layout)
        painter.translate(_TEXT_LEFT_PX, area.top() + layout.text_top)
        layout.words.documentLayout().draw(painter, QAbstractTextDocumentLayout.PaintContext())
        painter.restore()

    def _paint_line(
        self, painter: QPainter, area: QRectF, top: float, words: str, role: str
    ) -> None:
        font = fonts.font(fonts.Size.SMALL, fonts.Weight.STRONG)
        width = QFontMetrics(font).horizontalAdvance(words) + 6 * SPACE_PX
        middle = top + _LINE_PX / 2 - 2
        painter.setPen(self._theme.colour("danger" if role == "danger" else "border"))
        centre = area.center().x()
        painter.drawLine(
            QPointF(area.left() + _SIDE_PX, middle), QPointF(centre - width / 2, middle)
        )
        painter.drawLine(
            QPointF(centre + width / 2, middle), QPointF(area.right() - _SIDE_PX, middle)
        )
        painter.setFont(font)
        painter.setPen(self._theme.colour(role))
        box = QRectF(centre - width / 2, middle - 10, width, 20)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)

    def _paint_head(self, painter: QPainter, area: QRectF, top: float, row: Row) -> None:
        message = row.message
        colour = self._theme.person_colour(message.colour)
        disc = QRectF(area.left() + _SIDE_PX, top + 2, _DISC_PX, _DISC_PX)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawEllipse(disc)
        painter.setFont(fonts.font(fonts.Size.SMALL, fonts.Weight.STRONG))
        painter.setPen(self._theme.colour("raised"))
        painter.drawText(disc, Qt.AlignmentFlag.AlignCenter, initials(message.name))
        font = fonts.font(fonts.Size.BASE, fonts.Weight.STRONG)
        metrics = QFontMetrics(font)
        room = int(area.width()) - _TEXT_LEFT_PX - _SIDE_PX - 64
        name = tr("{name} (you)", name=message.name) if row.mine else message.name
        shown = metrics.elidedText(name or "?", Qt.TextElideMode.ElideRight, max(40, room))
        painter.setFont(font)
        painter.setPen(colour)
        base = QPointF(area.left() + _TEXT_LEFT_PX, top + 14)
        painter.drawText(base, shown)
        time = time_of(message)
        if time is not None:
            painter.setFont(fonts.font(fonts.Size.SMALL))
            painter.setPen(self._theme.colour("muted"))
            after = base + QPointF(metrics.horizontalAdvance(shown) + 8, 0)
            painter.drawText(after, f"{time:%H:%M}")

    def _paint_quote(self, painter: QPainter, area: QRectF, top: float, row: Row) -> None:
        answered = row.answered
        words = tr("A message that is not here") if answered is None else ""
        role = "muted"
        if answered is not None:
            first = words_of(answered).partition("\n")[0]
            words = tr("{name}: {words}", name=answered.name, words=first)
        font = fonts.font(fonts.Size.SMALL)
        box = QRectF(area.left() + _TEXT_LEFT_PX, top, area.width() - _TEXT_LEFT_PX - _SIDE_PX, 18)
        bar = self._theme.colour("border")
        if answered is not None:
            bar = self._theme.person_colour(answered.colour)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(bar)
        painter.drawRoundedRect(QRectF(box.left(), top + 2, 3, 14), 1.5, 1.5)
        painter.setFont(font)
        painter.setPen(self._theme.colour(role))
        shown = QFontMetrics(font).elidedText(
            words, Qt.TextElideMode.ElideRight, int(box.width()) - 12
        )
        painter.drawText(box.adjusted(10, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, shown)

    def _paint_mention_bar(self, painter: QPainter, area: QRectF, layout: _Layout) -> None:
        """Beside what was said to oneself; the name in it is written strong as well."""
        me = next(iter(self._names()), "")
        if row_mentions(layout.row, me):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.colour("accent"))
            top = area.top() + layout.text_top
            painter.drawRoundedRect(
                QRectF(area.left() + 8, top, 3, area.bottom() - top - 3), 1.5, 1.5
            )

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        width = self._view.viewport().width()
        return QSize(width, self._layout(index, width).height)


def row_mentions(row: Row, name: str) -> bool:
    return bool(name) and not row.mine and f"@{name}" in row.message.text


def _merge(document: QTextDocument, text: str, start: int, end: int, form: QTextCharFormat) -> None:
    """Formats characters `start` to `end`; Qt counts in UTF-16 units."""
    cursor = QTextCursor(document)
    first = len(text[:start].encode("utf-16-le")) // 2
    last = first + len(text[start:end].encode("utf-16-le")) // 2
    cursor.setPosition(first)
    cursor.setPosition(last, QTextCursor.MoveMode.KeepAnchor)
    cursor.mergeCharFormat(form)


def _day_words(row: Row) -> str:
    day = day_of(row.message)
    assert day is not None, "only a day that is known starts"
    today = date.today()  # noqa: DTZ011 - the day on this person's calendar is meant
    if day == today:
        return tr("Today")
    if (today - day).days == 1:
        return tr("Yesterday")
    words: str = QLocale().toString(
        QDate(day.year, day.month, day.day), QLocale.FormatType.LongFormat
    )
    return words
