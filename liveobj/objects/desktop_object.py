"""Owns the desktop as a live object: its template, and the proxy that joins it to its endpoints."""

from __future__ import annotations

from collections.abc import Iterator

from liveobj.declare import endpoint_type, incoming, live_object, outgoing
from liveobj.objects.desktop import TEMPLATE_ID, Desktop, ItemsChange, open_desktop
from liveobj.objects.desktop_items import Frame, Item
from liveobj.objects.document_object import DocumentProxy
from liveobj.objects.standard_types import FolderEndpoint, FolderType
from liveobj.observers import Subscription
from liveobj.references import (
    Parameterized,
    Reference,
    ReferenceProblem,
    Value,
    read_reference,
)


@endpoint_type("live-objects:desktop-endpoint", provides="state channel; edited by its editors")
class DesktopEndpoint:
    """For those who put things on a desktop without showing it."""

    @incoming
    def place(self, reference: Reference, x: float, y: float, width: float, height: float) -> None:
        """Puts an object on the desktop, above all others."""

    @outgoing
    def names(self, names: list[str]) -> None:
        """What lies there, lowest first, after it has changed and once when connected."""


@live_object(TEMPLATE_ID, title="Desktop", is_a=(FolderType,))
class DesktopObject(DocumentProxy):
    """A plane on which several people arrange live objects. It answers as a folder does: what lies
    there can be asked for by its name."""

    folder: FolderEndpoint
    desktop: DesktopEndpoint

    _template_id = TEMPLATE_ID
    _kind = "desktop"
    _heard = False

    def open_shared(self) -> Desktop:
        return open_desktop(self.context.reference, self.context.host)

    @property
    def plane(self) -> Desktop:
        """What the window of a desktop shows."""
        plane: Desktop = self.shared
        return plane

    def watch(self) -> list[Subscription]:
        return [self.plane.observe_items(self._tell)]

    def on_desktop_connected(self) -> None:
        self._heard = True
        self.desktop.names([name for name, _ in self._named()])

    def on_desktop_disconnected(self) -> None:
        self._heard = False

    def on_desktop_place(
        self, reference: Reference, x: float, y: float, width: float, height: float
    ) -> None:
        def place() -> None:
            self.plane.place(reference, Frame(x, y, width, height))

        self.edit(place)

    def on_folder_get(self, name: str) -> None:
        for found, reference in self._named():
            if found == name:
                self.folder.item(name, reference)
                return
        self.folder.missing(name)

    def _tell(self, _change: ItemsChange) -> None:
        if self._heard:
            self.desktop.names([name for name, _ in self._named()])

    def _named(self) -> Iterator[tuple[str, Reference]]:
        for item in self.plane.in_order():
            try:
                reference = read_reference(item.reference)
            except ReferenceProblem:
                continue  # of a version that is not known here; it stays where it is
            yield name_of(item, reference), reference


def name_of(item: Item, reference: Reference | None) -> str:
    """What an item is called while its object is not open: the name it was given here, or that of
    its reference."""
    return item.title or title_in(reference)


def title_in(reference: Reference | None) -> str:
    """The title that a reference gives to its object, or nothing."""
    if not isinstance(reference, Parameterized):
        return ""
    title = reference.arguments.get("title")
    return title.data if isinstance(title, Value) and isinstance(title.data, str) else ""
