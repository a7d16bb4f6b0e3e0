"""Decides whether an SVG may be drawn: nothing from outside, no scripts, no bombs.

The renderer would read files that a drawing names, and repeat parts as often as it is told. So
drawings are read here first, with a parser that knows no entities, and refused with a sentence.
"""

from __future__ import annotations

import re
from xml.parsers import expat

from liveobj.errors import Problem
from widgets.language import tr

BYTES_MAX = 4 * 1024 * 1024
ELEMENTS_MAX = 50_000
DEPTH_MAX = 100
DRAWN_MAX = 100_000
_FORBIDDEN = {"script", "foreignobject", "iframe", "audio", "video", "animate", "set", "handler"}
_INNER_IMAGE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,", re.IGNORECASE)
_OUTER_URL = re.compile(r"url\(\s*['\"]?\s*(?!#)", re.IGNORECASE)


class BadDrawing(Problem):
    """A drawing that is not drawn; the text is a sentence."""


def check_svg(data: bytes) -> None:
    """Raises BadDrawing."""
    if len(data) > BYTES_MAX:
        raise BadDrawing(tr("The drawing is larger than {most} MB.", most=BYTES_MAX // 1024**2))
    reader = _Reader()
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as problem:
        raise BadDrawing(tr("The drawing is not well-formed: {reason}.", reason=problem)) from None
    if reader.expanded("") > DRAWN_MAX:
        raise BadDrawing(tr("The drawing repeats its parts too often."))


class _Reader:
    def __init__(self) -> None:
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._elements = 0
        self._open: list[str] = []
        # For each identity, the empty one being the whole: how many elements, and what it repeats.
        self._sizes: dict[str, int] = {"": 0}
        self._uses: dict[str, list[str]] = {"": []}

    def _refuse_doctype(self, *_: object) -> None:
        raise BadDrawing(tr("The drawing has a document type, which could bring in anything."))

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        name = element.rpartition(" ")[2].lower()
        self._elements += 1
        if self._elements > ELEMENTS_MAX or len(self._open) >= DEPTH_MAX:
            raise BadDrawing(tr("The drawing has too many parts."))
        if name in _FORBIDDEN or name.startswith("animate"):
            raise BadDrawing(
                tr("The drawing holds a part that could do more than draw: {name}.", name=name)
            )
        identity = ""
        for key, value in attributes.items():
            short = key.rpartition(" ")[2].lower()
            if short == "id":
                identity = value
            self._check_attribute(name, short, value)
        self._open.append(identity)
        if identity:
            self._sizes.setdefault(identity, 0)
            self._uses.setdefault(identity, [])
        for around in {"", *self._open}:
            self._sizes[around] += 1
            if name == "use":
                self._uses[around].append(_reference(attributes))

    def _end(self, _element: str) -> None:
        self._open.pop()

    def _check_attribute(self, element: str, name: str, value: str) -> None:
        value = value.strip()
        if name.startswith("on"):
            raise BadDrawing(tr("The drawing holds a script."))
        if name in ("href", "src", "base"):
            inner = element == "image" and _INNER_IMAGE.match(value)
            if not value.startswith("#") and not inner and element != "a":
                raise BadDrawing(tr("The drawing asks for something outside of itself."))
        if _OUTER_URL.search(value) or "@import" in value:
            raise BadDrawing(tr("The drawing asks for something outside of itself."))

    def expanded(self, identity: str, on_the_way: frozenset[str] = frozenset()) -> int:
        """How many elements are drawn for a part, repetitions included; very many for circles."""
        known: dict[str, int] = {}

        def size(part: str, above: frozenset[str]) -> int:
            if part in above:
                return DRAWN_MAX + 1
            if part not in known:
                total = self._sizes.get(part, 0)
                for used in self._uses.get(part, ()):
                    total += size(used, above | {part})
                    if total > DRAWN_MAX or len(above) > DEPTH_MAX:
                        total = DRAWN_MAX + 1
                        break
                known[part] = total
            return known[part]

        return size(identity, on_the_way)


def _reference(attributes: dict[str, str]) -> str:
    for key, value in attributes.items():
        if key.rpartition(" ")[2].lower() == "href":
            return value.strip().removeprefix("#")
    return ""
