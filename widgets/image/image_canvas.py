"""The surface on which a picture lies: zoom, pan, and drawing marks with pen, arrow and eraser."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
    QResizeEvent,
    QTransform,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from liveobj.objects.image import POINTS_MAX, Mark
from widgets.language import tr
from widgets.theme import Theme

ZOOM_MIN, ZOOM_MAX = 0.02, 32.0
_MARGIN_PX = 24
_ERASER_PX = 10
_PEN_PART = 0.004


class Tool(Enum):
    """What the left button does."""

    HAND = "hand"
    PEN = "pen"
    ARROW = "arrow"
    ERASER = "eraser"


class ImageCanvas(QWidget):
    """Attributes: `tool`, `zoom` (1 is a pixel for a pixel), `fitting` (the picture fills the
    window). Signals: `drawn(mark)`, `erased(identities)`, `looked` when zoom or place changed,
    `painted` when the picture has been seen."""

    painted = Signal()
    drawn = Signal(object)
    erased = Signal(list)
    looked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._picture = QPixmap()
        self._turn = 0
        self._marks: Mapping[str, Mark] = {}
        self._colour = ""
        self.tool = Tool.HAND
        self.zoom = 1.0
        self.fitting = True
        self._centre = QPointF(0.5, 0.5)
        self._line: list[tuple[float, float]] = []
        self._grabbed: QPointF | None = None
        self._touched: set[str] = set()
        self.setAccessibleName(tr("Picture"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Picture"))
        self.setMouseTracking(True)

    # What is shown

    def show_picture(self, image: QImage | None, turn: int) -> None:
        self._picture = QPixmap() if image is None else QPixmap.fromImage(image)
        self.set_turn(turn)

    def step(self, image: QImage) -> None:
        """The next picture of an animation, in the place of the one before."""
        self._picture = QPixmap.fromImage(image)
        self.update()

    def set_turn(self, turn: int) -> None:
        self._turn = turn
        if self.fitting:
            self.fit()
        self.update()

    def show_marks(self, marks: Mapping[str, Mark], own_colour: str) -> None:
        self._marks = marks
        self._colour = own_colour
        self.update()

    def set_tool(self, tool: Tool) -> None:
        self.tool = tool
        shapes = {Tool.HAND: Qt.CursorShape.OpenHandCursor}
        self.setCursor(shapes.get(tool, Qt.CursorShape.CrossCursor))

    # Where it lies

    def fit(self) -> None:
        """The whole picture, as large as there is room; small ones are not blown up."""
        self.fitting = True
        self._centre = QPointF(0.5, 0.5)
        width, height = self._turned_size()
        if width and height:
            room_x = max(1, self.width() - 2 * _MARGIN_PX)
            room_y = max(1, self.height() - 2 * _MARGIN_PX)
            self.zoom = max(ZOOM_MIN, min(room_x / width, room_y / height, 1.0))
        self.update()
        self.looked.emit()

    def zoom_by(self, factor: float, at: QPointF | None = None) -> None:
        """Zooms; what is at the point, or in the middle, stays there."""
        point = QPointF(self.rect().center()) if at is None else at
        before = self._to_picture(point)
        self.fitting = False
        self.zoom = min(max(self.zoom * factor, ZOOM_MIN), ZOOM_MAX)
        self._move_to(before, point)

    def _move_to(self, place: QPointF, point: QPointF) -> None:
        """Puts a place of the picture under a point of the window."""
        shift = self._from_picture(place) - point
        width, height = self._turned_size()
        if width and height:
            centre = self._centre + QPointF(
                shift.x() / (width * self.zoom), shift.y() / (height * self.zoom)
            )
            self._centre = QPointF(min(max(centre.x(), 0), 1), min(max(centre.y(), 0), 1))
        self.update()
        self.looked.emit()

    def _turned_size(self) -> tuple[int, int]:
        width, height = self._picture.width(), self._picture.height()
        return (height, width) if self._turn % 2 else (width, height)

    def _transform(self) -> QTransform:
        """From parts of the picture (0 to 1) to the window."""
        width, height = self._turned_size()
        transform = QTransform()
        transform.translate(self.width() / 2, self.height() / 2)
        transform.scale(self.zoom, self.zoom)
        transform.translate((0.5 - self._centre.x()) * width, (0.5 - self._centre.y()) * height)
        transform.rotate(90 * self._turn)
        transform.scale(max(1, self._picture.width()), max(1, self._picture.height()))
        transform.translate(-0.5, -0.5)
        return transform

    def _to_picture(self, point: QPointF) -> QPointF:
        inverse, possible = self._transform().inverted()
        return inverse.map(point) if possible else QPointF()

    def _from_picture(self, place: QPointF) -> QPointF:
        return self._transform().map(place)

    # Painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.colour("sunken"))
        if self._picture.isNull():
            painter.end()
            return
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self.zoom < 4)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        transform = self._transform()
        frame = transform.mapRect(QRectF(0, 0, 1, 1))
        painter.fillRect(frame, self._theme.colour("raised"))
        painter.setTransform(transform)
        painter.drawPixmap(QRectF(0, 0, 1, 1), self._picture, QRectF(self._picture.rect()))
        painter.resetTransform()
        painter.setPen(self._theme.colour("border"))
        painter.drawRect(frame)
        for identity, mark in self._marks.items():
            painter.setOpacity(0.25 if identity in self._touched else 1.0)
            self._paint_mark(painter, transform, mark)
        painter.setOpacity(1)
        if len(self._line) > 1:
            self._paint_mark(painter, transform, self._new_mark())
        painter.end()
        self.painted.emit()

    def _paint_mark(self, painter: QPainter, transform: QTransform, mark: Mark) -> None:
        colour = self._theme.person_colour(mark.colour)
        width = max(1.5, mark.width * self._picture.width() * self.zoom)
        points = [transform.map(QPointF(x, y)) for x, y in mark.points]
        # A light edge, so that a mark is seen on any ground.
        for role, extra in (("raised", 2.5), ("", 0.0)):
            pen = QPen(self._theme.colour(role) if role else colour, width + extra)
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(_path_of(mark.shape, points, width))

    def _new_mark(self) -> Mark:
        points = self._line if self.tool is Tool.PEN else [self._line[0], self._line[-1]]
        shape = "pen" if self.tool is Tool.PEN else "arrow"
        return Mark(shape, tuple(points[:POINTS_MAX]), self._colour, _PEN_PART)

    # Input

    def wheelEvent(self, event: QWheelEvent) -> None:
        steps = event.angleDelta().y() / 120
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom_by(1.2**steps, event.position())
        elif not self._picture.isNull():
            self.fitting = False
            centre = QPointF(self.rect().center())
            moved = QPointF(event.angleDelta().x(), event.angleDelta().y()) / 2
            self._move_to(self._to_picture(centre), centre + moved)
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus()
        if self._picture.isNull():
            super().mousePressEvent(event)
            return
        middle = event.button() is Qt.MouseButton.MiddleButton
        if self.tool is Tool.HAND or middle:
            self._grabbed = self._to_picture(event.position())
        elif self.tool is Tool.ERASER:
            self._touch(event.position())
        else:
            self._add_point(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not event.buttons():
            return
        if self._grabbed is not None:
            self.fitting = False
            self._move_to(self._grabbed, event.position())
        elif self.tool is Tool.ERASER:
            self._touch(event.position())
        elif self._line:
            self._add_point(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._line:
            self._add_point(event.position())
            mark, self._line = self._new_mark(), []
            if len(mark.points) > 1 and mark.points[0] != mark.points[-1]:
                self.drawn.emit(mark)
        if self._touched:
            touched, self._touched = sorted(self._touched), set()
            self.erased.emit(touched)
        self._grabbed = None
        self.update()

    def _add_point(self, position: QPointF) -> None:
        place = self._to_picture(position)
        self._line.append((place.x(), place.y()))
        self.update()

    def _touch(self, position: QPointF) -> None:
        transform = self._transform()
        for identity, mark in self._marks.items():
            points = [transform.map(QPointF(x, y)) for x, y in mark.points]
            if _distance(points, position) <= _ERASER_PX:
                self._touched.add(identity)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._line:
            self._line = []
            self.update()
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.fitting:
            self.fit()


def _path_of(shape: str, points: list[QPointF], width: float) -> QPainterPath:
    path = QPainterPath()
    path.addPolygon(QPolygonF(points))
    if shape == "arrow":
        start, tip = points[0], points[-1]
        angle = math.atan2(tip.y() - start.y(), tip.x() - start.x())
        length = max(10.0, 4 * width)
        for side in (-0.45, 0.45):
            path.moveTo(tip)
            path.lineTo(tip - QPointF(math.cos(angle + side), math.sin(angle + side)) * length)
    return path


def _distance(points: list[QPointF], place: QPointF) -> float:
    """From a place to the nearest part of a line."""
    best = math.inf
    for start, end in pairwise(points):
        along = end - start
        squared = along.x() ** 2 + along.y() ** 2
        part = 0.0
        if squared:
            part = QPointF.dotProduct(place - start, along) / squared
        near = start + along * min(max(part, 0.0), 1.0)
        best = min(best, math.hypot(near.x() - place.x(), near.y() - place.y()))
    return best
