"""A small drawing for the samples: a terrace by a lake, with hills and two tables."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QByteArray, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QLinearGradient, QPainter, QPainterPath, QPolygonF

WIDTH_PX, HEIGHT_PX = 960, 600
_SHORE, _FLOOR = 300, 380


def terrace_png(width: int = WIDTH_PX) -> bytes:
    """The drawing as a PNG of that width."""
    image = QImage(WIDTH_PX, HEIGHT_PX, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    _paint_sky(painter)
    _paint_hills(painter)
    _paint_floor(painter)
    for x in (250, 690):
        _paint_table(painter, x, 440)
    painter.end()
    if width != WIDTH_PX:
        image = image.scaledToWidth(width, Qt.TransformationMode.SmoothTransformation)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # a device and a format, as in Qt
    return bytes(data.data())


def _paint_sky(painter: QPainter) -> None:
    sky = QLinearGradient(0, 0, 0, _SHORE)
    sky.setColorAt(0, QColor("#8fc7e8"))
    sky.setColorAt(1, QColor("#fbe9cf"))
    painter.fillRect(0, 0, WIDTH_PX, _SHORE, sky)
    painter.setBrush(QColor("#ffd76a"))
    painter.drawEllipse(QPointF(760, 120), 46, 46)
    painter.setBrush(QColor("#ffffff"))
    for x, y, radius in ((180, 110, 30), (220, 96, 38), (264, 112, 28)):
        painter.drawEllipse(QPointF(x, y), 1.5 * radius, radius)


def _paint_hills(painter: QPainter) -> None:
    for colour, top, shift in (("#7fb3a1", 190, 0), ("#4d8f7d", 230, 240)):
        hill = QPainterPath(QPointF(-200, _SHORE))
        hill.cubicTo(200 + shift, top - 60, 320 + shift, top, 520 + shift, 260)
        hill.cubicTo(700 + shift, 210, 820 + shift, top, WIDTH_PX + 200, _SHORE)
        painter.setBrush(QColor(colour))
        painter.drawPath(hill)
    painter.fillRect(0, _SHORE, WIDTH_PX, _FLOOR - _SHORE, QColor("#5fa8c4"))
    painter.setBrush(QColor("#f7f4ec"))
    painter.drawPolygon(QPolygonF([QPointF(470, 250), QPointF(470, 328), QPointF(520, 328)]))
    painter.setBrush(QColor("#b0563b"))
    painter.drawPolygon(
        QPolygonF([QPointF(440, 332), QPointF(530, 332), QPointF(512, 350), QPointF(456, 350)])
    )


def _paint_floor(painter: QPainter) -> None:
    painter.fillRect(0, _FLOOR, WIDTH_PX, HEIGHT_PX - _FLOOR, QColor("#e2c9a3"))
    painter.setBrush(QColor("#d3b68c"))
    for number in range(5):
        painter.drawRect(QRectF(0, _FLOOR + 14 + 46 * number, WIDTH_PX, 3))
    painter.setBrush(QColor("#6b5844"))
    painter.drawRect(QRectF(0, _FLOOR - 44, WIDTH_PX, 7))
    for number in range(13):
        painter.drawRect(QRectF(20 + 76 * number, _FLOOR - 40, 6, 52))


def _paint_table(painter: QPainter, x: float, y: float) -> None:
    painter.setBrush(QColor("#6b5844"))
    painter.drawRect(QRectF(x - 5, y - 150, 10, 230))
    painter.drawRoundedRect(QRectF(x - 34, y + 76, 68, 12), 6, 6)
    shade = QPainterPath(QPointF(x - 130, y - 140))
    shade.quadTo(QPointF(x, y - 260), QPointF(x + 130, y - 140))
    shade.closeSubpath()
    painter.setBrush(QColor("#c8574a"))
    painter.drawPath(shade)
    painter.setBrush(QColor("#fbf6ea"))
    painter.drawRoundedRect(QRectF(x - 100, y - 12, 200, 26), 12, 12)
    painter.setBrush(QColor("#e7b94c"))
    painter.drawEllipse(QPointF(x + 40, y - 16), 16, 10)
    painter.setBrush(QColor("#6fa35b"))
    painter.drawEllipse(QPointF(x - 40, y - 16), 20, 8)
