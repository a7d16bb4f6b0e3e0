"""The objects on a desktop that are open: their views, and the pictures that are taken of them.

Only what is in sight is open, nearest to the middle first, one at a time so that no frame waits for
it. What goes out of sight sleeps; beyond a bound the one that was seen longest ago is closed, and
its last picture stays. An object that fails or cannot be shown says why, and harms no other.
"""

from __future__ import annotations

import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QWidget

from liveobj.errors import Problem
from liveobj.objects.desktop_items import Item
from liveobj.observers import Subscription
from liveobj.opening import Opening
from widgets.desktop.contents import Contents
from widgets.language import tr
from widgets.nesting import Nested
from widgets.object_view import ObjectView

log = logging.getLogger(__name__)

LIVE_MAX = 24
PICTURES_MAX = 200
_TURN_MS = 16
# An object that changes all the time is pictured this often at most.
_PICTURE_S = 0.1
_PICTURE_PIXELS_MAX = 4_000_000


@dataclass(slots=True)
class Live:
    """One object that is open. `dirty` while the picture is older than the view or of another
    `scale` than is wanted."""

    item: Item
    opening: Opening
    view: ObjectView
    subscriptions: list[Subscription]
    dirty: bool = True
    asleep: bool = False
    scale: float = 0.0
    pictured_s: float = 0.0
    seen_s: float = 0.0


