"""The drawn chart on the screen, with the values of what is under the pointer or chosen by keys."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import QWidget

from liveobj.objects.chart import Shape
from liveobj.objects.chart_source import ChartData
from widgets import fonts
from widgets.chart.chart_painter import ChartPainter, Frame
from widgets.language import tr
from widgets.theme import Theme

_LINE_PX = 20


class ChartPlot(QWidget):
    """Attributes: `row`, the one whose values are shown, or None. Signals: `pointed`."""

    pointed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._painter = ChartPainter(theme)
        self._data = ChartData()
        self._shape = Shape.LINE
        self._drawn: QPixmap | None = None
        self._frame: Frame | None = None
        self.row: int | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Chart"))
        theme.changed.connect(self.redraw)

    def show_data(self, data: ChartData, shape: Shape) -> None:
        if data != self._data or shape is not self._shape:
            self._data, self._shape = data, shape
            if self.row is not None and self.row >= len(data.labels):
                self.row = None
            self.redraw()

    def redraw(self) -> None:
        """Draws anew with the next frame."""
        self._drawn = None
        self.update()

    def values_here(self) -> list[str]:
        """What is shown of the chosen row."""
        if self.row is None or self.row >= len(self._data.labels):
            return []
        values = [(series.name, series.values[self.row]) for series in self._data.series]
        return [
            self._data.labels[self.row],
            *(f"{name}: {value:g}" for name, value in values if value is not None),
        ]

    def _point_at(self, row: int | None) -> None:
        if row != self.row:
            self.row = row
            self.setAccessibleDescription(", ".join(self.values_here()))
            self.pointed.emit()
            self.update()

    # Qt

    def paintEvent(self, _event: QPaintEvent) -> None:
        ratio = self.devicePixelRatioF()
        if self._drawn is None or self._drawn.size() != self.size() * ratio:
            self._drawn = QPixmap(self.size() * ratio)
            self._drawn.setDevicePixelRatio(ratio)
            inner = QPainter(self._drawn)
            self._frame = self._painter.paint(inner, self._data, self._shape, QRectF(self.rect()))
            inner.end()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.drawPixmap(0, 0, self._drawn)
        if self.row is not None and self._frame is not None and self._shape is not Shape.PIE:
            self._paint_pointed(painter, self._frame, self.row)
        painter.end()

    def _paint_pointed(self, painter: QPainter, frame: Frame, row: int) -> None:
        x = frame.x(row)
        painter.setPen(QPen(self._theme.colour("muted"), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, frame.plot.top()), QPointF(x, frame.plot.bottom()))
        for number, series in enumerate(self._data.series):
            value = series.values[row]
            if value is not None:
                painter.setPen(QPen(self._theme.colour("raised"), 2))
                painter.setBrush(self._painter.colour(number))
                painter.drawEllipse(QPointF(x, frame.y(value)), 5.5, 5.5)
        lines = self.values_here()
        font = fonts.font(fonts.Size.SMALL, fonts.Weight.MEDIUM)
        metrics = QFontMetricsF(font)
        width = min(260.0, max(metrics.horizontalAdvance(words) for words in lines) + 24)
        height = _LINE_PX * len(lines) + 12
        left = x + 12 if x + 24 + width < self.width() else x - 12 - width
        box = QRectF(left, frame.plot.top() + 4, width, height)
        painter.setPen(self._theme.colour("border"))
        painter.setBrush(self._theme.colour("surface"))
        painter.drawRoundedRect(box, 8, 8)
        painter.setFont(font)
        for number, words in enumerate(lines):
            painter.setPen(self._theme.colour("text" if number else "muted"))
            place = QRectF(box.left() + 12, box.top() + 6 + number * _LINE_PX, width - 24, _LINE_PX)
            shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, place.width())
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, shown)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._frame is not None:
            self._point_at(self._frame.row_at(event.position().x()))

    def leaveEvent(self, _event: QEvent) -> None:
        self._point_at(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        count = len(self._data.labels)
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if step is None or not count:
            super().keyPressEvent(event)
            return
        self._point_at(0 if self.row is None else min(max(self.row + step, 0), count - 1))
