"""Paints a shared file as a line: name, what is known about it, and how much of it is here."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QWidget

from liveobj.objects.file_names import could_run
from widgets import fonts
from widgets.files.files_model import FilesModel, Here, state_of
from widgets.icons import icon
from widgets.language import tr
from widgets.theme import Theme

_LINE_PX = 56
_STATE_PX = 220
_ROLES = {Here.HERE: "good", Here.PROBLEM: "danger", Here.NOBODY: "warning"}


class FilePainter(QStyledItemDelegate):
    """Draws rows of a `FilesModel`."""

    def __init__(self, theme: Theme, model: FilesModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = model

    def sizeHint(self, _option: Any, _index: Any) -> QSize:
        return QSize(200, _LINE_PX)

    def paint(self, painter: QPainter, option: Any, index: Any) -> None:
        file = self._model.file(index)
        if file is None:
            return
        theme, area = self._theme, QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour("selection" if chosen else "hover"))
            painter.drawRoundedRect(area.adjusted(4, 2, -4, -2), 8, 8)
        sign = "file-warning" if could_run(file.name, b"") else "file"
        box = QRect(int(area.left()) + 18, int(area.center().y()) - 12, 24, 24)
        icon(theme, sign, "muted").paint(painter, box)
        state = min(float(_STATE_PX), area.width() * 0.4)
        words = QRectF(area.left() + 56, area.top() + 8, area.width() - 56 - state - 16, 20)
        self._text(painter, words, file.name, fonts.Weight.MEDIUM, "text", fonts.Size.BASE)
        below = words.translated(0, 19)
        normal = fonts.Weight.NORMAL
        self._text(painter, below, self._model.about(file), normal, "muted", fonts.Size.SMALL)
        right = QRectF(area.right() - state - 12, area.top(), state, area.height())
        self._paint_state(painter, right, index)
        painter.restore()

    def _paint_state(self, painter: QPainter, area: QRectF, index: Any) -> None:
        file = self._model.file(index)
        assert file is not None, "painted a moment ago"
        state = state_of(self._model.files, file.newest)
        role = _ROLES.get(state.here, "muted")
        moving = state.here is Here.COMING
        place = area.adjusted(0, 10 if moving else 0, 0, -24 if moving else 0)
        side = Qt.AlignmentFlag.AlignRight
        self._text(painter, place, state.words, fonts.Weight.MEDIUM, role, fonts.Size.SMALL, side)
        if moving:
            track = QRectF(area.left() + 20, area.center().y() + 8, area.width() - 20, 5)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.colour("border"))
            painter.drawRoundedRect(track, 2.5, 2.5)
            painter.setBrush(self._theme.colour("accent"))
            track.setWidth(max(5.0, track.width() * state.part))
            painter.drawRoundedRect(track, 2.5, 2.5)

    def _text(
        self,
        painter: QPainter,
        area: QRectF,
        words: str,
        weight: int,
        role: str,
        size: int,
        side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
    ) -> None:
        font = fonts.font(size, weight)
        painter.setFont(font)
        painter.setPen(self._theme.colour(role))
        shown = QFontMetrics(font).elidedText(
            words, Qt.TextElideMode.ElideMiddle, int(area.width())
        )
        painter.drawText(area, side | Qt.AlignmentFlag.AlignVCenter, shown)

    def createEditor(self, parent: QWidget, _option: Any, _index: Any) -> QWidget:
        editor = QLineEdit(parent)
        editor.setProperty("kind", "cell")
        editor.setAccessibleName(tr("Name of the file"))
        return editor

    def updateEditorGeometry(self, editor: QWidget, option: Any, _index: Any) -> None:
        area: QRect = option.rect
        editor.setGeometry(area.left() + 48, area.top() + 4, max(120, area.width() // 2), 26)
