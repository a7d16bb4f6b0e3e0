"""Takes what is dropped on the canvas, and says before what would come of it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent

from widgets.desktop.drops import Drops, Parcel, Plan
from widgets.desktop.plane import Plane


class DropTarget(QObject):
    """Watches a plane. What is dragged is read when it comes in, and planned anew as keys change;
    `placed` is told what was put down. Attributes: `words`, what the ghost says."""

    def __init__(self, plane: Plane, drops: Drops, placed: Callable[[list[str]], None]) -> None:
        super().__init__(plane)
        self._plane = plane
        self._drops = drops
        self._placed = placed
        self._parcel: Parcel | None = None
        plane.setAcceptDrops(True)
        plane.installEventFilter(self)

    @property
    def words(self) -> str:
        return "" if self._plane.ghost is None else self._plane.ghost[1].words

    def _plan(self, event: QDragMoveEvent | QDropEvent) -> Plan:
        if self._parcel is None:
            self._parcel = self._drops.read(event.mimeData())
        keys = event.modifiers()
        return self._drops.plan(
            self._parcel,
            alt=bool(keys & Qt.KeyboardModifier.AltModifier),
            ctrl=bool(keys & Qt.KeyboardModifier.ControlModifier),
        )

    def _over(self, event: QDragMoveEvent) -> None:
        """Something is in the air. It is taken even if a drop is refused: the ghost says why, and
        a window that does not take it could say nothing."""
        self._plane.ghost = (event.position(), self._plan(event))
        self._plane.update()
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()

    def _leave(self) -> None:
        self._parcel = None
        self._plane.ghost = None
        self._plane.update()

    def _drop(self, event: QDropEvent) -> None:
        plan, at = self._plan(event), event.position()
        parcel = self._parcel
        self._leave()
        if not plan.allowed or parcel is None:
            event.setDropAction(Qt.DropAction.IgnoreAction)
            event.accept()
            return
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        self._placed(self._drops.do(parcel, plan, *self._place(at)))

    def _place(self, at: QPointF) -> tuple[float, float]:
        return self._plane.stage.camera.to_plane(at.x(), at.y())

    # Qt

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QDragEnterEvent):
            self._parcel = None
            self._over(event)
            return True
        if isinstance(event, QDragMoveEvent):
            self._over(event)
            return True
        if isinstance(event, QDropEvent):
            self._drop(event)
            return True
        if event.type() is QEvent.Type.DragLeave:
            self._leave()
            return True
        return super().eventFilter(watched, event)
