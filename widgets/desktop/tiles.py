"""From afar, the plane is drawn in square tiles that are kept: panning then copies a few pictures,
however many items are in them."""

from __future__ import annotations

import math
import time
from collections import OrderedDict

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPixmap

from liveobj.objects.desktop_items import Frame
from widgets.desktop.camera import Camera
from widgets.desktop.item_painter import ItemPainter
from widgets.desktop.stage import Stage

_SIDE_PX = 256
_TILES_MAX = 200
# How long one frame may spend on tiles that are not there yet.
_DRAWING_S = 0.008

Tile = tuple[int, int]


class Tiles:
    """Tiles of one zoom and one screen; `forget` when something on the plane has changed."""

    def __init__(self, stage: Stage, items: ItemPainter) -> None:
        self._stage = stage
        self._items = items
        self._made_for: tuple[float, float] = (0.0, 0.0)
        self._kept: OrderedDict[Tile, QPixmap] = OrderedDict()

    def forget(self) -> None:
        self._kept.clear()

    def paint(self, painter: QPainter, ratio: float) -> None:
        """Draws all that is in sight; what there is no time for comes with the next frames, and is
        rectangles until then."""
        camera, seen = self._stage.camera, self._stage.seen
        if self._made_for != (camera.zoom, ratio):
            self._made_for = (camera.zoom, ratio)
            self._kept.clear()
        side = _SIDE_PX / camera.zoom
        until_s = time.perf_counter() + _DRAWING_S
        rough: list[Frame] = []
        for column in range(math.floor(seen.x / side), math.floor(seen.right / side) + 1):
            for row in range(math.floor(seen.y / side), math.floor(seen.bottom / side) + 1):
                if (column, row) not in self._kept and time.perf_counter() > until_s:
                    rough.append(Frame(column * side, row * side, side, side))
                    continue
                x = round((column * side - camera.x) * camera.zoom * ratio) / ratio
                y = round((row * side - camera.y) * camera.zoom * ratio) / ratio
                painter.drawPixmap(QPointF(x, y), self._tile((column, row), side, ratio))
        if rough:
            self._items.later = True
            self._paint_rough(painter, camera, rough)

    def _paint_rough(self, painter: QPainter, camera: Camera, rooms: list[Frame]) -> None:
        found = {item.identity: item.frame for room in rooms for item in self._stage.items_in(room)}
        rectangles = [QRectF(f.x, f.y, f.width, f.height) for f in found.values()]
        painter.save()
        painter.scale(camera.zoom, camera.zoom)
        painter.translate(-camera.x, -camera.y)
        self._items.paint_far(painter, rectangles)
        painter.restore()

    def _tile(self, tile: Tile, side: float, ratio: float) -> QPixmap:
        kept = self._kept.get(tile)
        if kept is not None:
            self._kept.move_to_end(tile)
            return kept
        drawn = QPixmap(round(_SIDE_PX * ratio), round(_SIDE_PX * ratio))
        drawn.setDevicePixelRatio(ratio)
        drawn.fill(Qt.GlobalColor.transparent)
        camera = Camera(tile[0] * side, tile[1] * side, self._stage.camera.zoom)
        painter = QPainter(drawn)
        complete = self._draw(painter, camera, Frame(camera.x, camera.y, side, side))
        painter.end()
        if complete:
            # What had no time to be read is drawn again in the next frame.
            self._kept[tile] = drawn
            while len(self._kept) > _TILES_MAX:
                self._kept.popitem(last=False)
        return drawn

    def _draw(self, painter: QPainter, camera: Camera, room: Frame) -> bool:
        items, stage = self._items, self._stage
        later_before, items.later = items.later, False
        for item in stage.items_in(room.grown(2.0 / camera.zoom)):
            frame = stage.frame_of(item.identity)
            if frame is not None:
                items.paint(painter, item, frame, camera)
        complete = not items.later
        items.later |= later_before
        return complete
