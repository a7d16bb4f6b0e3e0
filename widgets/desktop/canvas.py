"""The plane with a person at it: mouse, wheel and keys become gestures and intents."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QWidget

from liveobj.objects.desktop import NUDGE
from liveobj.objects.desktop_items import Form
from widgets.desktop.frame_parts import Part
from widgets.desktop.gestures import Choose, Gesture, Move, Pan, Pointer, Resize
from widgets.desktop.inside import Inside, zoom_factor
from widgets.desktop.plane import Plane
from widgets.desktop.presses import Press, cursor_at, press_at
from widgets.desktop.stage import Stage
from widgets.desktop.veil import Veil
from widgets.nesting import Nested

# While something is dragged this near to the edge of the window, the plane moves along.
_EDGE_PX = 28.0
_EDGE_STEP_PX = 14.0
_ARROWS = {
    Qt.Key.Key_Left: (-1.0, 0.0),
    Qt.Key.Key_Right: (1.0, 0.0),
    Qt.Key.Key_Up: (0.0, -1.0),
    Qt.Key.Key_Down: (0.0, 1.0),
}
_NUDGE = 1.0
_NUDGE_FAR = 10.0
_SCROLL_PX = 60.0


class Canvas(Plane):
    """Attributes: `inside`.

    Signals: `opened(item)`: it is wanted in a tab of its own; `menu_asked(item or None, place)`;
    `pulled(item)`: its icon is dragged away; `pointed(x, y)` and `left`: where the pointer is on
    the plane; `looked`: one has moved the camera oneself; `copied(frames)`, `linked(frames)`: items
    were dragged with Alt or Ctrl; `dragging`: the frames in `stage.preview` have moved.
    """

    opened = Signal(object)
    menu_asked = Signal(object, QPoint)
    pulled = Signal(object)
    pointed = Signal(float, float)
    left = Signal()
    looked = Signal()
    copied = Signal(object)
    linked = Signal(object)
    dragging = Signal()

    def __init__(
        self,
        around: Nested,
        stage: Stage,
        clock: Callable[[], float] = time.monotonic,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(around, stage, clock, parent)
        self.inside = Inside(stage, self.live, self)
        self._veil = Veil(self, stage, self.paint_people)
        self.inside.placed.connect(self._veil.lie_over)
        self._gesture: Gesture | None = None
        self._press: Press | None = None
        self._pointer: Pointer | None = None
        self._space = False
        self._edge_timer = QTimer(self)
        self._edge_timer.setInterval(16)
        self._edge_timer.timeout.connect(self._on_edge)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def close_plane(self) -> None:
        self._edge_timer.stop()
        self.inside.leave()
        super().close_plane()

    @property
    def editable(self) -> bool:
        return self.stage.editable

    def work_inside(self) -> bool:
        """Goes into the one item that is chosen; a link is followed."""
        chosen = self.stage.chosen
        if len(chosen) != 1:
            return False
        if chosen[0].form is Form.LINK:
            self.opened.emit(chosen[0])
            return True
        return self.inside.enter(chosen[0])

    def cancel_gesture(self) -> bool:
        """Ends what the mouse is doing without a trace; False if it is doing nothing."""
        gesture, self._gesture = self._gesture, None
        self._press = None
        self._edge_timer.stop()
        if gesture is None:
            return False
        gesture.cancel()
        self._after_gesture()
        return True

    # Gestures

    def _pointer_of(self, event: QMouseEvent) -> Pointer:
        keys = event.modifiers()
        at = event.position()
        return self._pointer_at(
            at,
            shift=bool(keys & Qt.KeyboardModifier.ShiftModifier),
            alt=bool(keys & Qt.KeyboardModifier.AltModifier),
            ctrl=bool(keys & Qt.KeyboardModifier.ControlModifier),
        )

    def _pointer_at(self, at: QPointF, *, shift: bool, alt: bool, ctrl: bool) -> Pointer:
        x, y = self.stage.camera.to_plane(at.x(), at.y())
        return Pointer(at.x(), at.y(), x, y, shift, alt, ctrl)

    def _begin(self, press: Press, pointer: Pointer) -> Gesture | None:
        """The gesture that moving the mouse after a press begins."""
        stage = self.stage
        if press.edges and press.item is not None:
            return Resize(stage, press.pointer, press.item.identity, press.edges)
        if press.item is None:
            return Choose(stage, press.pointer)
        if press.part is Part.ICON and not (pointer.alt or pointer.ctrl):
            self._press = None
            self.pulled.emit(press.item)
            return None
        if not self.editable:
            return Pan(stage, press.pointer)
        return Move(stage, press.pointer, self.copied.emit, self.linked.emit)

    def _after_gesture(self) -> None:
        self.band = None
        self.words = ""
        self.dragging.emit()
        self.update()

    def _show_gesture(self, gesture: Gesture, pointer: Pointer) -> None:
        self.band = gesture.band
        self.words = gesture.words
        self.words_at = QPointF(pointer.window_x, pointer.window_y)
        self.dragging.emit()
        self.update()

    def _on_edge(self) -> None:
        """Something is held at the edge of the window: the plane moves along under it."""
        pointer, gesture = self._pointer, self._gesture
        if pointer is None or gesture is None:
            self._edge_timer.stop()
            return
        dx = _pull(pointer.window_x, self.width())
        dy = _pull(pointer.window_y, self.height())
        if not dx and not dy:
            self._edge_timer.stop()
            return
        self.stage.look(self.stage.camera.scrolled(dx, dy))
        keys = {"shift": pointer.shift, "alt": pointer.alt, "ctrl": pointer.ctrl}
        self._pointer = self._pointer_at(QPointF(pointer.window_x, pointer.window_y), **keys)
        gesture.move(self._pointer)
        self._show_gesture(gesture, self._pointer)

    def _click(self, press: Press, pointer: Pointer) -> None:
        """A press and a release in one place."""
        stage = self.stage
        if press.item is None or press.edges:
            return
        if press.part is Part.MENU:
            at = self.mapToGlobal(QPoint(round(pointer.window_x), round(pointer.window_y)))
            self.menu_asked.emit(press.item, at)
        elif pointer.shift:
            return
        elif press.alone and press.part is Part.CONTENT:
            if press.item.form is Form.LINK:
                self.opened.emit(press.item)
            else:
                self.inside.enter(press.item, (pointer.x, pointer.y))
        elif press.among:
            # Of a group that was chosen, the second click takes the one that it meets.
            stage.select([press.item.identity], whole_groups=False)

    # Keys

    def nudge(self, dx: float, dy: float) -> None:
        """Moves what is chosen by a little."""
        frames = {item.identity: item.frame.moved(dx, dy) for item in self.stage.chosen}
        if frames and self.editable:
            self.stage.desktop.arrange(frames, NUDGE)

    def _on_arrow(self, step: tuple[float, float], far: bool) -> None:
        if self.stage.selection and self.editable:
            length = _NUDGE_FAR if far else _NUDGE
            self.nudge(step[0] * length, step[1] * length)
        else:
            dx, dy = step[0] * _SCROLL_PX, step[1] * _SCROLL_PX
            self.stage.look(self.stage.camera.scrolled(dx, dy))
            self.looked.emit()

    def _on_escape(self) -> bool:
        """Comes out, one step at a time; False if one is out already."""
        if self.cancel_gesture():
            return True
        if self.stage.inside is not None:
            self.inside.leave()
            return True
        if self.stage.selection:
            self.stage.select(())
            return True
        return False

    def _update_cursor(self, pointer: Pointer | None) -> None:
        if isinstance(self._gesture, Pan):
            shape = Qt.CursorShape.ClosedHandCursor
        elif self._space:
            shape = Qt.CursorShape.OpenHandCursor
        elif pointer is None:
            shape = Qt.CursorShape.ArrowCursor
        else:
            shape = cursor_at(self.stage, pointer)
        self.setCursor(shape)

    # Qt

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        pointer = self._pointer = self._pointer_of(event)
        button = event.button()
        if button is Qt.MouseButton.MiddleButton or (
            button is Qt.MouseButton.LeftButton and self._space
        ):
            self._gesture = Pan(self.stage, pointer)
            self._update_cursor(pointer)
            return
        if button is not Qt.MouseButton.LeftButton or self._gesture is not None:
            return
        press = self._press = press_at(self.stage, pointer)
        if self.stage.inside is not None and (
            press.item is None or press.item.identity != self.stage.inside
        ):
            self.inside.leave()
        if press.item is None:
            if not pointer.shift:
                self.stage.select(())
        elif not press.edges:
            if pointer.shift:
                self.stage.toggle(press.item.identity)
            elif press.item.identity not in self.stage.selection:
                self.stage.select([press.item.identity])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        pointer = self._pointer = self._pointer_of(event)
        self.pointed.emit(pointer.x, pointer.y)
        press = self._press
        if self._gesture is None and press is not None:
            moved = QPointF(
                pointer.window_x - press.pointer.window_x, pointer.window_y - press.pointer.window_y
            )
            if moved.manhattanLength() >= QApplication.startDragDistance():
                self._gesture = self._begin(press, pointer)
        if self._gesture is None:
            self._update_cursor(pointer)
            return
        self._gesture.move(pointer)
        self._show_gesture(self._gesture, pointer)
        if isinstance(self._gesture, Pan):
            self.looked.emit()
        elif _pull(pointer.window_x, self.width()) or _pull(pointer.window_y, self.height()):
            self._edge_timer.start()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pointer = self._pointer = self._pointer_of(event)
        gesture, self._gesture = self._gesture, None
        press, self._press = self._press, None
        self._edge_timer.stop()
        if gesture is not None:
            gesture.finish(pointer)
            self._after_gesture()
        elif press is not None:
            self._click(press, pointer)
        self._update_cursor(pointer)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        pointer = self._pointer_of(event)
        press = press_at(self.stage, pointer)
        if event.button() is not Qt.MouseButton.LeftButton or press.item is None:
            self.mousePressEvent(event)
            return
        if press.part in (Part.STRIP, Part.ICON) or press.item.form is Form.LINK:
            self.opened.emit(press.item)
        elif press.part is Part.CONTENT:
            self.inside.enter(press.item, (pointer.x, pointer.y))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if self._gesture is None:
            self.left.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        keys = event.modifiers()
        if keys & Qt.KeyboardModifier.ControlModifier:
            at = event.position()
            self.stage.zoom(zoom_factor(event), at.x(), at.y())
        else:
            moved = (
                QPointF(event.pixelDelta())
                if not event.pixelDelta().isNull()
                else QPointF(event.angleDelta()) * (_SCROLL_PX / 120.0)
            )
            dx, dy = -moved.x(), -moved.y()
            if keys & Qt.KeyboardModifier.ShiftModifier and not dx:
                dx, dy = dy, 0.0
            self.stage.look(self.stage.camera.scrolled(dx, dy))
        self.looked.emit()
        event.accept()

    def event(self, event: QEvent) -> bool:
        if (
            isinstance(event, QNativeGestureEvent)
            and event.gestureType() is Qt.NativeGestureType.ZoomNativeGesture
        ):
            at = event.position()
            self.stage.zoom(1.0 + event.value(), at.x(), at.y())
            self.looked.emit()
            return True
        return super().event(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            chosen = self.stage.chosen
            self.menu_asked.emit(chosen[0] if chosen else None, self.mapToGlobal(QPoint(24, 24)))
            return
        at = event.pos()
        item = self.stage.item_at(*self.stage.camera.to_plane(at.x(), at.y()))
        if item is not None and item.identity not in self.stage.selection:
            self.stage.select([item.identity])
        self.menu_asked.emit(item, event.globalPos())

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab walks through the items; past the last one it leads on to the next widget."""
        if self.hasFocus() and self.stage.inside is None:
            if self.stage.walk(1 if forward else -1):
                return True
            self.stage.select(())
        return super().focusNextPrevChild(forward)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key is Qt.Key.Key_Escape and self._on_escape():
            return
        if self.stage.inside is None:
            if key in _ARROWS:
                far = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
                self._on_arrow(_ARROWS[key], far)
                return
            if key is Qt.Key.Key_Space and not event.isAutoRepeat():
                self._space = True
                self._update_cursor(self._pointer)
                return
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.work_inside():
                return
        super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._space = False
            self._update_cursor(self._pointer)
            return
        super().keyReleaseEvent(event)


def _pull(at: float, length: int) -> float:
    """How far the plane moves while something is held there."""
    if at < _EDGE_PX:
        return -_EDGE_STEP_PX
    return _EDGE_STEP_PX if at > length - _EDGE_PX else 0.0
