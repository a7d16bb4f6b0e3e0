"""What is shown of a desktop and what is chosen on it; the canvas paints it, gestures change it.

It joins the replicated items with what is of this moment: the camera, the selection, frames that
are being dragged here or by somebody else, and frames that glide to where they belong.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from liveobj.documents.document import Origin
from liveobj.objects.desktop import Desktop, ItemsChange
from liveobj.objects.desktop_items import Frame, Item, around, bounded
from widgets.desktop.arranging import SnapLine
from widgets.desktop.camera import Camera, centred, fitting
from widgets.desktop.item_index import ItemIndex
from widgets.desktop.motion import Glides, eased
from widgets.desktop.others import Others
from widgets.reduced_motion import motion_wanted
from widgets.throttle import FRAME_S

_FLIGHT_S = 0.16
# What the bar with the zoom takes at the foot of the window.
FOOT_PX = 48.0
# One's own changes that move things to where one did not drag them.
_GLIDING = frozenset({"align", "distribute"})


class Stage(QObject):
    """Attributes: `desktop`, `others`, `camera`, `selection`, `inside` (the item that is worked
    in), `preview` (frames of a gesture that is not finished), `lines` (what they snap to), `size`
    of the window. Signals: `changed`: something is to be painted anew; `items_changed`,
    `selection_changed`, `camera_changed`."""

    changed = Signal()
    items_changed = Signal()
    selection_changed = Signal()
    camera_changed = Signal()

    def __init__(
        self,
        desktop: Desktop,
        clock: Callable[[], float] = time.monotonic,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.desktop = desktop
        self.others = Others(desktop.presence, clock)
        self.camera = Camera()
        self.selection: frozenset[str] = frozenset()
        self.inside: str | None = None
        self.preview: dict[str, Frame] = {}
        self.lines: tuple[SnapLine, ...] = ()
        self.size: tuple[float, float] = (800.0, 600.0)
        self._clock = clock
        self._frames: dict[str, Frame] = {}
        self._index = ItemIndex()
        self._glides = Glides(clock)
        self._dragged: set[str] = set()
        self._chosen: list[Item] | None = None
        self._flight: tuple[Camera, Camera, float] | None = None
        self._frame_timer = QTimer(self)
        self._frame_timer.setInterval(round(FRAME_S * 1000))
        self._frame_timer.timeout.connect(self._on_frame)
        self._put(desktop.items)
        self.others.refresh()
        self._subscriptions = [
            desktop.observe_items(self._on_items),
            desktop.presence.observe(lambda _: self._on_people()),
        ]

    def close(self) -> None:
        self._frame_timer.stop()
        for subscription in self._subscriptions:
            subscription.close()

    @property
    def editable(self) -> bool:
        return self.desktop.document.editable

    # What is where

    def frame_of(self, identity: str) -> Frame | None:
        """Where an item is shown now; None for one that is gone."""
        dragged = self.preview.get(identity)
        if dragged is not None:
            return dragged
        frame = self._frames.get(identity)
        return None if frame is None else self._glides.at(identity, frame)

    @property
    def seen(self) -> Frame:
        """The part of the plane that is in the window."""
        return self.camera.seen(*self.size)

    @property
    def moving(self) -> bool:
        """Whether some frames are elsewhere than the index says."""
        return bool(self.preview) or bool(self._glides)

    def items_in(self, frame: Frame) -> Sequence[Item]:
        """The items that are shown there, lowest first."""
        found = self._index.meeting(frame)
        if self.moving:
            for identity in {*self.preview, *self._glides.identities}:
                shown = self.frame_of(identity)
                if shown is not None and shown.meets(frame):
                    found.add(identity)
        items = self.desktop.items
        if len(found) * 3 > len(items):
            return [item for item in self.desktop.in_order() if item.identity in found]
        return sorted((items[i] for i in found if i in items), key=lambda item: item.rank)

    def item_at(self, x: float, y: float, reach: float = 0.0) -> Item | None:
        """The highest item at a place of the plane, or `reach` beside it; what is worked in lies
        above all others for as long."""
        spot = Frame(x - reach, y - reach, 2 * reach + 1e-6, 2 * reach + 1e-6)
        highest = sorted(self.items_in(spot), key=lambda item: item.identity == self.inside)
        for item in reversed(highest):
            shown = self.frame_of(item.identity)
            if shown is not None and shown.meets(spot):
                return item
        return None

    def units(self, identities: Iterable[str]) -> list[dict[str, Frame]]:
        """Items by what moves as one: the members of a group together, others alone."""
        units: dict[str, dict[str, Frame]] = {}
        for identity in sorted(identities):
            item = self.desktop.items.get(identity)
            if item is not None:
                name = item.groups[0] if item.groups else identity
                units.setdefault(name, {})[identity] = item.frame
        return list(units.values())

    def has_units(self, count: int) -> bool:
        """Whether at least that many units are chosen; does not look farther than it must."""
        names: set[str] = set()
        for identity in self.selection:
            item = self.desktop.items.get(identity)
            if item is not None:
                names.add(item.groups[0] if item.groups else identity)
            if len(names) >= count:
                return True
        return False

    # Choosing

    def select(self, identities: Iterable[str], *, whole_groups: bool = True) -> None:
        """Chooses these and nothing else, with what they are grouped with."""
        known = (i for i in identities if i in self.desktop.items)
        chosen = frozenset(self.desktop.together(known) if whole_groups else known)
        if chosen != self.selection:
            self.selection = chosen
            self._chosen = None
            self.selection_changed.emit()
            self.changed.emit()

    def toggle(self, identity: str) -> None:
        """Adds to what is chosen, or takes away."""
        whole = self.desktop.together([identity])
        chosen = self.selection - whole if identity in self.selection else self.selection | whole
        self.select(chosen)

    @property
    def chosen(self) -> list[Item]:
        """The selected items, lowest first."""
        if self._chosen is None:
            items = self.desktop.items
            found = (items[i] for i in self.selection if i in items)
            self._chosen = sorted(found, key=lambda item: item.rank)
        return self._chosen

    def walk(self, step: int) -> bool:
        """Chooses the next item as one reads, or the one before; False at the end."""
        order = sorted(self.desktop.items.values(), key=lambda i: (i.frame.y, i.frame.x, i.rank))
        names = [item.identity for item in order]
        at = [n for n, name in enumerate(names) if name in self.selection]
        start = -1 if step > 0 else len(names)
        target = (at[0] if at else start) + step
        if not 0 <= target < len(names):
            return False
        self.select([names[target]], whole_groups=False)
        self.bring_into_sight(order[target].frame)
        return True

    def set_preview(self, frames: dict[str, Frame], lines: Sequence[SnapLine] = ()) -> None:
        """Shows items elsewhere while a gesture lasts."""
        self.preview = frames
        self.lines = tuple(lines)
        self.changed.emit()

    # Looking

    def look(self, camera: Camera) -> None:
        """Looks there at once."""
        self._flight = None
        self._set_camera(camera)

    def fly(self, camera: Camera) -> None:
        """Looks there after a short flight."""
        if camera == self.settled_camera:
            return
        if not motion_wanted():
            self.look(camera)
            return
        self._flight = (self.camera, camera, self._clock())
        self._frame_timer.start()

    def fit(self, identities: Collection[str] | None = None, zoom_max: float = 1.0) -> None:
        """Shows all of these, or everything."""
        wanted = self.desktop.items if identities is None else identities
        whole = around(f for i in wanted if (f := self.frame_of(i)) is not None)
        if whole is None:
            self.fly(Camera())
        else:
            self.fly(fitting(whole, *self._room, zoom_max=zoom_max))

    def look_at_all(self) -> None:
        """Shows everything, at once."""
        whole = around(item.frame for item in self.desktop.items.values())
        if whole is not None:
            self.look(fitting(whole, *self._room))

    @property
    def _room(self) -> tuple[float, float]:
        """The part of the window that is free of what floats at its foot, where it is high."""
        width, height = self.size
        return width, height - FOOT_PX if height > 6 * FOOT_PX else height

    def show_frame(self, frame: Frame) -> None:
        """Shows what somebody else sees, as much of it as they do."""
        self.fly(fitting(frame, *self.size, margin=0.0, zoom_max=4.0))

    def bring_into_sight(self, frame: Frame) -> None:
        """Moves the camera if a frame is not wholly in the window."""
        seen = self.seen
        inside = (
            seen.x <= frame.x
            and seen.y <= frame.y
            and frame.right <= seen.right
            and frame.bottom <= seen.bottom
        )
        if not inside:
            if frame.width > seen.width or frame.height > seen.height:
                self.fly(fitting(frame, *self.size))
            else:
                self.fly(centred(frame, *self.size, self.camera.zoom))

    def zoom(self, factor: float, x: float | None = None, y: float | None = None) -> None:
        """Nearer or farther, by default around the middle of the window."""
        width, height = self.size
        at_x, at_y = width / 2 if x is None else x, height / 2 if y is None else y
        self.look(self.camera.zoomed(factor, at_x, at_y))

    @property
    def settled_camera(self) -> Camera:
        """Where a flight leads, or where one looks."""
        return self.camera if self._flight is None else self._flight[1]

    def _set_camera(self, camera: Camera) -> None:
        if camera != self.camera:
            self.camera = camera
            self.camera_changed.emit()
            self.changed.emit()

    # Changes

    def _put(self, identities: Iterable[str]) -> None:
        for identity in identities:
            frame = self.desktop.items[identity].frame
            self._frames[identity] = frame
            self._index.put(identity, frame)

    def _on_items(self, change: ItemsChange) -> None:
        self._chosen = None
        glides = change.origin is not Origin.LOCAL or change.label in _GLIDING
        for identity in change.changed:
            self._move(identity, self.desktop.items[identity].frame, glides)
        for identity in change.removed:
            self._frames.pop(identity, None)
            self._index.remove(identity)
            self._glides.drop(identity)
            self.preview.pop(identity, None)
        self._apply_drags()
        if change.removed & self.selection:
            self.select(self.selection - change.removed, whole_groups=False)
        self.items_changed.emit()
        self.changed.emit()

    def _move(self, identity: str, frame: Frame, glides: bool) -> None:
        before = self.frame_of(identity)
        self._frames[identity] = frame
        self._index.put(identity, frame)
        if before is None or before == frame or identity in self.preview:
            return
        if glides:
            self._glides.begin(identity, before)
            self._frame_timer.start()
        else:
            self._glides.drop(identity)

    def _on_people(self) -> None:
        self.others.refresh()
        self._apply_drags()
        self.changed.emit()

    def _apply_drags(self) -> None:
        """Shows what others are dragging where they have it now, and as large; what they let go of
        returns."""
        wanted: dict[str, Frame] = {}
        items = self.desktop.items
        for other in self.others.people.values():
            spot = other.spot
            if spot is None or spot.dragged_to is None or not spot.selected:
                continue
            first = items.get(spot.selected[0])
            if first is None:
                continue
            dx, dy = spot.dragged_to[0] - first.frame.x, spot.dragged_to[1] - first.frame.y
            for identity in spot.selected:
                if identity in items:
                    wanted[identity] = items[identity].frame.moved(dx, dy)
            if spot.resized_to is not None and len(spot.selected) == 1:
                wanted[first.identity] = bounded(Frame(*spot.dragged_to, *spot.resized_to))
        for identity in self._dragged - wanted.keys():
            if identity in items:
                self._move(identity, items[identity].frame, glides=True)
        for identity, frame in wanted.items():
            if self._frames.get(identity) != frame:
                self._move(identity, frame, glides=True)
        self._dragged = set(wanted)

    def _on_frame(self) -> None:
        self._glides.finish()
        if self._flight is not None:
            start, end, since_s = self._flight
            share = (self._clock() - since_s) / _FLIGHT_S
            if share >= 1.0:
                self._flight = None
                self._set_camera(end)
            else:
                self._set_camera(start.between(end, eased(share)))
        if not self._glides and self._flight is None:
            self._frame_timer.stop()
        self.changed.emit()
