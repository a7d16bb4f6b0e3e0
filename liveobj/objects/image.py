"""Owns the image: one picture that all see, and the marks that people draw on it.

Small pictures are in the document itself; of larger ones it holds the name of the content, which is
fetched from whoever has it. Whether the bytes are a picture is the business of whoever paints them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from liveobj.contents.exchange import Arrival, ContentExchange
from liveobj.contents.store import is_content_name
from liveobj.declare import live_object
from liveobj.documents import DocumentError, Map
from liveobj.documents.observing import Plain
from liveobj.host import Host
from liveobj.objects.document_object import DocumentProxy
from liveobj.objects.shared_document import SharedDocument, describe_shared, new_shared
from liveobj.references import Parameterized, Reference
from transport.bulk import content_id
from transport.sentences import worded

TEMPLATE_ID = "live-objects:image"
PICTURE_BYTES_MAX = 20 * 1024 * 1024
# Larger ones do not go into the document, whose history keeps everything for ever.
INLINE_BYTES_MAX = 192 * 1024
NAME_CHARACTERS_MAX = 200
POINTS_MAX = 2000
MARKS_MAX = 5000
_NOW = "now"
_TURN = "turn"


@dataclass(frozen=True, slots=True)
class Picture:
    """What the document says of the picture: the name of its content, its size in bytes, and what
    the file was called."""

    content: str
    size: int
    name: str


@dataclass(frozen=True, slots=True)
class Mark:
    """Something drawn on the picture: a pen's line or an arrow. Points are parts of the picture's
    width and height, from 0 to 1; `width` is a part of its width."""

    shape: str
    points: tuple[tuple[float, float], ...]
    colour: str
    width: float


def new_image(title: str, random_bytes: Callable[[int], bytes]) -> Parameterized:
    """The can-edit reference of an image that did not exist before."""
    return new_shared(TEMPLATE_ID, title, random_bytes)


def read_picture(value: Plain) -> Picture | None:
    """What somebody says the picture is; None for what cannot be."""
    if not isinstance(value, dict):
        return None
    content, size, name = value.get("content"), value.get("size"), value.get("name")
    if not isinstance(content, str) or not is_content_name(content):
        return None
    if isinstance(size, bool) or not isinstance(size, int) or not 0 < size <= PICTURE_BYTES_MAX:
        return None
    return Picture(content, size, name[:NAME_CHARACTERS_MAX] if isinstance(name, str) else "")


def read_mark(value: Plain) -> Mark | None:
    """A mark as somebody drew it; None for what cannot be drawn."""
    if not isinstance(value, dict) or value.get("shape") not in ("pen", "arrow"):
        return None
    numbers, colour, width = value.get("points"), value.get("colour"), value.get("width")
    if not isinstance(numbers, list) or not 4 <= len(numbers) <= 2 * POINTS_MAX:
        return None
    if not all(_is_number(number) for number in [*numbers, width]):
        return None
    flat = [min(max(float(number), -1.0), 2.0) for number in numbers]  # type: ignore[arg-type]
    points = tuple(zip(flat[::2], flat[1::2], strict=False))
    thick = min(max(float(width), 0.0005), 0.1)  # type: ignore[arg-type]
    return Mark(str(value["shape"]), points, colour if isinstance(colour, str) else "", thick)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


class Image(SharedDocument):
    """An image that is open here. Attributes: `picture`, `inline` and `marks` (the maps), and
    `exchange`. What edits raises a Problem, and changes nothing, when it is refused."""

    def prepare(self) -> None:
        self.picture: Map = self.document.map("picture")
        self.inline: Map = self.document.map("inline")
        self.marks: Map = self.document.map("marks")

    def begin(self) -> None:
        """Once the object is open: offers and fetches the picture."""
        self.exchange = ContentExchange(self, self._host)
        self._watch = self.picture.observe(lambda _: self.look_for_content())
        self.look_for_content()

    def close(self) -> None:
        self._watch.close()
        self.exchange.close()
        super().close()

    def look_for_content(self) -> None:
        """Wants what the document names, and offers it to others when it is here."""
        now = self.now
        if now is None or now.content in self.inline:
            return
        self.exchange.want(now.content, now.size)
        self.exchange.offer(now.content)

    # Reading

    @property
    def now(self) -> Picture | None:
        return read_picture(self.picture.get(_NOW))

    @property
    def turn(self) -> int:
        """How many quarters of a circle it is turned to the right."""
        turn = self.picture.get(_TURN)
        return turn % 4 if isinstance(turn, int) and not isinstance(turn, bool) else 0

    def data(self) -> bytes | None:
        """The bytes of the picture if they are here, and what they should be."""
        now = self.now
        if now is None:
            return None
        inline = self.inline.get(now.content)
        if isinstance(inline, bytes):
            return inline if content_id(inline).hex() == now.content else None
        path = self.exchange.find(now.content)
        try:
            return None if path is None else path.read_bytes()
        except OSError:
            return None

    def arrival(self) -> Arrival | None:
        now = self.now
        return None if now is None else self.exchange.arrival(now.content)

    def drawn(self) -> dict[str, Mark]:
        """The marks that can be drawn, by identity, in a fixed order."""
        found = self.marks.to_dict()
        marks = {identity: read_mark(found[identity]) for identity in sorted(found)[:MARKS_MAX]}
        return {identity: mark for identity, mark in marks.items() if mark is not None}

    # Editing

    def show(self, data: bytes, name: str = "") -> None:
        """Puts a picture in place of the present one; its marks go with it, and undo brings both
        back."""
        if not data or len(data) > PICTURE_BYTES_MAX:
            raise DocumentError(
                worded("A picture has at most {most} MB.", most=PICTURE_BYTES_MAX // 1024**2)
            )
        content = content_id(data).hex()
        if len(data) > INLINE_BYTES_MAX:
            self.exchange.store.add_bytes(data)
        self.document.undo_boundary()
        with self.document.transaction("show"):
            if len(data) <= INLINE_BYTES_MAX:
                self.inline.set(content, data)
            for identity in list(self.marks):
                self.marks.remove(identity)
            self.picture.set(_TURN, 0)
            described: dict[str, Plain] = {
                "content": content,
                "size": len(data),
                "name": Path(name).name[:NAME_CHARACTERS_MAX],
            }
            self.picture.set(_NOW, described)

    def rotate(self) -> None:
        """Turns it a quarter to the right, for everybody."""
        with self.document.transaction("rotate"):
            self.picture.set(_TURN, (self.turn + 1) % 4)

    def draw(self, mark: Mark) -> str:
        """Puts a mark on the picture; returns its identity."""
        if not 2 <= len(mark.points) <= POINTS_MAX or len(self.marks) >= MARKS_MAX:
            raise DocumentError(worded("There are too many marks on this picture."))
        identity = self._host.random_bytes(8).hex()
        flat: list[Plain] = [round(number, 5) for point in mark.points for number in point]
        self.document.undo_boundary()
        with self.document.transaction("draw"):
            self.marks.set(
                identity,
                {"shape": mark.shape, "points": flat, "colour": mark.colour, "width": mark.width},
            )
        return identity

    def erase(self, identities: Sequence[str]) -> None:
        """Takes marks off, whoever drew them."""
        self.document.undo_boundary()
        with self.document.transaction("erase"):
            for identity in identities:
                self.marks.remove(identity)


def open_image(reference: Reference, host: Host) -> Image:
    """Raises ReferenceProblem for a reference that is not an image's, StorageError if the disk
    refuses."""
    image = Image(reference, host, describe_shared(reference, TEMPLATE_ID, "image"))
    image.begin()
    return image


@live_object(TEMPLATE_ID, title="Image")
class ImageObject(DocumentProxy):
    """A picture that all see, and the marks on it."""

    _template_id = TEMPLATE_ID
    _kind = "image"

    def open_shared(self) -> Image:
        return open_image(self.context.reference, self.context.host)
