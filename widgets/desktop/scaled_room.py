"""A view of an object at another size than its natural one, with all that a person does in it.

Qt draws and moves the widget through a scene: letters are drawn anew in their size, and mouse,
wheel, keys, input methods and drops come to the right place of it. What pops up out of the view
(menus, lists to choose from) does so in its natural size and over everything else, as anywhere.
"""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QWheelEvent
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsProxyWidget,
    QGraphicsScene,
    QGraphicsView,
    QWidget,
)

_BYPASS = Qt.WindowType.BypassGraphicsProxyWidget


class ScaledRoom(QGraphicsView):
    """Holds one widget, from its making until `give_back`. Signals: `zoomed(event)`: the wheel was
    turned with Ctrl, which is for the plane and not for the widget."""

    zoomed = Signal(object)

    def __init__(self, view: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._view = view
        self._home = parent
        self._bare()
        scene = QGraphicsScene(self)
        self.setScene(scene)
        focused = view.focusWidget()
        view.setParent(None)
        self._proxy = QGraphicsProxyWidget()
        self._proxy.setWidget(view)
        scene.addItem(self._proxy)
        # Windows of whatever lies in it are windows of the screen, not of the scene.
        view.overrideWindowFlags(view.windowFlags() | _BYPASS)
        view.show()
        self.show()
        self.focus_on(focused or view)

    def _bare(self) -> None:
        """Nothing of its own is to be seen."""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet("background: transparent; border: none; padding: 0")
        self.viewport().setAutoFillBackground(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.setRenderHints(
            QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform
        )
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.SmartViewportUpdate)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.NoAnchor)

    def lay(self, place: QRect, natural: QSize, zoom: float) -> None:
        """Shows the widget, which has that size by nature, there."""
        self.setGeometry(place)
        self._proxy.setScale(zoom)
        self._proxy.resize(natural)
        self.setSceneRect(QRectF(0, 0, place.width(), place.height()))

    def focus_on(self, part: QWidget) -> None:
        """Gives the keyboard to a part of the widget."""
        self.setFocus()
        self._proxy.setFocus()
        part.setFocus()

    def give_back(self) -> None:
        """Lets go of the widget, which is hidden then, and disappears."""
        self._view.overrideWindowFlags(self._view.windowFlags() & ~_BYPASS)
        self._proxy.setWidget(None)  # type: ignore[arg-type]  # None takes it out
        self._view.hide()
        self._view.setParent(self._home)
        self.hide()
        self.deleteLater()

    # Qt

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoomed.emit(event)
            event.accept()
            return
        super().wheelEvent(event)
