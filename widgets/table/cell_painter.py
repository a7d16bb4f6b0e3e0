"""Paints cells of a table: ticks in columns of checks, and where the others are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import (
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from widgets import fonts
from widgets.language import tr
from widgets.table.table_model import TableModel
from widgets.theme import Theme

_BOX_PX = 16
_SIDE_PX = 7
_SHOWN_MAX = 500

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class OtherSelection:
    """What somebody else has chosen: the corners of a range, by identities; or a `spare` cell,
    which has none yet, by its numbers."""

    name: str
    colour: str
    first: tuple[str, str] = ("", "")
    last: tuple[str, str] = ("", "")
    spare: tuple[int, int] | None = None


class CellPainter(QStyledItemDelegate):
    """`toggle` is asked to change the tick of a cell; `typed` is called when something is typed
    into the editor of one."""

    def __init__(
        self,
        theme: Theme,
        model: TableModel,
        toggle: Callable[[Index], None],
        typed: Callable[[], None],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = model
        self._toggle = toggle
        self._typed = typed
        self._font = fonts.font()
        self._metrics = QFontMetrics(self._font)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paints by itself: Qt's way asks the model seven times for each cell of each frame."""
        area = option.rect
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(area, self._theme.colour("selection"))
        cell = self._model.cell(index)
        if cell is None:
            return
        ticked = self._model.check(index)
        if ticked is not None:
            self._paint_tick(painter, self._box(area), ticked)
            return
        words, role, side = self._model.look(*cell)
        if words:
            painter.setFont(self._font)
            painter.setPen(self._theme.colour(role))
            room = area.adjusted(_SIDE_PX, 0, -_SIDE_PX, 0)
            line = words.partition("\n")[0][:_SHOWN_MAX]
            shown = self._metrics.elidedText(line, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, int(side | Qt.AlignmentFlag.AlignVCenter), shown)

    def _box(self, cell: QRect) -> QRectF:
        centre = QRectF(cell).center()
        return QRectF(centre.x() - _BOX_PX / 2, centre.y() - _BOX_PX / 2, _BOX_PX, _BOX_PX)

    def _paint_tick(self, painter: QPainter, box: QRectF, ticked: bool) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.colour("accent" if ticked else "muted"), 1.5))
        painter.setBrush(self._theme.colour("accent" if ticked else "raised"))
        painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 3, 3)
        if ticked:
            painter.setPen(QPen(self._theme.colour("on_accent"), 1.75))
            corner = box.topLeft()
            points = [QPointF(4.5, 8.2), QPointF(7, 10.8), QPointF(11.5, 5.5)]
            painter.drawPolyline(QPolygonF([corner + point for point in points]))
        painter.restore()

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = QLineEdit(parent)
        editor.setProperty("kind", "cell")
        editor.setAccessibleName(tr("Cell"))
        editor.textEdited.connect(lambda _: self._typed())
        return editor

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, _index: Index
    ) -> None:
        editor.setGeometry(option.rect.adjusted(-1, -1, 1, 1))

    def editorEvent(
        self, event: QEvent, model: object, option: QStyleOptionViewItem, index: Index
    ) -> bool:
        if self._model.check(index) is not None and isinstance(event, QMouseEvent):
            inside = self._box(option.rect).adjusted(-4, -4, 4, 4).contains(event.position())
            if event.type() is QEvent.Type.MouseButtonRelease and inside:
                self._toggle(index)
                return True
        return False


def corners(model: TableModel, other: OtherSelection) -> tuple[QModelIndex, QModelIndex]:
    """Where the corners of somebody's choice are shown; invalid if they are not."""
    if other.spare is not None:
        spare = model.spare_index(*other.spare)
        return spare, spare
    return model.index_of(*other.first), model.index_of(*other.last)


def paint_others(
    painter: QPainter, theme: Theme, view: QTableView, others: Sequence[OtherSelection]
) -> None:
    """Outlines what the others have chosen, each with the name."""
    model = view.model()
    assert isinstance(model, TableModel)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    font = fonts.font(11, fonts.Weight.STRONG)
    painter.setFont(font)
    for other in others:
        first, last = corners(model, other)
        if not first.isValid() or not last.isValid():
            continue
        area = view.visualRect(first).united(view.visualRect(last))
        colour = theme.person_colour(other.colour)
        painter.setPen(QPen(colour, 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(area).adjusted(0, 0, -1, -1))
        name = QFontMetrics(font).elidedText(other.name, Qt.TextElideMode.ElideRight, 120)
        width = QFontMetrics(font).horizontalAdvance(name) + 10
        top = area.top() - 15 if area.top() >= 15 else area.bottom() + 1
        flag = QRectF(area.left() - 1, top, width, 16)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRoundedRect(flag, 3, 3)
        painter.setPen(theme.colour("raised"))
        painter.drawText(flag, Qt.AlignmentFlag.AlignCenter, name)
