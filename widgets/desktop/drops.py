"""Decides what a drop on a desktop does, and does it: by what is dragged, and by its type.

A desktop takes what has a view that can lie on it (thesis 2.1.6); everything else is refused with
the reason, while it is still in the air. Alt makes a copy, Ctrl a link.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QMimeData

from liveobj.declare import DECLARATIONS
from liveobj.errors import Problem
from liveobj.objects.desktop import Desktop, Placing
from liveobj.objects.desktop_items import Form, Frame
from liveobj.objects.desktop_object import title_in
from liveobj.references import Reference, write_reference
from liveobj.references.checking import check
from widgets import drag
from widgets.desktop.makings import TEXT_CHARACTERS_MAX, copy_of, note_of
from widgets.language import tr, tr_n
from widgets.nesting import Nested
from widgets.object_kind import ObjectKind

OBJECT_SIZE = (320.0, 240.0)
LINK_SIZE = (260.0, 64.0)
_STEP = 32.0


class Deed(Enum):
    """What a drop does."""

    EMBED = "embed"
    COPY = "copy"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Parcel:
    """What is in the air, read once: references, or a tool of the toolbox, or text."""

    references: tuple[Reference, ...] = ()
    kind: ObjectKind | None = None
    text: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What would happen, in words; `allowed` False if nothing would. `size` is that of the first
    thing to be placed."""

    words: str
    allowed: bool
    deed: Deed = Deed.EMBED
    size: tuple[float, float] = OBJECT_SIZE


class Drops:
    """Plans and does; `inside` is what objects on this desktop are given."""

    def __init__(self, inside: Nested, desktop: Desktop) -> None:
        self._inside = inside
        self._desktop = desktop

    def read(self, mime: QMimeData) -> Parcel:
        """Looks at what is dragged; never raises, whatever it is."""
        word = drag.kind_in(mime)
        if word is not None:
            kind = next((kind for kind in self._inside.kinds if kind.word == word), None)
            return Parcel(kind=kind, problem="" if kind else tr("This tool is not known here."))
        dragged = drag.read_drag(mime)
        if dragged.references:
            return Parcel(references=dragged.references)
        if dragged.problems:
            return Parcel(problem=dragged.problems[0])
        if any(url.isLocalFile() for url in mime.urls()):
            return Parcel(problem=tr("Live objects and text can be put here, not this file."))
        text = mime.text() if mime.hasText() else ""
        if text.strip():
            return Parcel(text=text[:TEXT_CHARACTERS_MAX])
        return Parcel(problem=tr("There is nothing in it that could be put here."))

    def plan(self, parcel: Parcel, *, alt: bool = False, ctrl: bool = False) -> Plan:
        """What dropping it now would do."""
        if not self._desktop.document.editable:
            return Plan(tr("You can look at this desktop, but not change it."), False)
        if parcel.problem:
            return Plan(parcel.problem, False)
        if parcel.kind is not None:
            return Plan(tr("Make a new {kind} here", kind=parcel.kind.title.lower()), True)
        if parcel.text:
            return Plan(tr("Make a note of this text here"), True)
        deed = Deed.COPY if alt else Deed.LINK if ctrl else Deed.EMBED
        for reference in parcel.references:
            reason = self.why_not(reference, deed)
            if reason:
                return Plan(reason, False, deed)
        size = LINK_SIZE if deed is Deed.LINK else OBJECT_SIZE
        return Plan(_words(parcel.references, deed), True, deed, size)

    def why_not(self, reference: Reference, deed: Deed) -> str:
        """Why an object cannot be put here in that way; empty if it can."""
        if deed is Deed.LINK:
            return ""
        problems = check(reference, DECLARATIONS).problems
        if problems:
            return tr("It cannot run here. {reason}", reason=problems[0].sentence)
        if self._inside.kinds.of(reference) is None:
            return tr("It has no view that could lie on a desktop. Ctrl puts a link to it here.")
        return self._inside.why_not_inside(reference) if deed is Deed.EMBED else ""

    def do(self, parcel: Parcel, plan: Plan, x: float, y: float) -> list[str]:
        """Does what was planned, with the upper left corner there; returns what was placed."""
        if not plan.allowed:
            return []
        try:
            references = self._references(parcel, plan)
            form = Form.LINK if plan.deed is Deed.LINK else Form.OBJECT
            return self._desktop.place_all(
                Placing(
                    write_reference(reference),
                    Frame(x + number * _STEP, y + number * _STEP, *plan.size),
                    form,
                )
                for number, reference in enumerate(references)
            )
        except Problem as problem:
            self._inside.say(str(problem))
            return []

    def _references(self, parcel: Parcel, plan: Plan) -> list[Reference]:
        if parcel.kind is not None:
            return [self._inside.make(parcel.kind)]
        if parcel.text:
            return [note_of(self._inside, parcel.text)]
        if plan.deed is Deed.COPY:
            return [copy_of(self._inside, reference) for reference in parcel.references]
        return list(parcel.references)


def _words(references: Iterable[Reference], deed: Deed) -> str:
    every = list(references)
    if len(every) > 1:
        return tr_n("Put {count} object here", "Put {count} objects here", len(every))
    name = title_in(every[0])[:60] or tr("this object")
    match deed:
        case Deed.COPY:
            return tr("Put a copy of “{name}” here", name=name)
        case Deed.LINK:
            return tr("Put a link to “{name}” here", name=name)
        case Deed.EMBED:
            return tr("Put “{name}” here. Alt: a copy, Ctrl: a link", name=name)
