"""Yes or no, as a switch that slides."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QWidget

from widgets.theme import Theme

_SIZE = QSize(38, 22)
_RIM_PX = 3


class Switch(QAbstractButton):
    """On the right and filled while it is on."""

    def __init__(self, theme: Theme, on: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setCheckable(True)
        self.setChecked(on)
        self.setFixedSize(_SIZE)
        theme.changed.connect(self.update)

    # Qt

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        track = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        on = self.isChecked()
        rim = self._theme.colour("text" if self.hasFocus() else ("accent" if on else "muted"))
        painter.setPen(QPen(rim, 1.5))
        painter.setBrush(self._theme.colour("accent" if on else "sunken"))
        painter.drawRoundedRect(track, track.height() / 2, track.height() / 2)
        across = track.height() - 2 * _RIM_PX
        left = track.right() - _RIM_PX - across if on else track.left() + _RIM_PX
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour("on_accent" if on else "muted"))
        painter.drawEllipse(QRectF(left, track.top() + _RIM_PX, across, across))
        painter.end()
