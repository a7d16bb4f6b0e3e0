"""Decides what a drop on a desktop does, and does it: by what is dragged, and by its type.

A desktop takes what has a view that can lie on it (thesis 2.1.6); everything else is refused with
the reason, while it is still in the air. Alt makes a copy, Ctrl a link.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from PySide6.QtCore import QMimeData

from liveobj.declare import DECLARATIONS
from liveobj.errors import Problem
from liveobj.objects.desktop import Desktop, Placing
from liveobj.objects.desktop_items import Form, Frame
from liveobj.objects.desktop_object import title_in
from liveobj.references import Reference, write_reference
from liveobj.references.checking import check
from widgets import drag
from widgets.desktop.frame_parts import content_of
from widgets.desktop.makings import (
    PICTURE_ENDINGS,
    TEXT_CHARACTERS_MAX,
    PictureSource,
    copy_of,
    image_of,
    note_of,
)
from widgets.language import tr, tr_n
from widgets.nesting import Nested
from widgets.object_kind import ObjectKind

OBJECT_SIZE = (320.0, 240.0)
LINK_SIZE = (260.0, 64.0)
_STEP = 32.0
_PICTURE_MIMES = ("image/png", "image/jpeg", "image/webp", "image/gif", "image/svg+xml")


class Deed(Enum):
    """What a drop does."""

    EMBED = "embed"
    COPY = "copy"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Parcel:
    """What is in the air, read once: references, or a tool of the toolbox, or pictures, or
    text."""

    references: tuple[Reference, ...] = ()
    kind: ObjectKind | None = None
    pictures: tuple[PictureSource, ...] = ()
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
        pictures = _pictures_in(mime)
        if pictures:
            return Parcel(pictures=pictures)
        if any(url.isLocalFile() for url in mime.urls()):
            words = tr("Live objects, pictures and text can be put here, not this file.")
            return Parcel(problem=words)
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
            return Plan(tr("Make a new {kind} here", kind=parcel.kind.name_inside), True)
        if parcel.pictures:
            count = len(parcel.pictures)
            words = tr_n("Put this picture here", "Put {count} pictures here", count)
            return Plan(words, True)
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
            form = Form.LINK if plan.deed is Deed.LINK else Form.OBJECT
            return self._desktop.place_all(
                Placing(
                    write_reference(reference),
                    Frame(x + number * _STEP, y + number * _STEP, *size),
                    form,
                )
                for number, (reference, size) in enumerate(self._sized(parcel, plan))
            )
        except Problem as problem:
            self._inside.say(str(problem))
            return []

    def _sized(self, parcel: Parcel, plan: Plan) -> list[tuple[Reference, tuple[float, float]]]:
        """What is to be placed, made if need be, and how large."""
        if parcel.kind is not None:
            return [(self._inside.make(parcel.kind), plan.size)]
        if parcel.pictures:
            made = (image_of(self._inside, picture) for picture in parcel.pictures)
            return [(reference, _picture_size(ratio)) for reference, ratio in made]
        if parcel.text:
            return [(note_of(self._inside, parcel.text), plan.size)]
        if plan.deed is Deed.COPY:
            copies = (copy_of(self._inside, reference) for reference in parcel.references)
            return [(copy, plan.size) for copy in copies]
        return [(reference, plan.size) for reference in parcel.references]


def _pictures_in(mime: QMimeData) -> tuple[PictureSource, ...]:
    """Files of pictures, or a picture that came by itself, as from a browser."""
    files = [Path(url.toLocalFile()) for url in mime.urls() if url.isLocalFile()]
    found = [PictureSource(file.name, file) for file in files if _is_picture(file)]
    if not files and not found:
        name = next((name for name in mime.formats() if name in _PICTURE_MIMES), None)
        if name is not None:
            data = bytes(mime.data(name).data())
            found = [PictureSource(tr("Picture"), data=data)]
    return tuple(found[: drag.FILES_MAX])


def _is_picture(file: Path) -> bool:
    return file.suffix.lower() in PICTURE_ENDINGS


def _picture_size(ratio: float) -> tuple[float, float]:
    """A frame in which a picture of that shape has no margins; not too high for a window."""
    width = OBJECT_SIZE[0]
    frame = content_of(Frame(0, 0, width, 1000))
    room = max(60.0, min(frame.width * ratio, 600.0))
    return width, room + 1000 - frame.height


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
