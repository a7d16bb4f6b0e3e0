"""Owns reading and writing XML safely: bounded, no document types, no entities, nothing ever
fetched.

The result is a tree of plain immutable elements that know their lines. What the elements mean is
none of this module's business. Limits are checked while the text streams through the parser, so a
hostile file is refused at the first byte too many and not after it has been built in memory. This
is why expat is used directly: defusedxml refuses entities as well, but knows no limits (it takes
200,000 levels or attributes), and the ElementTree below it works through all of them before anybody
is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers.expat import (
    XML_PARAM_ENTITY_PARSING_NEVER,
    ErrorString,
    ExpatError,
    ParserCreate,
    XMLParserType,
)
from xml.sax.saxutils import escape, quoteattr

from liveobj.references.errors import NotXml, Refused
from transport.sentences import worded

SIZE_BYTES_MAX = 1024 * 1024
DEPTH_MAX = 64
ELEMENTS_MAX = 10_000
ATTRIBUTES_MAX = 64
TEXT_BYTES_MAX = 64 * 1024
NAME_CHARACTERS_MAX = 1024

# Between namespace and name; a blank can be in neither.
_SEPARATOR = " "
_LONG_STRETCH = re.compile(rb"<[^<]{131072,}")


@dataclass(frozen=True, slots=True)
class Element:
    """One element. `children` are elements and strings, in order; `line` does not count in
    comparing."""

    name: str
    namespace: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    children: tuple[Element | str, ...] = ()
    line: int = field(default=0, compare=False)

    def attribute(self, name: str) -> str | None:
        return next((value for key, value in self.attributes if key == name), None)

    @property
    def elements(self) -> Iterator[Element]:
        return (child for child in self.children if isinstance(child, Element))

    @property
    def text(self) -> str:
        return "".join(child for child in self.children if isinstance(child, str))


@dataclass(slots=True)
class _Open:
    """An element whose end has not been read yet."""

    name: str
    namespace: str
    attributes: tuple[tuple[str, str], ...]
    line: int
    children: list[Element | str] = field(default_factory=list)
    text_bytes: int = 0


class _Builder:
    """Gets the parser's events, counts, and builds."""

    def __init__(self, parser: XMLParserType) -> None:
        self.root: Element | None = None
        self._parser = parser
        self._open: list[_Open] = []
        self._elements = 0

    @property
    def line(self) -> int:
        return self._parser.CurrentLineNumber

    def start(self, tag: str, attributes: list[str]) -> None:
        self._elements += 1
        if self._elements > ELEMENTS_MAX:
            raise Refused(
                worded("There are more than {most} elements.", most=f"{ELEMENTS_MAX:,}"), self.line
            )
        if len(self._open) >= DEPTH_MAX:
            raise Refused(
                worded("Elements are nested more than {most} deep.", most=DEPTH_MAX), self.line
            )
        if len(tag) > NAME_CHARACTERS_MAX:
            raise Refused(worded("An element has a name without end."), self.line)
        namespace, name = _split(tag)
        pairs = self._pairs(attributes) if attributes else ()
        self._open.append(_Open(name, namespace, pairs, self.line))

    def _pairs(self, attributes: list[str]) -> tuple[tuple[str, str], ...]:
        if len(attributes) > 2 * ATTRIBUTES_MAX:
            raise Refused(
                worded("An element has more than {most} attributes.", most=ATTRIBUTES_MAX),
                self.line,
            )
        pairs: list[tuple[str, str]] = []
        for key, value in zip(attributes[::2], attributes[1::2], strict=True):
            if len(key) > NAME_CHARACTERS_MAX or len(value.encode()) > TEXT_BYTES_MAX:
                raise Refused(worded("An attribute is longer than 64 KiB."), self.line)
            namespace, name = _split(key)
            pairs.append((f"{{{namespace}}}{name}" if namespace else name, value))
        return tuple(sorted(pairs))

    def data(self, text: str) -> None:
        if not self._open:
            return
        element = self._open[-1]
        element.text_bytes += len(text.encode())
        if element.text_bytes > TEXT_BYTES_MAX:
            raise Refused(worded("A text is longer than 64 KiB."), self.line)
        if element.children and isinstance(element.children[-1], str):
            element.children[-1] += text
        else:
            element.children.append(text)

    def end(self, _tag: str) -> None:
        opened = self._open.pop()
        children = opened.children
        if len(children) > 1:
            # Between elements, white space is only there to look at.
            children = [c for c in children if not isinstance(c, str) or c.strip()]
        element = Element(
            opened.name, opened.namespace, opened.attributes, tuple(children), opened.line
        )
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element

    def declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() != "utf-8":
            raise Refused(
                worded(
                    "The encoding is {encoding}; it must be UTF-8.", encoding=f"{encoding!r:.20}"
                ),
                self.line,
            )

    def refuse(self, *_: object) -> NoReturn:
        raise Refused(worded("Document types and entities are not allowed."), self.line)


