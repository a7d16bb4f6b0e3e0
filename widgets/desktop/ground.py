"""The ground of frames and cards: paper with round corners, a hairline and a soft shadow.

It is drawn once for each size of corner and stretched from then on: corners are copied, edges and
the middle are pulled to the size that is wanted.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPixmap

from widgets.theme import Theme

SHADOW_PX = 10
_STEPS = (8, 5, 3, 1)


class Ground:
    """Draws grounds in the colours of a theme; `forget` when that has changed."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._kept: dict[tuple[int, bool, float], QPixmap] = {}

    def forget(self) -> None:
        self._kept.clear()

    def draw(self, painter: QPainter, whole: QRectF, corner: float, *, shadow: bool) -> None:
        """Fills `whole`; the shadow goes beyond it by up to `SHADOW_PX`."""
        ratio = painter.device().devicePixelRatioF()
        corner_px = round(min(corner, whole.width() / 2, whole.height() / 2))
        key = (corner_px, shadow, ratio)
        if key not in self._kept:
            self._kept[key] = self._make(corner_px, shadow, ratio)
        self._stretch(painter, self._kept[key], whole, SHADOW_PX + corner_px + 1, ratio)

    def _make(self, corner: int, shadow: bool, ratio: float) -> QPixmap:
        side = 2 * (SHADOW_PX + corner + 1) + 2
        patch = QPixmap(round(side * ratio), round(side * ratio))
        patch.setDevicePixelRatio(ratio)
        patch.fill(Qt.GlobalColor.transparent)
        painter = QPainter(patch)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paper = QRectF(SHADOW_PX, SHADOW_PX, side - 2 * SHADOW_PX, side - 2 * SHADOW_PX)
        painter.setPen(Qt.PenStyle.NoPen)
        for step in _STEPS if shadow else ():
            colour = self._theme.colour("shadow")
            colour.setAlphaF(0.10 if self._theme.dark else 0.022)
            painter.setBrush(colour)
            grown = paper.adjusted(-step, -step + 2, step, min(step + 2, SHADOW_PX))
            painter.drawRoundedRect(grown, corner + step, corner + step)
        painter.setBrush(self._theme.colour("raised"))
        painter.setPen(self._theme.colour("border"))
        inner = paper.adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(inner, corner, corner)
        painter.end()
        return patch

    def _stretch(
        self, painter: QPainter, patch: QPixmap, whole: QRectF, edge: int, ratio: float
    ) -> None:
        outer = whole.adjusted(-SHADOW_PX, -SHADOW_PX, SHADOW_PX, SHADOW_PX)
        side = patch.width() / ratio
        across = _cuts(outer.left(), outer.right(), edge)
        down = _cuts(outer.top(), outer.bottom(), edge)
        source = _cuts(0.0, side, edge)
        for column in range(3):
            for row in range(3):
                target = _cell(across, down, column, row)
                if target.width() > 0 and target.height() > 0:
                    part = _cell(source, source, column, row)
                    scaled = QRectF(part.topLeft() * ratio, part.size() * ratio)
                    painter.drawPixmap(target, patch, scaled)


def _cuts(start: float, end: float, edge: int) -> tuple[float, float, float, float]:
    edge_kept = min(float(edge), (end - start) / 2)
    return start, start + edge_kept, end - edge_kept, end


def _cell(across: tuple[float, ...], down: tuple[float, ...], column: int, row: int) -> QRectF:
    width, height = across[column + 1] - across[column], down[row + 1] - down[row]
    return QRectF(across[column], down[row], width, height)
