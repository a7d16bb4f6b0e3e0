"""What tests of the desktop share: people at one desktop, on a network in memory, with a mouse."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from liveobj.objects.desktop import Desktop
from liveobj.objects.desktop_items import Frame, Item
from liveobj.objects.text_note import new_note
from tests.app.conftest import MakePlace, Place, hub, make_place
from tests.app.memory_network import MemoryHub
from widgets.desktop import motion
from widgets.desktop.camera import Camera
from widgets.desktop.canvas import Canvas
from widgets.desktop.desktop_view import DesktopView
from widgets.desktop.makings import note_of
from widgets.desktop.stage import Stage
from widgets.kinds import KINDS

__all__ = ["hub", "make_place"]

LEFT = Qt.MouseButton.LeftButton
NO_KEYS = Qt.KeyboardModifier.NoModifier


@dataclass
class Person:
    """Somebody at a desktop."""

    place: Place
    view: DesktopView
    hub: MemoryHub

    @property
    def canvas(self) -> Canvas:
        return self.view.canvas

    @property
    def stage(self) -> Stage:
        return self.view.stage

    @property
    def desktop(self) -> Desktop:
        return self.view.stage.desktop

    def put(self, title: str, x: float, y: float, w: float = 240, h: float = 160) -> str:
        """An empty note, which is not opened for that."""
        reference = new_note(title, random.Random(title).randbytes)
        return self.desktop.place(reference, Frame(x, y, w, h))

    def put_note(self, text: str, x: float, y: float, w: float = 240, h: float = 160) -> str:
        """A note with a text, placed at once."""
        return self.desktop.place(note_of(self.view.around, text), Frame(x, y, w, h))

    def item(self, identity: str) -> Item:
        return self.desktop.items[identity]

    def at(self, x: float, y: float) -> QPoint:
        """A place of the plane in the window."""
        return QPointF(*self.stage.camera.to_window(x, y)).toPoint()

    def click(self, x: float, y: float, keys: Qt.KeyboardModifier = NO_KEYS) -> None:
        QTest.mouseClick(self.canvas, LEFT, keys, self.at(x, y))

    def double_click(self, x: float, y: float) -> None:
        QTest.mouseDClick(self.canvas, LEFT, NO_KEYS, self.at(x, y))

    def drag(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        keys: Qt.KeyboardModifier = NO_KEYS,
        *,
        release: bool = True,
        button: Qt.MouseButton = LEFT,
    ) -> None:
        """Presses, moves in small steps as a hand does, and lets go."""
        QTest.mousePress(self.canvas, button, keys, self.at(*start))
        for step in range(1, 6):
            x = start[0] + (end[0] - start[0]) * step / 5
            y = start[1] + (end[1] - start[1]) * step / 5
            move_mouse(self.canvas, self.at(x, y), button, keys)
        if release:
            QTest.mouseRelease(self.canvas, button, keys, self.at(*end))

    def wheel(self, x: float, y: float, dy: int, keys: Qt.KeyboardModifier = NO_KEYS) -> None:
        at = QPointF(self.at(x, y))
        event = QWheelEvent(
            at,
            QPointF(self.canvas.mapToGlobal(at.toPoint())),
            QPoint(),
            QPoint(0, dy),
            Qt.MouseButton.NoButton,
            keys,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(self.canvas, event)

    def key(self, key: Qt.Key, keys: Qt.KeyboardModifier = NO_KEYS) -> None:
        QTest.keyClick(QApplication.focusWidget() or self.canvas, key, keys)

    def settle(self) -> None:
        """What would happen in the next moments has happened: here, and at the others."""
        self.company_says()
        self.hub.run()
        self.view.show_newest()

    def company_says(self) -> None:
        self.view.company.flush()


def move_mouse(
    widget: QWidget, at: QPoint, button: Qt.MouseButton, keys: Qt.KeyboardModifier = NO_KEYS
) -> None:
    """Moves with a button held, which QTest cannot."""
    event = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(at),
        QPointF(widget.mapToGlobal(at)),
        Qt.MouseButton.NoButton,
        button,
        keys,
    )
    QApplication.sendEvent(widget, event)


@pytest.fixture(autouse=True)
def no_motion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Things are at once where they belong; tests of motion switch it on."""
    monkeypatch.setattr(motion, "motion_wanted", lambda: False)
    monkeypatch.setattr("widgets.desktop.stage.motion_wanted", lambda: False)


@pytest.fixture
def ada(make_place: MakePlace, hub: MemoryHub) -> Person:
    """Ada, alone at an empty desktop, in a window of 1200 by 800."""
    place = make_place("Ada")
    place.window.resize(1200, 800)
    place.desk.new_object(KINDS["desktop"])
    return _person(place, hub)


@pytest.fixture
def join(make_place: MakePlace, hub: MemoryHub, ada: Person) -> Callable[[str], Person]:
    """Somebody else opens Ada's desktop."""

    def enter(name: str) -> Person:
        place = make_place(name)
        place.window.resize(1200, 800)
        front = ada.place.window.front
        assert front is not None
        place.desk.open_file(front.file)
        person = _person(place, hub)
        hub.run()
        person.stage.look(Camera())
        return person

    return enter


def _person(place: Place, hub: MemoryHub) -> Person:
    front = place.window.front
    assert front is not None
    view = front.view
    assert isinstance(view, DesktopView)
    view.stage.look(Camera())
    view.canvas.setFocus()
    return Person(place, view, hub)