def _split(name: str) -> tuple[str, str]:
    """Namespace and local name."""
    namespace, _, local = name.rpartition(_SEPARATOR)
    return namespace, local


def parse(data: bytes) -> Element:
    """The root element; raises NotXml or Refused, with the line."""
    if len(data) > SIZE_BYTES_MAX:
        raise Refused(
            worded("The file has {count} bytes; at most 1 MiB is read.", count=f"{len(data):,}")
        )
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        raise NotXml(worded("The file is not text in UTF-8."), line) from None
    _refuse_endless_tags(data)
    parser = ParserCreate("UTF-8", _SEPARATOR)
    parser.buffer_text = True
    parser.ordered_attributes = True
    builder = _Builder(parser)
    parser.XmlDeclHandler = builder.declaration
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    # Without a document type there is no way to define an entity; the others guard the guard.
    parser.StartDoctypeDeclHandler = builder.refuse
    parser.EntityDeclHandler = builder.refuse
    parser.ExternalEntityRefHandler = builder.refuse
    parser.SetParamEntityParsing(XML_PARAM_ENTITY_PARSING_NEVER)
    try:
        parser.Parse(data, True)
    except ExpatError as problem:
        reason = ErrorString(problem.code)
        raise NotXml(
            worded("The file is not well-formed XML ({reason}).", reason=reason), problem.lineno
        ) from None
    if builder.root is None:
        raise NotXml(worded("The file is empty."), 1)
    return builder.root


def _refuse_endless_tags(data: bytes) -> None:
    """The parser hands over a tag when it has read all its attributes, which takes it long if they
    are very many. There is no '<' inside a tag, and no text that is allowed has so many '='."""
    for stretch in _LONG_STRETCH.finditer(data):
        if stretch[0].count(b"=") > TEXT_BYTES_MAX // 2:
            line = data[: stretch.start()].count(b"\n") + 1
            raise Refused(
                worded("An element has more than {most} attributes.", most=ATTRIBUTES_MAX), line
            )


def write(root: Element, *, pretty: bool = True) -> bytes:
    """The text of `root`, as UTF-8. Without `pretty`, one line that depends on the content
    alone."""
    prefixes = {root.namespace: ""}
    for element in _walk(root):
        prefixes.setdefault(element.namespace, f"n{len(prefixes)}")
        for name, _ in element.attributes:
            namespace, _local = _split_attribute(name)
            if namespace:
                prefixes.setdefault(namespace, f"n{len(prefixes)}")
    pieces: list[str] = []
    _write(root, prefixes, pieces, 0 if pretty else None, root=True)
    text = "".join(pieces)
    if pretty:
        text = f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'
    return text.encode()


def _walk(element: Element) -> Iterator[Element]:
    yield element
    for child in element.elements:
        yield from _walk(child)


def _qualified(name: str, namespace: str, prefixes: dict[str, str]) -> str:
    prefix = prefixes.get(namespace, "")
    return f"{prefix}:{name}" if prefix else name


def _write(
    element: Element,
    prefixes: dict[str, str],
    pieces: list[str],
    indent: int | None,
    *,
    root: bool = False,
) -> None:
    tag = _qualified(element.name, element.namespace, prefixes)
    pieces.append(f"<{tag}")
    if root:
        for namespace, prefix in prefixes.items():
            if namespace:
                attribute = f"xmlns:{prefix}" if prefix else "xmlns"
                pieces.append(f" {attribute}={quoteattr(namespace)}")
    for key, value in sorted(element.attributes):
        namespace, name = _split_attribute(key)
        pieces.append(f" {_attribute_name(name, namespace, prefixes)}={_quote(value)}")
    if not element.children:
        pieces.append("/>")
        return
    pieces.append(">")
    spread = indent is not None and not any(isinstance(c, str) for c in element.children)
    for child in element.children:
        if isinstance(child, str):
            pieces.append(escape(child, {"\r": "&#13;"}))
            continue
        if spread and indent is not None:
            pieces.append("\n" + "  " * (indent + 1))
        _write(child, prefixes, pieces, None if indent is None else indent + 1)
    if spread and indent is not None:
        pieces.append("\n" + "  " * indent)
    pieces.append(f"</{tag}>")


def _split_attribute(key: str) -> tuple[str, str]:
    """Attributes of a namespace are kept as `{namespace}name`."""
    namespace, brace, name = key.removeprefix("{").partition("}")
    return (namespace, name) if brace else ("", key)


def _attribute_name(name: str, namespace: str, prefixes: dict[str, str]) -> str:
    return f"{prefixes[namespace]}:{name}" if namespace else name


def _quote(value: str) -> str:
    # A parser would turn these into blanks; written as numbers they come back as they were.
    return quoteattr(value, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
