"""Working inside an object where it lies: its own view, over the canvas, with the keyboard in it.

The view is a real widget and not a picture, so that writing, input methods, menus and drops work in
it as in a tab; at another zoom than 100 % it is shown through a scene (`scaled_room.py`). Who
enters from so far that nothing could be read flies nearer, and back when coming out; what is typed
on the way is written.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

from liveobj.objects.desktop_items import Form, Frame, Item
from widgets.desktop.camera import Camera
from widgets.desktop.frame_parts import content_of
from widgets.desktop.item_painter import LIVE_ZOOM
from widgets.desktop.live_items import LiveItems
from widgets.desktop.scaled_room import ScaledRoom
from widgets.desktop.stage import Stage
from widgets.object_view import ObjectView

_NATURAL = 1e-3
# One notch of a wheel.
_NOTCH = 120.0


def zoom_factor(event: QWheelEvent) -> float:
    """How much nearer a turn of the wheel leads; a touchpad turns it in small steps."""
    return float(1.2 ** (event.angleDelta().y() / _NOTCH))


class Inside(QObject):
    """Attributes: `view`, the view that is worked in, or None. Signals: `changed` when one has gone
    in or come out, or when what the view offers has changed; `placed(widget or None)`: what shows
    the view is somewhere else now."""

    changed = Signal()
    placed = Signal(object)

    def __init__(self, stage: Stage, live: LiveItems, canvas: QWidget) -> None:
        super().__init__(canvas)
        self.view: ObjectView | None = None
        self._stage = stage
        self._live = live
        self._canvas = canvas
        self._scaled: ScaledRoom | None = None
        self._return_to: tuple[Camera, Camera] | None = None
        stage.camera_changed.connect(self.place)
        stage.changed.connect(self.place)

    def enter(self, item: Item, at: tuple[float, float] | None = None) -> bool:
        """Goes to work in an item; `at` is where it was clicked, on the plane. False if it cannot
        be shown."""
        if self._stage.inside == item.identity:
            return True
        self.leave()
        view = None if item.form is Form.LINK else self._live.view_of(item)
        if view is None:
            return False
        self._stage.inside = item.identity
        self._stage.select([item.identity], whole_groups=False)
        self.view = view
        self._come_near(item)
        view.changed.connect(self.changed)
        for part in (view, *view.findChildren(QWidget)):
            part.installEventFilter(self)
        self.place()
        if self._scaled is None:
            view.show()
            view.raise_()
            view.setFocus()
        self.placed.emit(self._scaled or view)
        if at is not None:
            self._click(view, at)
        self.changed.emit()
        self._stage.changed.emit()
        return True

    def leave(self) -> None:
        """Comes out; harmless when one is not inside."""
        view, self.view = self.view, None
        self._stage.inside = None
        if view is None:
            return
        # Of this window, which need not be the one in front.
        shown = view if self._scaled is None else self._scaled
        had_focus = _holds(shown, self._canvas.window().focusWidget())
        view.changed.disconnect(self.changed)
        for part in (view, *view.findChildren(QWidget)):
            part.removeEventFilter(self)
        if had_focus:
            # Before the view is hidden: Qt would look for another place by itself.
            self._canvas.setFocus()
        self.placed.emit(None)
        if self._scaled is not None:
            self._scaled.give_back()
            self._scaled = None
        self._live.let_go()
        self._go_back()
        self.changed.emit()
        self._stage.changed.emit()

    def place(self) -> None:
        """Puts the view where its item is."""
        identity = self._stage.inside
        if self.view is None or identity is None:
            return
        frame, zoom = self._stage.frame_of(identity), self._stage.camera.zoom
        if frame is None or (zoom < LIVE_ZOOM and not self._is_coming_near()):
            # Gone, or so far away that one looks around and does not write.
            self._return_to = None
            self.leave()
            return
        room = content_of(frame)
        x, y = self._stage.camera.to_window(room.x, room.y)
        natural = QSize(round(room.width), round(room.height))
        if self._scaled is None and abs(zoom - 1.0) > _NATURAL:
            # Until one comes out: at 100 %, too, which many pass through on their way.
            self._scaled = ScaledRoom(self.view, self._canvas)
            self._scaled.zoomed.connect(self._on_wheel)
        if self._scaled is None:
            self.view.setGeometry(QRect(QPoint(round(x), round(y)), natural))
        else:
            size = QSize(round(room.width * zoom), round(room.height * zoom))
            self._scaled.lay(QRect(QPoint(round(x), round(y)), size), natural, zoom)
        self.placed.emit(self._scaled or self.view)

    def _come_near(self, item: Item) -> None:
        """Where only a card is to be seen nothing can be read: one goes to the natural size."""
        before = self._stage.settled_camera
        if before.zoom >= LIVE_ZOOM:
            self._return_to = None
            return
        target = _near(before, item.frame, self._stage.size)
        self._return_to = (before, target)
        self._stage.fly(target)

    def _is_coming_near(self) -> bool:
        return self._return_to is not None and self._stage.settled_camera == self._return_to[1]

    def _go_back(self) -> None:
        """Back to where one looked from, unless one has looked elsewhere since."""
        back, self._return_to = self._return_to, None
        if back is not None and self._stage.settled_camera == back[1]:
            self._stage.fly(back[0])

    def _click(self, view: ObjectView, at: tuple[float, float]) -> None:
        """The click that led inside also says where to write."""
        frame = self._stage.frame_of(self._stage.inside or "")
        if frame is None:
            return
        room = content_of(frame)
        place = QPoint(round(at[0] - room.x), round(at[1] - room.y))
        if not view.rect().contains(place):
            return
        target = view.childAt(place) or view
        local = QPointF(target.mapFrom(view, place))
        far = QPointF(target.mapToGlobal(local.toPoint()))
        button, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
        keys = Qt.KeyboardModifier.NoModifier
        for kind, held in (
            (QEvent.Type.MouseButtonPress, button),
            (QEvent.Type.MouseButtonRelease, none),
        ):
            QApplication.sendEvent(target, QMouseEvent(kind, local, far, button, held, keys))

    def _on_wheel(self, event: QWheelEvent) -> None:
        at = self._canvas.mapFromGlobal(event.globalPosition())
        self._stage.zoom(zoom_factor(event), at.x(), at.y())

    # Qt

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            isinstance(event, QWheelEvent)
            and event.modifiers() & Qt.KeyboardModifier.ControlModifier
        ):
            # Zooms the plane, not the letters of one object.
            self._on_wheel(event)
            return True
        return super().eventFilter(watched, event)


def _holds(shown: QWidget, focused: QWidget | None) -> bool:
    return focused is not None and (focused is shown or shown.isAncestorOf(focused))


def _near(before: Camera, frame: Frame, size: tuple[float, float]) -> Camera:
    """At 100 %, with the item where it was as far as it then fits into the window."""
    middle_x, middle_y = frame.x + frame.width / 2, frame.y + frame.height / 2
    x, y = before.to_window(middle_x, middle_y)
    near = before.zoomed(1.0 / before.zoom, x, y)
    seen = near.seen(*size)
    if frame.width > seen.width or frame.height > seen.height:
        # Its beginning is what one wants to see of what is too large.
        return Camera(min(frame.x - 24, seen.x), frame.y - 24, 1.0)
    dx = min(frame.x - 16 - seen.x, 0.0) + max(frame.right + 16 - seen.right, 0.0)
    dy = min(frame.y - 16 - seen.y, 0.0) + max(frame.bottom + 16 - seen.bottom, 0.0)
    return near.scrolled(dx, dy)
