"""Paints what is in a folder: as cards with small pictures, or as lines of a list."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPainterPath, QPixmap
from PySide6.QtWidgets import QLineEdit, QListView, QStyle, QStyledItemDelegate, QWidget

from liveobj.objects.shared_folder import FolderEntry
from widgets import fonts
from widgets.folder.folder_model import FolderModel
from widgets.folder.thumbnails import Thumbnails
from widgets.icons import icon, picture
from widgets.language import tr
from widgets.theme import Theme

CARD = QSize(172, 156)
LINE_PX = 40
_PICTURE_PX = 104


class EntryPainter(QStyledItemDelegate):
    """`cards` says in which of the two ways."""

    def __init__(
        self, theme: Theme, model: FolderModel, thumbnails: Thumbnails, view: QListView
    ) -> None:
        super().__init__(view)
        self._theme = theme
        self._model = model
        self._thumbnails = thumbnails
        self._view = view
        self.cards = True

    def sizeHint(self, _option: Any, _index: Any) -> QSize:
        return CARD if self.cards else QSize(200, LINE_PX)

    def paint(self, painter: QPainter, option: Any, index: Any) -> None:
        entry = self._model.entry(index)
        if entry is None:
            return
        painter.save()
        painter.setRenderHints(
            QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform
        )
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        area = QRectF(option.rect)
        if self.cards:
            self._paint_card(painter, area.adjusted(6, 6, -6, -6), entry, chosen, hovered)
        else:
            self._paint_line(painter, area, entry, chosen, hovered)
        painter.restore()

    def _words(self, entry: FolderEntry) -> str:
        if entry.problem:
            return tr("Cannot be read")
        kind = self._model.kind(entry)
        return tr("Object") if kind is None else tr(kind.title)

    def _paint_card(
        self, painter: QPainter, area: QRectF, entry: FolderEntry, chosen: bool, hovered: bool
    ) -> None:
        theme = self._theme
        painter.setPen(theme.colour("accent" if chosen else "border"))
        painter.setBrush(theme.colour("selection" if chosen else "raised"))
        if hovered and not chosen:
            painter.setBrush(theme.colour("hover"))
        painter.drawRoundedRect(area, 8, 8)
        top = QRectF(area.left() + 1, area.top() + 1, area.width() - 2, _PICTURE_PX - 8)
        small = None if entry.reference is None else self._thumbnails.picture(entry.reference)
        if small is not None:
            self._paint_thumbnail(painter, top, small)
        else:
            self._paint_drawing(painter, top, entry)
        font = fonts.font(fonts.Size.BASE, fonts.Weight.MEDIUM)
        name = QRectF(area.left() + 8, top.bottom() + 4, area.width() - 16, 20)
        self._paint_text(painter, name, entry.name, font, "text")
        below = QRectF(name.left(), name.bottom() - 2, name.width(), 18)
        role = "danger" if entry.problem else "muted"
        self._paint_text(painter, below, self._words(entry), fonts.font(fonts.Size.SMALL), role)

    def _paint_thumbnail(self, painter: QPainter, area: QRectF, small: QPixmap) -> None:
        shape = QPainterPath()
        shape.addRoundedRect(area, 7, 7)
        painter.save()
        painter.setClipPath(shape)
        height = area.width() * small.height() / max(1, small.width())
        painter.drawPixmap(
            QRectF(area.left(), area.top(), area.width(), height), small, small.rect()
        )
        painter.restore()
        painter.setPen(self._theme.colour("border"))
        painter.drawLine(area.bottomLeft(), area.bottomRight())

    def _paint_drawing(self, painter: QPainter, area: QRectF, entry: FolderEntry) -> None:
        kind = self._model.kind(entry)
        name = "object" if kind is None else kind.picture
        size = QSize(48, 48)
        drawing = picture(self._theme, name, size, self._view.devicePixelRatioF())
        centre = area.center()
        painter.drawPixmap(
            QRectF(centre.x() - 24, centre.y() - 24, 48, 48), drawing, drawing.rect()
        )

    def _paint_line(
        self, painter: QPainter, area: QRectF, entry: FolderEntry, chosen: bool, hovered: bool
    ) -> None:
        theme = self._theme
        if chosen or hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour("selection" if chosen else "hover"))
            painter.drawRoundedRect(area.adjusted(4, 1, -4, -1), 6, 6)
        kind = self._model.kind(entry)
        box = QRect(int(area.left()) + 16, int(area.center().y()) - 10, 20, 20)
        sign = "triangle-alert" if entry.problem else "box" if kind is None else kind.icon
        icon(theme, sign, "danger" if entry.problem else "text").paint(painter, box)
        name = QRectF(area.left() + 48, area.top(), area.width() * 0.62 - 48, area.height())
        self._paint_text(painter, name, entry.name, fonts.font(), "text")
        words = QRectF(
            name.right() + 12, area.top(), area.right() - name.right() - 24, area.height()
        )
        role = "danger" if entry.problem else "muted"
        self._paint_text(painter, words, entry.problem or self._words(entry), fonts.font(), role)

    def _paint_text(self, painter: QPainter, area: QRectF, text: str, font: Any, role: str) -> None:
        painter.setFont(font)
        painter.setPen(self._theme.colour(role))
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, int(area.width()))
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, shown)

    def createEditor(self, parent: QWidget, _option: Any, _index: Any) -> QWidget:
        editor = QLineEdit(parent)
        editor.setProperty("kind", "cell")
        editor.setAccessibleName(tr("Name"))
        return editor

    def updateEditorGeometry(self, editor: QWidget, option: Any, _index: Any) -> None:
        area: QRect = option.rect
        if self.cards:
            editor.setGeometry(area.left() + 8, area.top() + _PICTURE_PX - 2, area.width() - 16, 26)
        else:
            editor.setGeometry(area.left() + 40, area.top() + 6, area.width() // 2, 28)
