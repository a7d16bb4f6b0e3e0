"""Two people who have one object open, for tests of views."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget

from liveobj.capabilities import view_only
from liveobj.references import Reference, write_reference_file
from tests.app.conftest import MakePlace, Place
from tests.app.memory_network import MemoryHub


class Pair:
    """Ada has made an object of a kind, and Jun has opened it."""

    def __init__(self, make_place: MakePlace, hub: MemoryHub, word: str) -> None:
        self.hub = hub
        self.ada, self.jun = make_place("Ada"), make_place("Jun")
        self.ada.run(f"{word}.new")
        page = self.ada.window.front
        assert page is not None
        assert self.jun.desk.open_file(page.opened.file)
        self.settle()

    def settle(self) -> None:
        """Until both have everything, and show it."""
        self.hub.run()
        for place in (self.ada, self.jun):
            view_of(place).show_newest()

    @property
    def views(self) -> tuple[Any, Any]:
        return view_of(self.ada), view_of(self.jun)


def show_view_only(place: Place, reference: Reference) -> None:
    """Opens the can-view form of an object, from a file that the place trusts."""
    file = place.paths.references / "view only.liveobject"
    write_reference_file(view_only(reference), file)
    assert place.desk.open_file(file)


def view_of(place: Place) -> Any:
    """The view in front."""
    front = place.window.front
    assert front is not None
    return front.view


def drop_on(view: QWidget, mime: QMimeData) -> None:
    """Drags something over a view and lets it go if it may be, as Qt would."""
    button, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(20, 90), Qt.DropAction.CopyAction, mime, button, keys)
    QApplication.sendEvent(view, enter)
    if enter.isAccepted():
        event = QDropEvent(QPointF(20, 90), Qt.DropAction.CopyAction, mime, button, keys)
        QApplication.sendEvent(view, event)
