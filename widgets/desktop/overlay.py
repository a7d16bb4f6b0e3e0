"""Draws what lies over the items of a desktop: what is chosen, by whom, snap lines, pointers of the
others, and what a drop would do. No information by colour alone: whoever is shown is named."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QPainter, QPen, QPolygonF

from liveobj.objects.desktop_items import Frame
from widgets import fonts
from widgets.desktop.frame_parts import STRIP
from widgets.desktop.others import Other
from widgets.desktop.stage import Stage
from widgets.people import initials
from widgets.theme import Theme

_HANDLE_PX = 8.0
# So many who are in an object are shown on its strip.
_FACES_MAX = 4
_CORNER = 12.0
# Many are outlined with plain rectangles, all at once.
_ROUNDED_MAX = 200
_NAME_CHARACTERS_MAX = 24
# The outline of a pointer, with its tip at the origin.
_ARROW = ((0, 0), (0, 15.5), (4.2, 11.6), (7.0, 17.6), (9.6, 16.4), (6.9, 10.6), (12.4, 10.4))


def window_rect(stage: Stage, frame: Frame) -> QRectF:
    """A frame of the plane in the window."""
    x, y = stage.camera.to_window(frame.x, frame.y)
    return QRectF(x, y, frame.width * stage.camera.zoom, frame.height * stage.camera.zoom)


class Overlay:
    """Paints over the items; `clock` gives seconds."""

    def __init__(self, theme: Theme, stage: Stage, clock: Callable[[], float]) -> None:
        self._theme = theme
        self._stage = stage
        self._clock = clock

    # Choices

    def paint_selection(self, painter: QPainter, *, handles: bool) -> None:
        """What is chosen here; one item that can be resized gets handles."""
        stage = self._stage
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._theme.colour("accent"), 2))
        seen = stage.seen
        frames = (stage.frame_of(identity) for identity in stage.selection)
        shown = [frame for frame in frames if frame is not None and frame.meets(seen)]
        if len(shown) > _ROUNDED_MAX:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.setPen(QPen(self._theme.colour("accent"), 1))
            painter.drawRects([window_rect(stage, frame) for frame in shown])
            return
        for frame in shown:
            self._outline(painter, frame, 1.5)
        if handles and len(shown) == len(stage.selection) == 1 and stage.inside is None:
            self._paint_handles(painter, window_rect(stage, shown[0]))

    def paint_inside(self, painter: QPainter, frame: Frame) -> None:
        """The frame of the item that is worked in."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._theme.colour("accent"), 3))
        self._outline(painter, frame, 2)

    def paint_others_selection(self, painter: QPainter) -> None:
        stage = self._stage
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        seen = stage.seen
        for other in stage.others.people.values():
            if other.spot is None:
                continue
            colour = self._theme.person_colour(other.colour)
            named = False
            for identity in other.spot.selected:
                frame = stage.frame_of(identity)
                if frame is None or not frame.meets(seen):
                    continue
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(colour, 2, Qt.PenStyle.DashLine))
                # Beside one's own: both are to be seen.
                self._outline(painter, frame, 5)
                if not named:
                    named = True
                    corner = window_rect(stage, frame).topLeft() + QPointF(0, -24)
                    self._flag(painter, _short(other.name), corner, colour)

    def paint_people_inside(self, painter: QPainter, identities: Sequence[str]) -> None:
        """Dots with initials on the strips of items that others work in."""
        stage, zoom = self._stage, self._stage.camera.zoom
        inside: dict[str, list[Other]] = {}
        for other in stage.others.people.values():
            if other.spot is not None and other.spot.inside is not None:
                inside.setdefault(other.spot.inside, []).append(other)
        side = min(18.0, STRIP * zoom - 8)
        if not inside or side < 8:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(fonts.font(max(round(side * 0.5), 6), fonts.Weight.STRONG))
        for identity in identities:
            frame = stage.frame_of(identity) if identity in inside else None
            if frame is None:
                continue
            rect = window_rect(stage, frame)
            right = rect.right() - 30 * zoom
            here = inside[identity][:_FACES_MAX]
            self._fade_name(painter, rect, right - side - (len(here) - 1) * (side - 4), right)
            for other in here:
                disc = QRectF(right - side, rect.top() + (STRIP * zoom - side) / 2, side, side)
                painter.setPen(QPen(self._theme.colour("raised"), 4))
                painter.setBrush(self._theme.person_colour(other.colour))
                painter.drawEllipse(disc)
                painter.setPen(self._theme.colour("raised"))
                painter.drawText(disc, Qt.AlignmentFlag.AlignCenter, initials(other.name))
                right -= side - 4

    def _fade_name(self, painter: QPainter, rect: QRectF, left: float, right: float) -> None:
        """The name on the strip ends softly before those who stand on it."""
        strip = STRIP * self._stage.camera.zoom
        room = QRectF(left - strip, rect.top() + 1, right - left + strip, strip - 2)
        ground = QLinearGradient(room.topLeft(), QPointF(left, room.top()))
        clear = QColor(self._theme.colour("raised"))
        clear.setAlpha(0)
        ground.setColorAt(0, clear)
        ground.setColorAt(0.8, self._theme.colour("raised"))
        painter.fillRect(room, ground)

    def _outline(self, painter: QPainter, frame: Frame, out: float) -> None:
        rect = window_rect(self._stage, frame).adjusted(-out, -out, out, out)
        corner = min(_CORNER * self._stage.camera.zoom, _CORNER * 1.5) + out
        painter.drawRoundedRect(rect, corner, corner)

    def _paint_handles(self, painter: QPainter, rect: QRectF) -> None:
        if rect.width() < 5 * _HANDLE_PX or rect.height() < 5 * _HANDLE_PX:
            return
        painter.setPen(QPen(self._theme.colour("accent"), 1.5))
        painter.setBrush(self._theme.colour("raised"))
        half = _HANDLE_PX / 2
        middle = rect.center()
        for x in (rect.left(), middle.x(), rect.right()):
            for y in (rect.top(), middle.y(), rect.bottom()):
                if (x, y) != (middle.x(), middle.y()):
                    handle = QRectF(x - half, y - half, _HANDLE_PX, _HANDLE_PX)
                    painter.drawRoundedRect(handle, 2, 2)

    # Gestures

    def paint_lines(self, painter: QPainter) -> None:
        """What is snapped to."""
        painter.setPen(QPen(self._theme.colour("accent"), 1))
        to_window = self._stage.camera.to_window
        for line in self._stage.lines:
            first = (line.at, line.start) if line.upright else (line.start, line.at)
            last = (line.at, line.end) if line.upright else (line.end, line.at)
            painter.drawLine(QLineF(*to_window(*first), *to_window(*last)))

    def paint_band(self, painter: QPainter, band: Frame) -> None:
        colour = self._theme.colour("accent")
        painter.setPen(QPen(colour, 1))
        colour.setAlphaF(0.10)
        painter.setBrush(colour)
        painter.drawRect(window_rect(self._stage, band))

    def paint_ghost(
        self, painter: QPainter, at: QPointF, words: str, *, allowed: bool, frame: Frame | None
    ) -> None:
        """What a drop would do, in words under the pointer, and where it would lie."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        role = "accent" if allowed else "danger"
        if frame is not None and allowed:
            pen = QPen(self._theme.colour(role), 2, Qt.PenStyle.DashLine)
            painter.setPen(pen)
            ground = self._theme.colour(role)
            ground.setAlphaF(0.06)
            painter.setBrush(ground)
            self._outline(painter, frame, 0)
        if not words:
            return
        font = fonts.font(fonts.Size.SMALL, fonts.Weight.MEDIUM)
        metrics = QFontMetricsF(font)
        width_max = 360.0
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap)
        text = metrics.boundingRect(QRectF(0, 0, width_max, 400), flags, words)
        chip = QRectF(0, 0, text.width() + 22, text.height() + 14)
        chip.moveTopLeft(self._kept_inside(at + QPointF(16, 20), chip))
        painter.setPen(QPen(self._theme.colour(role), 1))
        painter.setBrush(self._theme.colour("raised"))
        painter.drawRoundedRect(chip, 6, 6)
        painter.setFont(font)
        painter.setPen(self._theme.colour("text" if allowed else "danger"))
        painter.drawText(chip.adjusted(11, 7, -11, -7), flags, words)

    def _kept_inside(self, corner: QPointF, chip: QRectF) -> QPointF:
        width, height = self._stage.size
        return QPointF(
            max(4.0, min(corner.x(), width - chip.width() - 4)),
            max(4.0, min(corner.y(), height - chip.height() - 4)),
        )

    # People

    def paint_pointers(self, painter: QPainter) -> None:
        """The pointers of the others, with their names; those who rest fade."""
        now_s = self._clock()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for other in self._stage.others.people.values():
            opacity = other.opacity(now_s)
            if other.spot is None or other.spot.pointer is None or opacity <= 0:
                continue
            x, y = self._stage.camera.to_window(*other.spot.pointer)
            width, height = self._stage.size
            if not (-20 <= x <= width + 20 and -20 <= y <= height + 20):
                continue
            painter.setOpacity(opacity)
            colour = self._theme.person_colour(other.colour)
            arrow = QPolygonF([QPointF(x + dx, y + dy) for dx, dy in _ARROW])
            painter.setPen(QPen(self._theme.colour("raised"), 1.5))
            painter.setBrush(colour)
            painter.drawPolygon(arrow)
            self._flag(painter, _short(other.name), QPointF(x + 12, y + 16), colour)
        painter.setOpacity(1.0)

    def paint_followed(self, painter: QPainter, other: Other) -> None:
        """A frame around the window in the colour of the one who is followed."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._theme.person_colour(other.colour), 4))
        width, height = self._stage.size
        painter.drawRect(QRectF(2, 2, width - 4, height - 4))

    def _flag(self, painter: QPainter, name: str, corner: QPointF, colour: QColor) -> None:
        font = fonts.font(fonts.Size.SMALL, fonts.Weight.MEDIUM)
        width = QFontMetricsF(font).horizontalAdvance(name) + 12
        flag = QRectF(corner.x(), corner.y(), width, 18)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRoundedRect(flag, 4, 4)
        painter.setPen(self._theme.colour("raised"))
        painter.setFont(font)
        painter.drawText(flag, Qt.AlignmentFlag.AlignCenter, name)


def _short(name: str) -> str:
    return name.strip()[:_NAME_CHARACTERS_MAX] or "?"
