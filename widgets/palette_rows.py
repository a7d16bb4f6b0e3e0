"""The rows of the command palette: what can be done, and what was found; how both are drawn."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from widgets import fonts
from widgets.icons import picture_icon
from widgets.language import tr
from widgets.look import SPACE_PX
from widgets.theme import Theme

ROW_PX = 36
ENTRY_ROLE = Qt.ItemDataRole.UserRole
_ICON_PX = 20


@dataclass(frozen=True, slots=True)
class Command:
    """Something to do; `reason` says why it cannot be done now, or is empty."""

    identity: str
    title: str
    shortcut: str
    reason: str = ""

    @property
    def spoken(self) -> str:
        return ", ".join(part for part in (self.title, self.shortcut, self.reason) if part)


@dataclass(frozen=True, slots=True)
class FoundObject:
    """An object: `key` opens it, `picture` is the drawing of its kind, `kind` its name, `snippet`
    the words around what was searched for."""

    key: str
    title: str
    kind: str
    picture: str
    snippet: str = ""

    @property
    def spoken(self) -> str:
        return tr("Open {title}", title=f"{self.title}, {self.kind}. {self.snippet}")


class PaletteRows(QStyledItemDelegate):
    """A command with its keys or why it cannot be done; an object with its picture and words."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(
        self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(0, ROW_PX)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        entry: Command | FoundObject = index.data(ENTRY_ROLE)
        dead = isinstance(entry, Command) and bool(entry.reason)
        rect: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.colour("hover" if dead else "selection"))
            painter.drawRoundedRect(rect.adjusted(0, 1, 0, -1), 6, 6)
        inner = rect.adjusted(3 * SPACE_PX, 0, -3 * SPACE_PX, 0)
        if isinstance(entry, FoundObject):
            self._paint_object(painter, inner, entry)
        else:
            self._paint_words(
                painter, inner, entry.title, entry.reason or entry.shortcut, dead=dead
            )
        painter.restore()

    def _paint_object(self, painter: QPainter, inner: QRect, entry: FoundObject) -> None:
        top = inner.top() + (inner.height() - _ICON_PX) // 2
        icon = picture_icon(self._theme, entry.picture)
        icon.paint(painter, QRect(inner.left(), top, _ICON_PX, _ICON_PX))
        words = inner.adjusted(_ICON_PX + 2 * SPACE_PX, 0, 0, 0)
        self._paint_words(painter, words, entry.title, entry.snippet or entry.kind)

    def _paint_words(
        self, painter: QPainter, room: QRect, left: str, right: str, *, dead: bool = False
    ) -> None:
        middle = Qt.AlignmentFlag.AlignVCenter
        elide = Qt.TextElideMode.ElideRight
        painter.setFont(fonts.font(fonts.Size.BASE, fonts.Weight.MEDIUM))
        painter.setPen(self._theme.colour("muted" if dead else "text"))
        words = painter.fontMetrics().elidedText(left, elide, room.width())
        used = painter.fontMetrics().horizontalAdvance(words) + 4 * SPACE_PX
        painter.drawText(room, middle | Qt.AlignmentFlag.AlignLeft, words)
        painter.setFont(fonts.font(fonts.Size.SMALL))
        painter.setPen(self._theme.colour("muted"))
        rest = painter.fontMetrics().elidedText(right, elide, max(0, room.width() - used))
        painter.drawText(room, middle | Qt.AlignmentFlag.AlignRight, rest)
