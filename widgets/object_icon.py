"""The picture of an object as something that can be pulled away with the mouse."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from widgets.icons import picture
from widgets.language import tr
from widgets.theme import Theme

_SIZE = QSize(28, 28)


class ObjectIcon(QLabel):
    """Signals: `drag_asked` when it is pulled."""

    drag_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._picture = ""
        self._pressed_at = QPoint()
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        self.setToolTip(tr("Drag it to a mail, a folder or another object"))
        self.setAccessibleName(tr("The object, to be dragged"))
        theme.changed.connect(self._draw)

    def show_picture(self, name: str) -> None:
        if name != self._picture:
            self._picture = name
            self._draw()

    def _draw(self) -> None:
        if self._picture:
            ratio = self.devicePixelRatioF()
            self.setPixmap(picture(self._theme, self._picture, _SIZE, ratio))

    # Qt

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed_at = event.position().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        moved = (event.position().toPoint() - self._pressed_at).manhattanLength()
        if moved >= QApplication.startDragDistance():
            self.drag_asked.emit()