class LiveItems(QObject):
    """Opens and closes by what is wanted. `place` is the widget that views lie on; `size_of` tells
    how large an item's view is, `scale` how many pixels its picture has to one of the view.

    Signals: `renewed(identity)`: picture, name or problem of an item have changed.
    """

    renewed = Signal(str)

    def __init__(
        self,
        inside: Nested,
        contents: Contents,
        place: QWidget,
        size_of: Callable[[str], QSize | None],
        scale: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(place)
        self._inside = inside
        self._contents = contents
        self._place = place
        self._size_of = size_of
        self._scale = scale
        self._clock = clock
        self._live: dict[str, Live] = {}
        self._wanted: dict[str, Item] = {}
        self._pictures: OrderedDict[str, QPixmap] = OrderedDict()
        self._names: dict[str, str] = {}
        self._problems: dict[str, tuple[Item, str]] = {}
        self._kept: str | None = None
        self._held = False
        self._turn = QTimer(self)
        self._turn.setSingleShot(True)
        self._turn.timeout.connect(self._on_turn)
        inside.theme.changed.connect(self._on_theme)

    # What is shown

    def picture(self, identity: str) -> QPixmap | None:
        return self._pictures.get(identity)

    def pictured_size(self, identity: str) -> QSize | None:
        """How large the view was when its picture was taken; None before the first one."""
        live = self._live.get(identity)
        return None if live is None or not live.pictured_s else live.view.size()

    def name(self, item: Item) -> str:
        """What an item is called: the name it was given here, that of its object if that was open,
        or the one in its reference."""
        return item.title or self._names.get(item.identity) or self._contents.of(item).name

    def problem(self, item: Item) -> str:
        """Why an item cannot be shown; empty if it can, as far as is known."""
        found = self._problems.get(item.identity)
        if found is not None and found[0].reference == item.reference:
            return found[1]
        return self._contents.of(item).problem

    @property
    def open_items(self) -> list[str]:
        return list(self._live)

    @property
    def asleep(self) -> set[str]:
        return {identity for identity, live in self._live.items() if live.asleep}

    # What is wanted

    def want(self, items: Sequence[Item]) -> None:
        """Takes what is in sight, nearest first; all else may sleep."""
        self._held = False
        self._wanted = {item.identity: item for item in items[:LIVE_MAX]}
        now_s, scale = self._clock(), self._scale()
        for identity, live in self._live.items():
            if identity in self._wanted or identity == self._kept:
                live.seen_s = now_s
                live.dirty |= live.scale != scale
                if live.asleep:
                    live.asleep = False
                    live.dirty = True
                    live.opening.wake()
            elif not live.asleep:
                live.asleep = True
                live.opening.sleep()
        self._work_soon()

    def hold(self) -> None:
        """Leaves opening and picturing for later, until `want` is called again."""
        self._turn.stop()
        self._held = True

    def view_of(self, item: Item) -> ObjectView | None:
        """The view of an item, opened now if need be; it is kept until `let_go`. None, and a
        problem, if it cannot be shown."""
        live = self._live.get(item.identity) or self._open(item)
        if live is None:
            return None
        self._kept = item.identity
        if live.asleep:
            live.asleep = False
            live.opening.wake()
        return live.view

    def let_go(self) -> None:
        """The view that was asked for is needed no more."""
        kept, self._kept = self._kept, None
        if kept is not None and kept in self._live:
            self._live[kept].view.hide()
            self.look_again(kept)

    def look_again(self, identity: str) -> None:
        """Something about how an item is shown has changed, such as its size."""
        live = self._live.get(identity)
        if live is not None:
            live.dirty = True
            self._work_soon()

    def view_if_open(self, identity: str) -> ObjectView | None:
        live = self._live.get(identity)
        return None if live is None else live.view

    def try_again(self, item: Item) -> None:
        """Forgets why an item could not be shown."""
        if self._problems.pop(item.identity, None) is not None:
            self.renewed.emit(item.identity)
            self._work_soon()

    def catch_up(self) -> None:
        """Does at once all that would be done in the next turns."""
        while self._open_next():
            pass
        for identity in [i for i in self._wanted if i in self._live and i != self._kept]:
            if self._live[identity].dirty:
                self._take(identity, self._live[identity])

    def forget(self, identity: str) -> None:
        """The item is gone from the desktop."""
        self._wanted.pop(identity, None)
        self._pictures.pop(identity, None)
        self._names.pop(identity, None)
        self._problems.pop(identity, None)
        self._close(identity)

    def close(self) -> None:
        self._turn.stop()
        self._wanted.clear()
        self._inside.theme.changed.disconnect(self._on_theme)
        for identity in list(self._live):
            self._close(identity)

    # Work, a little in each turn of the loop

    def _work_soon(self) -> None:
        if not self._held and not self._turn.isActive():
            self._turn.start(_TURN_MS)

    def _on_turn(self) -> None:
        if self._open_next():
            self._work_soon()
            return
        now_s = self._clock()
        dirty = [
            (identity, live)
            for identity, live in self._live.items()
            if live.dirty and identity in self._wanted and identity != self._kept
        ]
        ready = [pair for pair in dirty if now_s - pair[1].pictured_s >= _PICTURE_S]
        if ready:
            self._take(*ready[0])
        if len(dirty) > len(ready):
            self._turn.start(round(_PICTURE_S * 1000))
        if len(ready) > 1:
            self._turn.start(_TURN_MS)

    def _open_next(self) -> bool:
        for identity, item in self._wanted.items():
            if identity not in self._live and identity not in self._problems:
                self._open(item)
                return True
        return False

    def _open(self, item: Item) -> Live | None:
        content = self._contents.of(item)
        if content.reference is None or content.problem:
            self._fail(item, content.problem)
            return None
        self._make_room()
        try:
            opening = self._inside.open(content.reference)
        except Problem as problem:
            self._fail(item, str(problem))
            return None
        try:
            view = self._inside.view(opening)
        except Problem as problem:
            opening.close()
            self._fail(item, str(problem))
            return None
        except Exception:
            # A kind that fails must not take the desktop with it.
            log.exception("the view of %s failed", content.name)
            opening.close()
            self._fail(item, tr("Its view has failed. What it holds is safe."))
            return None
        return self._keep(item, opening, view)

    def _keep(self, item: Item, opening: Opening, view: ObjectView) -> Live:
        identity = item.identity
        view.setParent(self._place)
        view.hide()
        live = Live(item, opening, view, [], seen_s=self._clock())
        shared = opening.shared
        live.subscriptions += [
            shared.document.observe(lambda _: self.look_again(identity)),
            shared.presence.observe(lambda _: self.look_again(identity)),
            shared.observe(lambda _: self._learn_name(identity)),
            opening.when_failed(lambda problem: self._on_failed(identity, problem)),
        ]
        view.changed.connect(lambda: self.look_again(identity))
        self._live[identity] = live
        self._learn_name(identity)
        self._work_soon()
        return live

    def _learn_name(self, identity: str) -> None:
        live = self._live.get(identity)
        if live is not None and self._names.get(identity) != live.opening.title:
            self._names[identity] = live.opening.title
            self.renewed.emit(identity)

    def _take(self, identity: str, live: Live) -> None:
        """Takes a picture of a view as it is now."""
        live.dirty = False
        live.pictured_s = self._clock()
        size = self._size_of(identity)
        if size is None or size.isEmpty():
            return
        if live.view.size() != size:
            live.view.resize(size)
        live.view.show_newest()
        # Of a very large one a coarser picture must do.
        live.scale = self._scale()
        scale = min(live.scale, math.sqrt(_PICTURE_PIXELS_MAX / (size.width() * size.height())))
        picture = QPixmap((size * scale).expandedTo(QSize(1, 1)))
        picture.setDevicePixelRatio(scale)
        picture.fill(Qt.GlobalColor.transparent)
        live.view.render(picture, QPoint())
        self._pictures[identity] = picture
        self._pictures.move_to_end(identity)
        while len(self._pictures) > PICTURES_MAX:
            self._pictures.popitem(last=False)
        self.renewed.emit(identity)

    def _make_room(self) -> None:
        while len(self._live) >= LIVE_MAX:
            others = [
                (live.seen_s, identity)
                for identity, live in self._live.items()
                if identity not in self._wanted and identity != self._kept
            ]
            if not others:
                return
            self._close(min(others)[1])

    def _fail(self, item: Item, problem: str) -> None:
        self._problems[item.identity] = (item, problem)
        self._wanted.pop(item.identity, None)
        self.renewed.emit(item.identity)

    def _on_failed(self, identity: str, problem: str) -> None:
        live = self._live.get(identity)
        if live is not None:
            # Not in the middle of what the object is doing.
            QTimer.singleShot(0, self, lambda: self._close_failed(identity, live, problem))

    def _close_failed(self, identity: str, live: Live, problem: str) -> None:
        if self._live.get(identity) is live:
            self._close(identity)
            self._fail(live.item, problem or tr("It has stopped."))

    def _close(self, identity: str) -> None:
        live = self._live.pop(identity, None)
        if live is None:
            return
        if self._kept == identity:
            self._kept = None
        for subscription in live.subscriptions:
            subscription.close()
        live.view.close_view()
        live.view.hide()
        live.view.deleteLater()
        live.opening.close()

    def _on_theme(self) -> None:
        self._pictures.clear()
        for live in self._live.values():
            live.dirty = True
        self._work_soon()
