"""Owns reading ODT: paragraphs, lists, tables, links and images of what LibreOffice and others
write."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from liveobj.richtext.archive import Archive
from liveobj.richtext.builder import IMAGE_BYTES_MAX_IN_FILES, ContentBuilder, bounded_indent
from liveobj.richtext.check_signs import with_check_lists
from liveobj.richtext.docx_reader import look_of_name
from liveobj.richtext.errors import FileProblem
from liveobj.richtext.highlights import nearest_highlight
from liveobj.richtext.model import CODE_BLOCK, HIGHLIGHT, LINK, Block, Content
from liveobj.richtext.xml_walk import Attributes, XmlWalk
from transport.sentences import worded

_ODF = "urn:oasis:names:tc:opendocument:xmlns:"
NAMESPACES = {
    f"{_ODF}office:1.0": "office",
    f"{_ODF}text:1.0": "text",
    f"{_ODF}style:1.0": "style",
    f"{_ODF}table:1.0": "table",
    f"{_ODF}drawing:1.0": "draw",
    f"{_ODF}xsl-fo-compatible:1.0": "fo",
    f"{_ODF}svg-compatible:1.0": "svg",
    "http://www.w3.org/1999/xlink": "xlink",
}
CM_PER_INDENT = 1.25
PX_PER_CM = 96 / 2.54
_LENGTH = re.compile(r"([0-9.]{1,12})(cm|mm|in|pt|px)$")
_CM = {"cm": 1.0, "mm": 0.1, "in": 2.54, "pt": 2.54 / 72, "px": 2.54 / 96}
_MONO = re.compile(r"courier|consolas|mono|menlo", re.IGNORECASE)
_ALIGNMENTS = {"center": "center", "end": "right", "right": "right", "justify": "justify"}
_BLANKS = re.compile(r"[ \t\r\n]+")
_NO_WORDS = ("office:annotation", "text:tracked-changes", "text:note", "office:forms")


def read_odt(file: Path) -> Content:
    """Raises FileProblem."""
    with Archive(file) as archive:
        body = archive.read("content.xml")
        if not body:
            raise FileProblem(worded("{file} is not an ODT file.", file=file.name))
        styles = _Styles()
        for data in (archive.read("styles.xml"), body):
            if data:
                styles.walk(data)
        reader = _Body(archive, styles)
        reader.walk(body)
        return with_check_lists(reader.builder.finish())


@dataclass(slots=True)
class _Style:
    """What a style says; what it does not say, its parent does."""

    parent: str = ""
    look: str = ""
    align: str = ""
    indent: int = 0
    marks: dict[str, str] = field(default_factory=dict)


class _Styles(XmlWalk):
    """Styles by name, and which levels of lists are numbered."""

    prefixes = MappingProxyType(NAMESPACES)

    def __init__(self) -> None:
        self.styles: dict[str, _Style] = {}
        self.numbered: dict[str, set[str]] = {}
        self._style: _Style | None = None
        self._list = ""

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "style:style":
            key = attributes.get("style:name", "")
            shown = attributes.get("style:display-name", key).replace("_20_", " ")
            parent = attributes.get("style:parent-style-name", "")
            self._style = _Style(parent, look_of_name(shown))
            self.styles[key] = self._style
        elif name == "text:list-style":
            self._list = attributes.get("style:name", "")
            self.numbered[self._list] = set()
        elif name == "text:list-level-style-number" and self._list:
            if attributes.get("style:num-format"):
                self.numbered[self._list].add(attributes.get("text:level", "1"))
        elif self._style is not None and name == "style:text-properties":
            self._style.marks = _marks(attributes)
        elif self._style is not None and name == "style:paragraph-properties":
            self._style.align = _ALIGNMENTS.get(attributes.get("fo:text-align", ""), "")
            length = centimetres(attributes.get("fo:margin-left", ""))
            self._style.indent = int(length / CM_PER_INDENT + 0.2)

    def end(self, name: str) -> None:
        if name == "style:style":
            self._style = None
        elif name == "text:list-style":
            self._list = ""

    def look(self, name: str) -> str:
        """The look of a style or of one that it is made from."""
        for _ in range(10):
            style = self.styles.get(name)
            if style is None or style.look:
                return look_of_name(name.replace("_20_", " ")) if style is None else style.look
            name = style.parent
        return ""


def _marks(attributes: Attributes) -> dict[str, str]:
    marks: dict[str, str] = {}
    weight = attributes.get("fo:font-weight", "")
    if weight == "bold" or (weight.isdecimal() and int(weight) >= 600):
        marks["bold"] = ""
    if attributes.get("fo:font-style") in ("italic", "oblique"):
        marks["italic"] = ""
    if attributes.get("style:text-underline-style", "none") != "none":
        marks["underline"] = ""
    if attributes.get("style:text-line-through-style", "none") != "none":
        marks["strike"] = ""
    fonts = attributes.get("style:font-name", "") + attributes.get("fo:font-family", "")
    if _MONO.search(fonts):
        marks["code"] = ""
    ground = nearest_highlight(attributes.get("fo:background-color", ""))
    if ground:
        marks[HIGHLIGHT] = ground
    return marks


def centimetres(length: str) -> float:
    found = _LENGTH.fullmatch(length.strip())
    try:
        return float(found[1]) * _CM[found[2]] if found else 0.0
    except ValueError:
        return 0.0


class _Body(XmlWalk):
    """The text itself."""

    prefixes = MappingProxyType(NAMESPACES)

    def __init__(self, archive: Archive, styles: _Styles) -> None:
        self.builder = ContentBuilder()
        self._archive = archive
        self._styles = styles
        self._lists: list[str] = []
        self._spans: list[list[str]] = []
        self._in_body = False
        self._paragraphs = 0
        self._silent = 0
        self._tables = 0
        self._picture: tuple[int, str, bytes] | None = None
        self._in_words = False
        self._blank = True

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "office:text":
            self._in_body = True
        if name in _NO_WORDS:
            self._silent += 1
        if not self._in_body or self._silent:
            return
        if name in ("text:p", "text:h"):
            self._begin_paragraph(name, attributes)
        elif name == "text:list":
            style = attributes.get("text:style-name") or (self._lists[-1] if self._lists else "")
            self._lists.append(style)
        elif name == "text:span":
            self._begin_marks(self._styles.styles.get(attributes.get("text:style-name", "")))
        elif name == "text:a":
            self.builder.begin_mark(LINK, attributes.get("xlink:href", ""))
        elif name in ("text:s", "text:tab", "text:line-break"):
            self._sign(name, attributes)
        elif name.startswith("table:"):
            self._table(name, attributes)
        elif name in ("draw:frame", "draw:image"):
            self._image(name, attributes)
        elif name in ("svg:title", "svg:desc"):
            self._in_words = True

    def end(self, name: str) -> None:
        if name in _NO_WORDS:
            self._silent -= 1
        if name == "office:text":
            self._in_body = False
        if not self._in_body or self._silent:
            return
        if name in ("text:p", "text:h"):
            self._end_marks()
            self._paragraphs -= 1
            self.builder.end_paragraph()
        elif name == "text:list":
            self._lists.pop()
        elif name == "text:span":
            self._end_marks()
        elif name == "text:a":
            self.builder.end_mark(LINK)
        elif name.startswith("table:"):
            self._end_table_part(name)
        elif name == "draw:frame":
            self._end_image()
        elif name in ("svg:title", "svg:desc"):
            self._in_words = False

    def _end_table_part(self, name: str) -> None:
        if name == "table:table-cell" and self._tables == 1:
            self.builder.end_cell()
        elif name == "table:table":
            self._tables -= 1
            if not self._tables:
                self.builder.end_table()

    def words(self, text: str) -> None:
        if self._in_words and self._picture is not None:
            width, words, data = self._picture
            self._picture = (width, words + text, data)
        elif self._in_body and self._paragraphs and not self._silent and not self._in_words:
            text = _BLANKS.sub(" ", text)
            if self._blank:
                text = text.removeprefix(" ")
            if text:
                self._blank = text.endswith(" ")
                self.builder.text(text)

    # Paragraphs

    def _begin_paragraph(self, name: str, attributes: Attributes) -> None:
        self._paragraphs += 1
        self._blank = True
        key = attributes.get("text:style-name", "")
        style = self._styles.styles.get(key, _Style())
        look = self._styles.look(key)
        if not self.builder.in_table:
            level = attributes.get("text:outline-level", "1")
            if name == "text:h":
                look = f"h{min(6, max(1, int(level) if level.isdecimal() else 1))}"
            block = Block(look, bounded_indent(style.indent), style.align)
            if self._lists and name == "text:p":
                depth = len(self._lists)
                numbered = str(depth) in self._styles.numbered.get(self._lists[-1], set())
                kind = "number" if numbered else "bullet"
                block = Block(kind, bounded_indent(depth - 1), style.align)
            self.builder.begin_paragraph(block)
        own = style if look not in (CODE_BLOCK,) and name == "text:p" else None
        self._begin_marks(own if own is not None and not look else None)

    def _begin_marks(self, style: _Style | None) -> None:
        begun: list[str] = []
        marks = {} if style is None else dict(style.marks)
        if style is not None and style.look == CODE_BLOCK and not marks:
            marks["code"] = ""
        for mark, word in marks.items():
            self.builder.begin_mark(mark, word or True)
            begun.append(mark)
        self._spans.append(begun)

    def _end_marks(self) -> None:
        if self._spans:
            for mark in reversed(self._spans.pop()):
                self.builder.end_mark(mark)

    def _sign(self, name: str, attributes: Attributes) -> None:
        if name == "text:s":
            count = attributes.get("text:c", "1")
            self.builder.text(" " * min(1000, int(count) if count.isdecimal() else 1))
        elif name == "text:tab":
            self.builder.text("\t")
        else:
            self.builder.line_break()
        self._blank = name == "text:line-break"

    # Tables and images

    def _table(self, name: str, attributes: Attributes) -> None:
        if name == "table:table":
            self._tables += 1
            self.builder.begin_table()
        elif self._tables != 1:
            return
        elif name == "table:table-header-rows":
            self.builder.header_row()
        elif name == "table:table-row":
            self.builder.begin_row()

    def _image(self, name: str, attributes: Attributes) -> None:
        if name == "draw:frame":
            width = round(centimetres(attributes.get("svg:width", "")) * PX_PER_CM)
            self._picture = (width, "", b"")
        elif self._picture is not None:
            path = attributes.get("xlink:href", "").removeprefix("./")
            if "://" not in path and not self._picture[2]:
                data = self._archive.read(path, IMAGE_BYTES_MAX_IN_FILES)
                self._picture = (self._picture[0], self._picture[1], data)

    def _end_image(self) -> None:
        picture, self._picture = self._picture, None
        if picture is not None and picture[2]:
            self.builder.image(picture[2], picture[0], picture[1].strip())
