"""The plane of a desktop in a window: paints it, and decides what is near enough to be live."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QPixmap, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from liveobj.objects.desktop_items import Form, Frame
from widgets.desktop.contents import Contents
from widgets.desktop.drops import Plan
from widgets.desktop.frame_parts import content_of
from widgets.desktop.ground import SHADOW_PX
from widgets.desktop.item_painter import CARD_PX, FAR_PX, LIVE_ZOOM, ItemPainter
from widgets.desktop.live_items import LIVE_MAX, LiveItems
from widgets.desktop.overlay import Overlay
from widgets.desktop.stage import Stage
from widgets.desktop.tiles import Tiles
from widgets.language import tr
from widgets.nesting import Nested

# Looking on from one place this long, one wants to see what lies there.
_SETTLE_MS = 120
# The width of a usual item: farther out than this makes a speck of it, all items are drawn at once.
_USUAL_WIDTH = 320.0
# Nearer than this letters are large enough to be drawn from a coarser picture.
_SHARP_ZOOM_MAX = 2.0
_DOTS = 24.0
_DOTS_PX_MIN = 18.0
# Few large tiles are drawn faster than many small ones.
_DOTS_PER_TILE = 12


class Plane(QWidget):
    """Attributes: `stage`, `contents`, `live`, `painted` (how many frames so far), and what is to
    be drawn besides: `show_others`, `followed` (the node of a person), `ghost` (where, and what a
    drop would do), `band`, `words` (what letting go would do) and `words_at`."""

    def __init__(
        self,
        inside: Nested,
        stage: Stage,
        clock: Callable[[], float] = time.monotonic,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.stage = stage
        self.contents = Contents(inside)
        self.live = LiveItems(inside, self.contents, self, self._view_size, self._view_scale, clock)
        self.painted = 0
        self.show_others = True
        self.followed: int | None = None
        self.ghost: tuple[QPointF, Plan] | None = None
        self.band: Frame | None = None
        self.words = ""
        self.words_at = QPointF()
        self._theme = inside.theme
        self._items = ItemPainter(inside.theme, self.contents, self.live)
        self._tiles = Tiles(stage, self._items)
        self._overlay = Overlay(inside.theme, stage, clock)
        self._far: list[QRectF] | None = None
        self._dots: tuple[tuple[int, float], QPixmap] | None = None
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.timeout.connect(self._on_settled)
        self._fade = QTimer(self)
        self._fade.setSingleShot(True)
        self._fade.timeout.connect(self.update)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName(tr("Desktop"))
        stage.changed.connect(self.update)
        stage.camera_changed.connect(self.wake)
        stage.items_changed.connect(self._on_items)
        self.live.renewed.connect(self._on_renewed)
        self._theme.changed.connect(self._on_theme)

    def close_plane(self) -> None:
        self._settle.stop()
        self._fade.stop()
        self.live.close()
        self._theme.changed.disconnect(self._on_theme)

    # What is near enough to be live

    def wake(self) -> None:
        """Wants to see soon what is in sight; as long as one looks around, nothing is opened."""
        self.live.hold()
        self._settle.start(_SETTLE_MS)

    def settle(self) -> None:
        """Wants at once what would be wanted soon."""
        self._settle.stop()
        self._on_settled()

    def _on_settled(self) -> None:
        if not self.isVisible() or self.stage.camera.zoom < LIVE_ZOOM:
            self.live.want(())
            return
        seen = self.stage.seen
        middle = (seen.x + seen.width / 2, seen.y + seen.height / 2)
        objects = [item for item in self.stage.items_in(seen) if item.form is Form.OBJECT]
        objects.sort(key=lambda item: _distance(item.frame, *middle))
        self.live.want(objects[:LIVE_MAX])

    def _view_size(self, identity: str) -> QSize | None:
        item = self.stage.desktop.items.get(identity)
        if item is None:
            return None
        room = content_of(item.frame)
        return QSize(round(room.width), round(room.height))

    def _view_scale(self) -> float:
        """Pictures have the pixels of the screen, so that words in them are sharp at any zoom."""
        zoom = min(max(self.stage.settled_camera.zoom, LIVE_ZOOM), _SHARP_ZOOM_MAX)
        return self.devicePixelRatioF() * zoom

    # Changes

    def _on_items(self) -> None:
        self._far = None
        self._tiles.forget()
        for identity in self.live.open_items:
            if identity not in self.stage.desktop.items:
                self.live.forget(identity)
                self.contents.forget(identity)
                self._items.forget(identity)
                continue
            if self.live.pictured_size(identity) != self._view_size(identity):
                self.live.look_again(identity)
        self.wake()

    def _on_renewed(self, identity: str) -> None:
        self._items.renew(identity)
        self._tiles.forget()
        self.update()

    def _on_theme(self) -> None:
        self._items.forget_all()
        self._tiles.forget()
        self._dots = None
        self.update()

    # Painting

    def _paint_items(self, painter: QPainter) -> list[str]:
        """What is in sight, in the detail that its size allows; returns the items that are drawn
        with their strips."""
        stage, camera = self.stage, self.stage.camera
        width_px = camera.zoom * _USUAL_WIDTH
        self._items.start_frame(self.devicePixelRatioF())
        shown: list[str] = []
        if width_px < FAR_PX:
            self._paint_far(painter)
        elif width_px < CARD_PX and not stage.moving:
            self._tiles.paint(painter, self.devicePixelRatioF())
        else:
            seen = stage.items_in(stage.seen.grown(SHADOW_PX / camera.zoom))
            # What one works in lies above everything for as long, as its view does.
            for item in sorted(seen, key=lambda item: item.identity == stage.inside):
                frame = stage.frame_of(item.identity)
                if frame is not None:
                    self._items.paint(painter, item, frame, camera)
                    shown.append(item.identity)
        if self._items.later:
            self.update()
        return shown

    def _paint_far(self, painter: QPainter) -> None:
        """So far away that all is rectangles; their list is kept as long as nothing moves."""
        stage, camera = self.stage, self.stage.camera
        rectangles = self._far
        if rectangles is None or stage.moving:
            frames = (stage.frame_of(item.identity) for item in stage.desktop.in_order())
            rectangles = [QRectF(f.x, f.y, f.width, f.height) for f in frames if f is not None]
            self._far = None if stage.moving else rectangles
        painter.save()
        painter.scale(camera.zoom, camera.zoom)
        painter.translate(-camera.x, -camera.y)
        self._items.paint_far(painter, rectangles)
        painter.restore()

    def _paint_ground(self, painter: QPainter) -> None:
        """Calm dots, that say how the plane moves."""
        step = _DOTS * self.stage.camera.zoom
        while step < _DOTS_PX_MIN:
            step *= 2
        while step > 2.5 * _DOTS_PX_MIN:
            step /= 2
        side, ratio = round(step) * _DOTS_PER_TILE, self.devicePixelRatioF()
        if self._dots is None or self._dots[0] != (side, ratio):
            self._dots = ((side, ratio), self._tile(side, ratio))
        camera = self.stage.camera
        offset = QPointF((camera.x * camera.zoom) % side, (camera.y * camera.zoom) % side)
        painter.drawTiledPixmap(QRectF(self.rect()), self._dots[1], offset)

    def _tile(self, side: int, ratio: float) -> QPixmap:
        tile = QPixmap(QSize(side, side) * ratio)
        tile.setDevicePixelRatio(ratio)
        tile.fill(self._theme.colour("surface"))
        painter = QPainter(tile)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour("border"))
        step = side / _DOTS_PER_TILE
        for column in range(_DOTS_PER_TILE):
            for row in range(_DOTS_PER_TILE):
                dot = QPointF((column + 0.5) * step, (row + 0.5) * step)
                painter.drawEllipse(dot, 1.2, 1.2)
        painter.end()
        return tile

    def paint_people(self, painter: QPainter) -> None:
        """The pointers of the others, unless one does not want to see them."""
        if not self.show_others:
            return
        self._overlay.paint_pointers(painter)
        fade_s = self.stage.others.next_fade_s()
        if fade_s is not None:
            self._fade.start(round(fade_s * 1000) + 20)

    def _paint_gesture(self, painter: QPainter) -> None:
        overlay = self._overlay
        overlay.paint_lines(painter)
        if self.band is not None:
            overlay.paint_band(painter, self.band)
        if self.ghost is not None:
            at, plan = self.ghost
            frame = Frame(*self.stage.camera.to_plane(at.x(), at.y()), *plan.size)
            overlay.paint_ghost(painter, at, plan.words, allowed=plan.allowed, frame=frame)
        elif self.words:
            overlay.paint_ghost(painter, self.words_at, self.words, allowed=True, frame=None)

    # Qt

    def paintEvent(self, _event: QPaintEvent) -> None:
        self.painted += 1
        stage, overlay = self.stage, self._overlay
        painter = QPainter(self)
        self._paint_ground(painter)
        shown = self._paint_items(painter)
        if self.show_others:
            overlay.paint_others_selection(painter)
            overlay.paint_people_inside(painter, shown)
        overlay.paint_selection(painter, handles=stage.editable)
        inside = None if stage.inside is None else stage.frame_of(stage.inside)
        if inside is not None:
            overlay.paint_inside(painter, inside)
        self.paint_people(painter)
        followed = None if self.followed is None else stage.others.people.get(self.followed)
        if followed is not None:
            overlay.paint_followed(painter, followed)
        self._paint_gesture(painter)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.stage.size = (float(max(self.width(), 1)), float(max(self.height(), 1)))
        self.stage.camera_changed.emit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.wake()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.live.want(())


def _distance(frame: Frame, x: float, y: float) -> float:
    return abs(frame.x + frame.width / 2 - x) + abs(frame.y + frame.height / 2 - y)
