"""What the items of a desktop refer to: read when first looked at, and kept.

A reference may have been written by anybody or by a later version: what cannot be read or shown
gets a sentence that says why, and stays in the document as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from liveobj.objects.desktop_items import Item
from liveobj.objects.desktop_object import name_of
from liveobj.references import Reference, ReferenceProblem, read_reference
from widgets.language import tr
from widgets.nesting import Nested
from widgets.object_kind import ObjectKind


@dataclass(frozen=True, slots=True)
class Content:
    """`name` is what it is called while it is not open; `problem` says why it cannot be shown, and
    is empty if it can."""

    reference: Reference | None
    kind: ObjectKind | None
    name: str
    problem: str = ""


class Contents:
    """The contents by item. `inside` tells what can be shown on this desktop."""

    def __init__(self, inside: Nested) -> None:
        self._inside = inside
        self._known: dict[str, tuple[Item, Content]] = {}

    def known(self, item: Item) -> Content | None:
        """What has been read already."""
        found = self._known.get(item.identity)
        if found is None or found[0].reference != item.reference or found[0].title != item.title:
            return None
        return found[1]

    def of(self, item: Item) -> Content:
        known = self.known(item)
        if known is None:
            known = self._read(item)
            self._known[item.identity] = (item, known)
        return known

    def forget(self, identity: str) -> None:
        self._known.pop(identity, None)

    def _read(self, item: Item) -> Content:
        try:
            reference = read_reference(item.reference)
        except ReferenceProblem as problem:
            name = item.title or tr("Something that cannot be read")
            return Content(None, None, name, str(problem))
        kind = self._inside.kinds.of(reference)
        name = name_of(item, reference)
        if kind is None:
            why = tr("This version cannot show it. It stays here as it is.")
            return Content(reference, None, name or tr("An object of another kind"), why)
        return Content(reference, kind, name or kind.title, self._inside.why_not_inside(reference))
