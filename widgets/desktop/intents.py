"""What a person wants done with what is chosen on a desktop: copy, paste, place, line up, open.

Whatever cannot be done is said, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication

from liveobj.errors import Problem
from liveobj.objects.desktop import Placing
from liveobj.objects.desktop_items import Form, Frame, Item
from liveobj.references import Reference, write_reference
from widgets import drag
from widgets.desktop.arranging import Axis, Edge, aligned, distributed
from widgets.desktop.canvas import Canvas
from widgets.desktop.drops import LINK_SIZE, OBJECT_SIZE, Drops, Parcel
from widgets.desktop.makings import copy_of
from widgets.nesting import Nested
from widgets.object_kind import ObjectKind

_BESIDE = 24.0


class Intents:
    """Carries out; `inside` is what objects on this desktop are given."""

    def __init__(self, inside: Nested, canvas: Canvas, drops: Drops) -> None:
        self._inside = inside
        self._canvas = canvas
        self._stage = canvas.stage
        self._desktop = canvas.stage.desktop
        self._drops = drops

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Says what went wrong in the body, and goes on."""
        try:
            yield
        except Problem as problem:
            self._inside.say(str(problem))

    def _reference(self, item: Item) -> Reference | None:
        return self._canvas.contents.of(item).reference

    # Arranging

    def align(self, edge: Edge) -> None:
        with self._telling():
            frames = aligned(self._stage.units(self._stage.selection), edge)
            self._desktop.arrange(frames, "align")

    def distribute(self, axis: Axis) -> None:
        with self._telling():
            frames = distributed(self._stage.units(self._stage.selection), axis)
            self._desktop.arrange(frames, "distribute")

    def delete(self) -> None:
        """Takes what is chosen off the desktop."""
        with self._telling():
            self._desktop.delete(self._stage.selection)

    def rename(self, identity: str, title: str) -> None:
        with self._telling():
            self._desktop.entitle(identity, title)

    # Placing

    def place_new(self, kind: ObjectKind) -> list[str]:
        """Makes an object and puts it in the middle of the window, beside what lies there."""
        x, y = self._free_place(*OBJECT_SIZE)
        return self.put(Parcel(kind=kind), x, y)

    def put(self, parcel: Parcel, x: float, y: float) -> list[str]:
        """Puts down what is in a parcel, as a drop would, and chooses it."""
        plan = self._drops.plan(parcel)
        if not plan.allowed:
            self._inside.say(plan.words)
            return []
        placed = self._drops.do(parcel, plan, x, y)
        self.choose(placed)
        return placed

    def choose(self, placed: list[str]) -> None:
        """What was just put down is chosen, and has the keyboard."""
        if placed:
            self._stage.select(placed)
            self._canvas.setFocus()

    def _free_place(self, width: float, height: float) -> tuple[float, float]:
        """In the middle of what is in sight, a little aside where something begins already."""
        seen = self._stage.seen
        x = seen.x + (seen.width - width) / 2
        y = seen.y + (seen.height - height) / 2
        corners = {(round(i.frame.x), round(i.frame.y)) for i in self._stage.items_in(seen)}
        while (round(x), round(y)) in corners:
            x, y = x + _BESIDE, y + _BESIDE
        return x, y

    def copies(self, frames: Mapping[str, Frame]) -> None:
        """Puts copies of objects there: new objects that go their own way."""
        placings: list[Placing] = []
        with self._telling():
            for item, frame in self._framed(frames):
                reference = self._reference(item)
                if item.form is Form.LINK or reference is None:
                    placings.append(Placing(item.reference, frame, item.form, item.title))
                else:
                    copy = write_reference(copy_of(self._inside, reference))
                    placings.append(Placing(copy, frame, item.form))
        with self._telling():
            self.choose(self._desktop.place_all(placings) if placings else [])

    def links(self, frames: Mapping[str, Frame]) -> None:
        """Puts cards there that lead to objects."""
        with self._telling():
            placings = [
                Placing(item.reference, Frame(frame.x, frame.y, *LINK_SIZE), Form.LINK, item.title)
                for item, frame in self._framed(frames)
            ]
            self.choose(self._desktop.place_all(placings))

    def duplicate(self) -> None:
        chosen = self._stage.chosen
        self.copies({item.identity: item.frame.moved(_BESIDE, _BESIDE) for item in chosen})

    def _framed(self, frames: Mapping[str, Frame]) -> list[tuple[Item, Frame]]:
        """Items with frames, lowest first; those that are gone are left out."""
        items = self._desktop.items
        known = [
            (items[identity], frame) for identity, frame in frames.items() if identity in items
        ]
        return sorted(known, key=lambda pair: pair[0].rank)

    # Carrying away

    def mime_of_chosen(self) -> QMimeData | None:
        """What is chosen, to be carried to another window or program; None for nothing."""
        live = self._canvas.live
        objects = [
            (reference, live.name(item))
            for item in self._stage.chosen
            if (reference := self._reference(item)) is not None
        ]
        return drag.mime_of_all(objects) if objects else None

    def copy(self) -> bool:
        """To the clipboard."""
        mime = self.mime_of_chosen()
        if mime is None:
            return False
        QGuiApplication.clipboard().setMimeData(mime)
        return True

    def cut(self) -> None:
        if self.copy():
            self.delete()

    def paste(self) -> None:
        parcel = self._drops.read(QGuiApplication.clipboard().mimeData())
        self.put(parcel, *self._free_place(*OBJECT_SIZE))

    def open(self) -> None:
        """Each chosen object in a tab of its own."""
        for item in self._stage.chosen:
            self.open_item(item)

    def open_item(self, item: Item) -> None:
        content = self._canvas.contents.of(item)
        if content.reference is None:
            self._inside.say(content.problem)
        else:
            self._inside.show(content.reference)

    def retry(self) -> None:
        """Tries to show again what could not be shown."""
        for item in self._stage.chosen:
            self._canvas.live.try_again(item)
        self._canvas.settle()
