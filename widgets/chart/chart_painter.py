"""Draws a chart with any painter: on the screen, into a picture, into an SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from liveobj.objects.chart import Shape
from liveobj.objects.chart_source import ChartData, Series
from widgets import fonts
from widgets.chart.ticks import Axis, axis
from widgets.language import tr
from widgets.roles import PERSON_COLOURS
from widgets.theme import Theme

_LEGEND_PX = 28
_FOOT_PX = 26
_GAP_PX = 12
_TICK_PX = 56
_LABEL_PX = 72
_SLICES_MAX = 12
# Lines that lie over each other differ by more than their colour.
_DASHES: tuple[tuple[float, ...], ...] = ((), (6, 3), (2, 3), (8, 3, 2, 3))
_MARKERS = 4


@dataclass(frozen=True, slots=True)
class Frame:
    """Where things are in a drawn chart."""

    plot: QRectF
    count: int
    values: Axis

    def x(self, number: float) -> float:
        """The middle of the place of a row."""
        return self.plot.left() + (number + 0.5) * self.plot.width() / max(1, self.count)

    def y(self, value: float) -> float:
        return self.plot.bottom() - self.values.part(value) * self.plot.height()

    def row_at(self, x: float) -> int | None:
        if not self.count or not self.plot.left() <= x <= self.plot.right():
            return None
        number = int((x - self.plot.left()) / self.plot.width() * self.count)
        return min(max(number, 0), self.count - 1)


class ChartPainter:
    """Draws in the colours of a theme."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme

    def colour(self, number: int) -> QColor:
        """The colour of a series."""
        return self._theme.person_colour(PERSON_COLOURS[number % len(PERSON_COLOURS)].light)

    def frame(self, data: ChartData, shape: Shape, area: QRectF) -> Frame:
        numbers = [v for series in data.series for v in series.values if v is not None]
        low, high = (min(numbers), max(numbers)) if numbers else (0.0, 1.0)
        with_zero = shape in (Shape.BAR, Shape.AREA)
        values = axis(low, high, max(2, int(area.height() / _TICK_PX)), with_zero=with_zero)
        metrics = QFontMetricsF(fonts.font(fonts.Size.SMALL))
        left = max(metrics.horizontalAdvance(values.words(tick)) for tick in values.ticks)
        plot = area.adjusted(
            left + 2 * _GAP_PX, _LEGEND_PX + 2 * _GAP_PX, -_GAP_PX, -_FOOT_PX - _GAP_PX
        )
        return Frame(plot, len(data.labels), values)

    def paint(self, painter: QPainter, data: ChartData, shape: Shape, area: QRectF) -> Frame:
        """Draws everything but what hovers over it."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(area, self._theme.colour("raised"))
        frame = self.frame(data, shape, area)
        if shape is Shape.PIE:
            self._paint_pie(painter, data, area)
            return frame
        self._paint_legend(painter, data.series, area, shape)
        self._paint_axes(painter, data, frame)
        painter.save()
        painter.setClipRect(frame.plot.adjusted(-6, -6, 6, 6))
        for number, series in enumerate(data.series):
            if shape is Shape.BAR:
                self._paint_bars(painter, series, number, len(data.series), frame)
            elif shape is Shape.SCATTER:
                self._paint_points(painter, series, number, frame)
            else:
                self._paint_line(painter, series, number, frame, fill=shape is Shape.AREA)
        painter.restore()
        return frame

    def _paint_legend(
        self, painter: QPainter, series: Sequence[Series], area: QRectF, shape: Shape
    ) -> None:
        font = fonts.font(fonts.Size.SMALL, fonts.Weight.MEDIUM)
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        left, middle = area.left() + 2 * _GAP_PX, area.top() + _GAP_PX + _LEGEND_PX / 2
        for number, each in enumerate(series):
            name = metrics.elidedText(each.name, Qt.TextElideMode.ElideRight, 160)
            width = metrics.horizontalAdvance(name)
            if left + width + 40 > area.right():
                break
            self._paint_key(painter, QPointF(left + 9, middle), number, shape)
            painter.setPen(self._theme.colour("text"))
            box = QRectF(left + 24, middle - 10, width + 4, 20)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, name)
            left += width + 48

    def _paint_key(self, painter: QPainter, centre: QPointF, number: int, shape: Shape) -> None:
        if shape in (Shape.LINE, Shape.AREA):
            painter.setPen(self._pen(number))
            painter.drawLine(centre - QPointF(9, 0), centre + QPointF(9, 0))
        elif shape is Shape.SCATTER:
            self._paint_marker(painter, centre, number)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.colour(number))
            painter.drawRoundedRect(QRectF(centre.x() - 6, centre.y() - 6, 12, 12), 3, 3)

    def _pen(self, number: int) -> QPen:
        pen = QPen(self.colour(number), 2.25)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        dashes = _DASHES[number % len(_DASHES)]
        if dashes:
            pen.setDashPattern(list(dashes))
        return pen

    def _paint_axes(self, painter: QPainter, data: ChartData, frame: Frame) -> None:
        plot = frame.plot
        painter.setFont(fonts.font(fonts.Size.SMALL))
        for tick in frame.values.ticks:
            y = frame.y(tick)
            zero = abs(tick) < 1e-12
            painter.setPen(self._theme.colour("muted" if zero else "border"))
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            painter.setPen(self._theme.colour("muted"))
            box = QRectF(0, y - 9, plot.left() - _GAP_PX / 2, 18)
            side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(box, side, frame.values.words(tick))
        metrics = QFontMetricsF(painter.font())
        shown_max = max(1, int(plot.width() / _LABEL_PX))
        step = max(1, math.ceil(frame.count / shown_max))
        room = plot.width() / max(1, frame.count) * step - 6
        for number in range(0, frame.count, step):
            words = metrics.elidedText(data.labels[number], Qt.TextElideMode.ElideRight, room)
            box = QRectF(frame.x(number) - room / 2, plot.bottom() + 4, room, 18)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)

    def _runs(self, series: Series, frame: Frame) -> list[list[QPointF]]:
        """Points of a line; where there is no number, the line is broken."""
        runs: list[list[QPointF]] = [[]]
        for number, value in enumerate(series.values):
            if value is None:
                runs.append([])
            else:
                runs[-1].append(QPointF(frame.x(number), frame.y(value)))
        return [run for run in runs if run]

    def _paint_line(
        self, painter: QPainter, series: Series, number: int, frame: Frame, *, fill: bool
    ) -> None:
        ground = frame.y(min(max(0.0, frame.values.low), frame.values.high))
        for run in self._runs(series, frame):
            if fill:
                shade = self.colour(number)
                shade.setAlphaF(0.22)
                corners = [QPointF(run[0].x(), ground), *run, QPointF(run[-1].x(), ground)]
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(shade)
                painter.drawPolygon(QPolygonF(corners))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(self._pen(number))
            painter.drawPolyline(QPolygonF(run))
            if len(run) == 1 or frame.plot.width() / max(1, frame.count) > 28:
                for point in run:
                    self._paint_marker(painter, point, number)

    def _paint_points(self, painter: QPainter, series: Series, number: int, frame: Frame) -> None:
        for run in self._runs(series, frame):
            for point in run:
                self._paint_marker(painter, point, number)

    def _paint_marker(self, painter: QPainter, at: QPointF, number: int) -> None:
        painter.setPen(QPen(self._theme.colour("raised"), 1.25))
        painter.setBrush(self.colour(number))
        match number % _MARKERS:
            case 0:
                painter.drawEllipse(at, 4.0, 4.0)
            case 1:
                painter.drawRect(QRectF(at.x() - 3.5, at.y() - 3.5, 7, 7))
            case 2:
                points = [QPointF(0, -5), QPointF(4.5, 3.5), QPointF(-4.5, 3.5)]
                painter.drawPolygon(QPolygonF([at + point for point in points]))
            case _:
                points = [QPointF(0, -5), QPointF(5, 0), QPointF(0, 5), QPointF(-5, 0)]
                painter.drawPolygon(QPolygonF([at + point for point in points]))

    def _paint_bars(
        self, painter: QPainter, series: Series, number: int, of: int, frame: Frame
    ) -> None:
        place = frame.plot.width() / max(1, frame.count)
        width = max(1.0, min(place * 0.76 / of, 64.0))
        ground = frame.y(0.0)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.colour(number))
        for row, value in enumerate(series.values):
            if value is None:
                continue
            left = frame.x(row) + (number - of / 2) * width
            bar = QRectF(left + 0.5, frame.y(value), max(1.0, width - 1), ground - frame.y(value))
            painter.drawRoundedRect(bar.normalized(), min(3.0, width / 4), min(3.0, width / 4))

    # Pie

    def _paint_pie(self, painter: QPainter, data: ChartData, area: QRectF) -> None:
        slices = pie_slices(data)
        side = min(area.width() * 0.6, area.height()) - 4 * _GAP_PX
        if side < 20 or not slices:
            return
        middle = QPointF(area.left() + area.width() * 0.36, area.center().y())
        disc = QRectF(middle.x() - side / 2, middle.y() - side / 2, side, side)
        total = sum(value for _, value in slices)
        start = 90.0
        painter.setFont(fonts.font(fonts.Size.SMALL, fonts.Weight.MEDIUM))
        top = max(area.top() + _GAP_PX, area.center().y() - len(slices) * 12)
        for number, (name, value) in enumerate(slices):
            span = 360 * value / total
            path = QPainterPath(middle)
            path.arcTo(disc, start, -span)
            path.closeSubpath()
            painter.setPen(QPen(self._theme.colour("raised"), 2))
            painter.setBrush(self.colour(number))
            painter.drawPath(path)
            if span > 14:
                angle = math.radians(start - span / 2)
                spot = middle + QPointF(math.cos(angle), -math.sin(angle)) * (side * 0.36)
                painter.setPen(self._theme.colour("raised"))
                box = QRectF(spot.x() - 30, spot.y() - 9, 60, 18)
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, f"{100 * value / total:.0f} %")
            start -= span
            self._paint_slice_name(painter, area, top + number * 24, number, name, value)

    def _paint_slice_name(
        self, painter: QPainter, area: QRectF, top: float, number: int, name: str, value: float
    ) -> None:
        left = area.left() + area.width() * 0.7
        self._paint_key(painter, QPointF(left + 8, top + 12), number, Shape.BAR)
        metrics = QFontMetricsF(painter.font())
        words = metrics.elidedText(
            f"{name}   {value:g}", Qt.TextElideMode.ElideRight, area.right() - left - 40
        )
        painter.setPen(self._theme.colour("text"))
        box = QRectF(left + 24, top, area.right() - left - 30, 24)
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, words)


def pie_slices(data: ChartData) -> list[tuple[str, float]]:
    """Names and values of a pie: the first series, what is positive, the smallest put together."""
    if not data.series:
        return []
    pairs = zip(data.labels, data.series[0].values, strict=False)
    parts = [(name, value) for name, value in pairs if value is not None and value > 0]
    if len(parts) > _SLICES_MAX:
        parts.sort(key=lambda part: -part[1])
        rest = sum(value for _, value in parts[_SLICES_MAX - 1 :])
        parts = [*parts[: _SLICES_MAX - 1], (tr("Others"), rest)]
    return parts
