"""Being there together: tells the others where one is, and follows one of them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from liveobj.objects.desktop_items import Frame
from widgets.desktop.canvas import Canvas
from widgets.desktop.others import Other
from widgets.desktop.spots import SELECTED_MAX, Spot
from widgets.throttle import QtAlarm, Throttle

# Smooth enough for a pointer, and no more than the network needs to carry.
_TELL_S = 1 / 30


class Company(QObject):
    """Attributes: `followed`, the node of the one who is followed. Signals: `changed`."""

    changed = Signal()

    def __init__(self, canvas: Canvas, clock: Callable[[], float]) -> None:
        super().__init__(canvas)
        self.followed: int | None = None
        self._canvas = canvas
        self._stage = canvas.stage
        self._presence = canvas.stage.desktop.presence
        self._pointer: tuple[float, float] | None = None
        self._here = False
        self._seen: Frame | None = None
        self._names: tuple[tuple[int, str, str], ...] = ()
        self._tell = Throttle(self._say, QtAlarm(self), _TELL_S, clock)
        canvas.pointed.connect(self._on_pointed)
        canvas.left.connect(self._on_left)
        canvas.looked.connect(self.stop)
        canvas.dragging.connect(self._tell.request)
        canvas.inside.changed.connect(self._tell.request)
        self._stage.selection_changed.connect(self._tell.request)
        self._stage.camera_changed.connect(self._tell.request)
        self._people = self._presence.observe(lambda _: self._on_people())

    def close(self) -> None:
        self._tell.close()
        self._people.close()
        self._presence.set_spot(None)

    @property
    def others(self) -> list[Other]:
        return list(self._stage.others.people.values())

    def set_here(self, here: bool) -> None:
        """Whether this person has the desktop before their eyes."""
        self._here = here
        if here:
            self._tell.request()
        else:
            self._presence.set_spot(None)

    def flush(self) -> None:
        """Tells at once what would be told soon."""
        self._tell.request()
        self._tell.flush()

    # Following

    def follow(self, node: int | None) -> None:
        """Sees what somebody sees, until one looks elsewhere; the same person again ends it."""
        self.followed = None if node == self.followed else node
        self._seen = None
        self._canvas.followed = self.followed
        self._go_along()
        self.changed.emit()
        self._canvas.update()

    def stop(self) -> None:
        """One looks around by oneself."""
        self._seen = None
        if self.followed is not None:
            self.follow(None)

    def show_person(self, node: int) -> None:
        """Looks where somebody looks, as long as one is asked to again and again."""
        other = self._stage.others.people.get(node)
        if other is not None and other.spot is not None and other.spot.seen is not None:
            self._seen = other.spot.seen
            self._stage.show_frame(other.spot.seen)

    def _go_along(self) -> None:
        if self.followed is None:
            return
        other = self._stage.others.people.get(self.followed)
        if other is None:
            self.stop()
            return
        seen = None if other.spot is None else other.spot.seen
        if seen is not None and seen != self._seen:
            self._seen = seen
            self._stage.show_frame(seen)

    def _on_people(self) -> None:
        """Who comes and goes is news for everything around; who moves is only painted anew."""
        self._go_along()
        names = tuple((other.node, other.name, other.colour) for other in self.others)
        if names != self._names:
            self._names = names
            self.changed.emit()

    # Telling

    def _on_pointed(self, x: float, y: float) -> None:
        self._pointer = (x, y)
        self._tell.request()

    def _on_left(self) -> None:
        self._pointer = None
        self._tell.request()

    def _say(self) -> None:
        if not self._here:
            return
        stage = self._stage
        chosen = tuple(item.identity for item in stage.chosen[:SELECTED_MAX])
        dragged = stage.preview.get(chosen[0]) if chosen else None
        before = stage.chosen[0].frame if dragged is not None else None
        resized = (
            dragged is not None
            and before is not None
            and (dragged.width, dragged.height) != (before.width, before.height)
        )
        spot = Spot(
            self._pointer,
            # Two who follow each other would otherwise drive each other away.
            stage.seen if self._seen is None else self._seen,
            chosen,
            stage.inside,
            (dragged.x, dragged.y) if dragged is not None else None,
            (dragged.width, dragged.height) if dragged is not None and resized else None,
        )
        self._presence.set_spot(spot.write())
