"""The view of a desktop: the canvas with its bars, panel and people, put together."""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QDrag, QHideEvent, QKeyEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from liveobj.objects.desktop import TEMPLATE_ID, Desktop, names_given
from liveobj.objects.desktop_items import Item
from liveobj.opening import Opening
from liveobj.storage import StorageError
from widgets import drag
from widgets.action import Action
from widgets.desktop.camera import ZOOM_MAX, ZOOM_MIN, Camera
from widgets.desktop.canvas import Canvas
from widgets.desktop.commands import ITEM_MENU, Commands
from widgets.desktop.company import Company
from widgets.desktop.describing import describe
from widgets.desktop.drop_target import DropTarget
from widgets.desktop.drops import Drops
from widgets.desktop.furniture import Furniture
from widgets.desktop.intents import Intents
from widgets.desktop.name_field import NameField
from widgets.desktop.outline import Outline
from widgets.desktop.stage import Stage
from widgets.icons import picture
from widgets.language import tr, tr_n
from widgets.nesting import Nested
from widgets.object_kind import ObjectKind
from widgets.object_view import ObjectView, Surroundings
from widgets.throttle import QtAlarm, Throttle

_CAMERA = "camera"
_SPOKEN_MAX = 5


class DesktopView(ObjectView):
    """Attributes: `stage`, `canvas`, `outline`, `company`, `intents`, `target` (of drops),
    `commands`."""

    def __init__(
        self,
        around: Surroundings,
        opening: Opening,
        parent: QWidget | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(around, opening, parent)
        desktop = opening.shared
        assert isinstance(desktop, Desktop), "the kind says what is opened"
        inside = Nested(around, opening.identity)
        self._nested = len(inside.chain) > 1
        self.stage = Stage(desktop, clock, self)
        self.canvas = Canvas(inside, self.stage, clock)
        drops = Drops(inside, desktop)
        self.intents = Intents(inside, self.canvas, drops)
        self.target = DropTarget(self.canvas, drops, self.intents.choose)
        self.company = Company(self.canvas, clock)
        live = self.canvas.live
        self.outline = Outline(around.theme, self.stage, live.name, around.say)
        self.commands = Commands(self)
        self._furniture = Furniture(around.theme, self.canvas, self.commands, self.company)
        self._looked = False
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.canvas, 1)
        row.addWidget(self.outline)
        self.setFocusProxy(self.canvas)
        self._frame = Throttle(self._update, QtAlarm(self), clock=clock)
        self._connect()

    def _connect(self) -> None:
        canvas, stage, request = self.canvas, self.stage, self._frame.request
        canvas.opened.connect(self.intents.open_item)
        canvas.menu_asked.connect(self._show_menu)
        canvas.pulled.connect(self._drag_out)
        canvas.copied.connect(self.intents.copies)
        canvas.linked.connect(self.intents.links)
        canvas.inside.changed.connect(request)
        canvas.live.renewed.connect(lambda _: request())
        self.company.changed.connect(request)
        self.outline.activated.connect(self._enter)
        self.outline.delete_asked.connect(self.intents.delete)
        self.outline.left.connect(canvas.setFocus)
        stage.items_changed.connect(request)
        stage.selection_changed.connect(request)
        stage.selection_changed.connect(self._tell_selection)

    def _update(self) -> None:
        """Once per frame: what floats, and what the window around shows."""
        self._furniture.refresh()
        self.changed.emit()

    def _tell_selection(self) -> None:
        """For those who hear the screen: what is chosen."""
        chosen = self.stage.chosen
        names = ", ".join(self.canvas.live.name(item) for item in chosen[:_SPOKEN_MAX])
        count = len(chosen)
        words = tr_n("Selected: {names}", "{count} selected: {names}", count, names=names)
        self.canvas.setAccessibleDescription(words if chosen else tr("Nothing is selected"))

    # Editing

    @property
    def can_undo(self) -> bool:
        inner = self.canvas.inside.view
        return super().can_undo if inner is None else inner.can_undo

    @property
    def can_redo(self) -> bool:
        inner = self.canvas.inside.view
        return super().can_redo if inner is None else inner.can_redo

    def undo_edit(self) -> None:
        inner = self.canvas.inside.view
        if inner is None:
            super().undo_edit()
        else:
            inner.undo_edit()

    def redo_edit(self) -> None:
        inner = self.canvas.inside.view
        if inner is None:
            super().redo_edit()
        else:
            inner.redo_edit()

    def place_new(self, kind: ObjectKind) -> bool:
        """Makes an object of that kind in the middle of what is in sight."""
        return bool(self.intents.place_new(kind))

    def rename_chosen(self) -> None:
        """Opens a field over the strip of the one item that is chosen."""
        chosen = self.stage.chosen
        if len(chosen) != 1:
            return
        identity, name = chosen[0].identity, self.canvas.live.name(chosen[0])
        field = NameField(
            self.canvas, self.stage, identity, name, lambda t: self.intents.rename(identity, t)
        )
        field.closed.connect(self.canvas.setFocus)

    def _enter(self, identity: str) -> None:
        item = self.stage.desktop.items.get(identity)
        if item is not None:
            self.canvas.inside.enter(item)

    # Looking

    def zoom(self, factor: float) -> None:
        self.company.stop()
        self.stage.zoom(factor)

    def show_all(self) -> None:
        self.company.stop()
        self.stage.fit()

    def show_person(self, node: int) -> None:
        self.company.show_person(node)

    def toggle_others(self) -> None:
        self.canvas.show_others = not self.canvas.show_others
        self.canvas.update()
        self._frame.request()

    def toggle_outline(self) -> None:
        if self.outline.isVisible():
            self.outline.hide()
            self.canvas.setFocus()
        else:
            self.outline.open_outline()
        self._frame.request()

    def _look_first(self) -> None:
        """Where one was last time, or at everything that there is; a picture of a desktop that is
        not open shows everything."""
        if self._looked or self.canvas.width() < 2:
            return
        if not self.isVisible():
            self.stage.look_at_all()
            return
        self._looked = True
        kept = None if self._nested else _read_camera(self.opening.shared.local(_CAMERA))
        if kept is not None:
            self.stage.look(kept)
        elif self.stage.desktop.items:
            self.stage.look_at_all()

    def _keep_camera(self) -> None:
        if self._looked and not self._nested:
            camera = self.stage.settled_camera
            words = json.dumps([camera.x, camera.y, camera.zoom])
            # The disk may be full; then one begins elsewhere next time.
            with contextlib.suppress(StorageError):
                self.opening.shared.set_local(_CAMERA, words.encode())

    # Menus and drags

    def _show_menu(self, item: Item | None, place: QPoint) -> None:
        if item is not None and item.identity not in self.stage.selection:
            self.stage.select([item.identity])
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for group in ITEM_MENU if item is not None else self._ground_menu():
            for identity in group:
                action = self.commands[identity]
                entry = menu.addAction(action.title, action.run)
                entry.setShortcut(QKeySequence(action.shortcut))
                entry.setEnabled(not action.why_not())
            menu.addSeparator()
        menu.popup(place)

    def _ground_menu(self) -> list[list[str]]:
        place = [f"desktop.place.{kind.word}" for kind in self.around.kinds]
        return [place, ["desktop.paste", "desktop.select_all"], ["desktop.fit", "desktop.outline"]]

    def _drag_out(self, item: Item) -> None:
        """Carries an object away by its icon: to another window, a file manager, a mail."""
        content = self.canvas.contents.of(item)
        if content.reference is None:
            self.around.say(content.problem)
            return
        name = "object" if content.kind is None else content.kind.picture
        pulled = QDrag(self)
        pulled.setMimeData(drag.mime_of(content.reference, self.canvas.live.name(item)))
        ratio = self.devicePixelRatioF()
        pulled.setPixmap(picture(self.around.theme, name, QSize(40, 40), ratio))
        actions = Qt.DropAction.CopyAction | Qt.DropAction.MoveAction | Qt.DropAction.LinkAction
        pulled.exec(actions, Qt.DropAction.CopyAction)

    # For whoever shows the view

    def actions_here(self) -> Sequence[Action]:
        inner = self.canvas.inside.view
        if inner is not None:
            return inner.actions_here()
        return self.commands.all(self.company.others)

    def show_newest(self) -> None:
        self._look_first()
        self.canvas.settle()
        self.canvas.live.catch_up()
        self._frame.request()
        self._frame.flush()

    def describe(self) -> dict[str, Any]:
        return describe(self)

    def close_view(self) -> None:
        self._keep_camera()
        self._frame.close()
        self.outline.close_outline()
        self.company.close()
        self.canvas.close_plane()
        self.stage.close()

    # Qt

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The shortcuts of actions, where no window has made them its own."""
        pressed = QKeySequence(event.keyCombination())
        for action in self.actions_here():
            if action.shortcut and QKeySequence(action.shortcut) == pressed:
                if not action.why_not():
                    action.run()
                return
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        layout = self.layout()
        assert layout is not None, "made with the view"
        layout.activate()
        self._look_first()
        self._frame.request()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look_first()
        self.company.set_here(True)
        self._furniture.show_tools(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.company.set_here(False)
        self._furniture.show_tools(not self._nested)
        self._keep_camera()


def _read_camera(kept: bytes | None) -> Camera | None:
    """What was kept; None for what is no camera."""
    try:
        x, y, zoom = json.loads(kept or b"null")
        camera = Camera(float(x), float(y), float(zoom))
    except (TypeError, ValueError):
        return None
    sane = all(map(math.isfinite, (camera.x, camera.y))) and ZOOM_MIN <= camera.zoom <= ZOOM_MAX
    return camera if sane else None


KIND = ObjectKind(
    TEMPLATE_ID,
    title=tr("Desktop"),
    sentence=tr("A place on which people lay out objects together"),
    icon="layout-dashboard",
    view=DesktopView,
    text=names_given,
)
