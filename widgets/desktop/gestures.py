"""What one does with the mouse, from the press to the release: moving, resizing, choosing, panning.

A gesture changes nothing but what this person sees until it is finished; a cancelled one leaves no
trace. Gestures know no widget: they are given places of the plane and change the stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from liveobj.objects.desktop_items import Frame, around
from widgets.desktop.arranging import Edge, Snap, SnapLine, resized, snapped
from widgets.desktop.stage import Stage
from widgets.language import tr

SNAP_PX = 6.0
_NEIGHBOURS_MAX = 200


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where the mouse is, in the window and on the plane, and which keys are held."""

    window_x: float
    window_y: float
    x: float
    y: float
    shift: bool = False
    alt: bool = False
    ctrl: bool = False


class Gesture:
    """Base of all. Attributes: `words`, what letting go would do, where that is not plain to see;
    `band`, a frame to be drawn while choosing."""

    def __init__(self, stage: Stage, start: Pointer) -> None:
        self.words = ""
        self.band: Frame | None = None
        self._stage = stage
        self._start = start

    def move(self, pointer: Pointer) -> None:
        """Shows what would be if it ended here."""

    def finish(self, pointer: Pointer) -> None:
        """Does it."""
        self.move(pointer)

    def cancel(self) -> None:
        """Everything is as it was before."""


class Move(Gesture):
    """Drags the selected items. With Alt they stay and copies are made, with Ctrl links; `copy` and
    `link` are given where those come to lie."""

    def __init__(
        self,
        stage: Stage,
        start: Pointer,
        copy: Callable[[Mapping[str, Frame]], None],
        link: Callable[[Mapping[str, Frame]], None],
    ) -> None:
        super().__init__(stage, start)
        self._copy = copy
        self._link = link
        self._before = {item.identity: item.frame for item in stage.chosen}

    def move(self, pointer: Pointer) -> None:
        outline = around(self._before.values())
        if outline is None:
            return
        dx, dy = pointer.x - self._start.x, pointer.y - self._start.y
        if pointer.shift:
            dx, dy = (dx, 0.0) if abs(dx) >= abs(dy) else (0.0, dy)
        snap = _snap(self._stage, outline.moved(dx, dy), self._before)
        dx, dy = dx + snap.dx, dy + snap.dy
        # Gone meanwhile, taken off by somebody else: nothing to drag any more.
        known = self._stage.desktop.items
        frames = {i: frame.moved(dx, dy) for i, frame in self._before.items() if i in known}
        self._stage.set_preview(frames, snap.lines)
        self.words = _words(pointer, len(frames))

    def finish(self, pointer: Pointer) -> None:
        super().finish(pointer)
        frames = dict(self._stage.preview)
        if pointer.alt or pointer.ctrl:
            self._stage.set_preview({})
            (self._copy if pointer.alt else self._link)(frames)
            return
        # Written before the preview ends: nothing jumps back for a moment.
        if frames:
            self._stage.desktop.arrange(frames, "move")
        self._stage.set_preview({})

    def cancel(self) -> None:
        self._stage.set_preview({})


def _words(pointer: Pointer, count: int) -> str:
    if pointer.alt:
        return tr("Copy here") if count == 1 else tr("Copy all here")
    if pointer.ctrl:
        return tr("Link from here") if count == 1 else tr("Link all from here")
    return ""


class Resize(Gesture):
    """Pulls one or two edges of an item."""

    def __init__(self, stage: Stage, start: Pointer, identity: str, edges: frozenset[Edge]) -> None:
        super().__init__(stage, start)
        self._identity = identity
        self._edges = edges
        self._before = stage.desktop.items[identity].frame

    def move(self, pointer: Pointer) -> None:
        dx, dy = pointer.x - self._start.x, pointer.y - self._start.y
        frame = resized(self._before, dx, dy, self._edges)
        lines: tuple[SnapLine, ...] = ()
        for edge in self._edges:
            snap = _snap(self._stage, _edge_of(frame, edge), {self._identity: frame})
            upright = edge in (Edge.LEFT, Edge.RIGHT)
            frame = resized(
                frame, snap.dx if upright else 0.0, 0.0 if upright else snap.dy, frozenset({edge})
            )
            lines += tuple(line for line in snap.lines if line.upright == upright)
        if self._identity in self._stage.desktop.items:
            self._stage.set_preview({self._identity: frame}, lines)
        width, height = round(frame.width), round(frame.height)
        self.words = tr("{width} × {height}", width=width, height=height)

    def finish(self, pointer: Pointer) -> None:
        super().finish(pointer)
        if self._stage.preview:
            self._stage.desktop.arrange(dict(self._stage.preview), "resize")
        self._stage.set_preview({})

    def cancel(self) -> None:
        self._stage.set_preview({})


def _edge_of(frame: Frame, edge: Edge) -> Frame:
    match edge:
        case Edge.LEFT:
            return Frame(frame.x, frame.y, 0, frame.height)
        case Edge.RIGHT:
            return Frame(frame.right, frame.y, 0, frame.height)
        case Edge.TOP:
            return Frame(frame.x, frame.y, frame.width, 0)
        case _:
            return Frame(frame.x, frame.bottom, frame.width, 0)


def _snap(stage: Stage, moving: Frame, without: Iterable[str]) -> Snap:
    """To the nearest of what is in sight."""
    left_out = set(without)
    others = [item.frame for item in stage.items_in(stage.seen) if item.identity not in left_out]
    if len(others) > _NEIGHBOURS_MAX:
        others.sort(key=lambda frame: abs(frame.x - moving.x) + abs(frame.y - moving.y))
        del others[_NEIGHBOURS_MAX:]
    return snapped(moving, others, SNAP_PX / stage.camera.zoom)


class Choose(Gesture):
    """Draws a band; what it touches is selected, with Shift in addition to what was."""

    def __init__(self, stage: Stage, start: Pointer) -> None:
        super().__init__(stage, start)
        self._before = stage.selection

    def move(self, pointer: Pointer) -> None:
        left, right = sorted((self._start.x, pointer.x))
        top, bottom = sorted((self._start.y, pointer.y))
        self.band = Frame(left, top, right - left, bottom - top)
        touched = {item.identity for item in self._stage.items_in(self.band)}
        self._stage.select(touched | self._before if pointer.shift else touched)
        self._stage.changed.emit()

    def finish(self, pointer: Pointer) -> None:
        super().finish(pointer)
        self.band = None

    def cancel(self) -> None:
        self.band = None
        self._stage.select(self._before)


class Pan(Gesture):
    """Drags the plane itself."""

    def __init__(self, stage: Stage, start: Pointer) -> None:
        super().__init__(stage, start)
        self._before = stage.camera

    def move(self, pointer: Pointer) -> None:
        dx = self._start.window_x - pointer.window_x
        dy = self._start.window_y - pointer.window_y
        self._stage.look(self._before.scrolled(dx, dy))

    def cancel(self) -> None:
        self._stage.look(self._before)
