"""Owns reading DOCX: paragraphs, lists, tables, links and images of what Word and others write."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from liveobj.richtext.archive import Archive
from liveobj.richtext.builder import IMAGE_BYTES_MAX_IN_FILES, ContentBuilder, bounded_indent
from liveobj.richtext.check_signs import with_check_lists
from liveobj.richtext.errors import FileProblem
from liveobj.richtext.highlights import nearest_highlight
from liveobj.richtext.model import CODE_BLOCK, HIGHLIGHT, LINK, QUOTE, Block, Content
from liveobj.richtext.xml_walk import Attributes, XmlWalk
from transport.sentences import worded

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_WP = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
_PREFIXES = {_W: "w", _R: "r", _A: "a", _WP: "wp"}
EMU_PER_PX = 9525
TWIPS_PER_INDENT = 720
_OFF = ("0", "false", "none", "off")
_FLAGS = {"w:b": "bold", "w:i": "italic", "w:u": "underline", "w:strike": "strike"}
HIGHLIGHTS = {
    "yellow": "yellow",
    "green": "green",
    "cyan": "blue",
    "magenta": "pink",
    "darkYellow": "orange",
    "blue": "blue",
    "red": "pink",
}
_ALIGNMENTS = {"center": "center", "right": "right", "end": "right", "both": "justify"}
_HEADING = re.compile(r"heading ?([1-6])$", re.IGNORECASE)
_CODE_NAMES = re.compile(r"code|verbatim|preformatted|plain ?text", re.IGNORECASE)
_MONO = re.compile(r"courier|consolas|mono|menlo", re.IGNORECASE)


def read_docx(file: Path) -> Content:
    """Raises FileProblem."""
    with Archive(file) as archive:
        body = archive.read("word/document.xml")
        if not body:
            raise FileProblem(worded("{file} is not a DOCX file.", file=file.name))
        styles, numbering, links = _Styles(), _Numbering(), _Links()
        for walk, part in (
            (styles, "word/styles.xml"),
            (numbering, "word/numbering.xml"),
            (links, "word/_rels/document.xml.rels"),
        ):
            data = archive.read(part)
            if data:
                walk.walk(data)
        reader = _Body(archive, styles.looks, numbering.formats(), links.targets)
        reader.walk(body)
        return with_check_lists(reader.builder.finish())


class _Styles(XmlWalk):
    """Which look a style of paragraphs or words stands for."""

    prefixes = MappingProxyType(_PREFIXES)

    def __init__(self) -> None:
        self.looks: dict[str, str] = {}
        self._style = ""

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "w:style":
            self._style = attributes.get("w:styleId", "")
        elif name == "w:name" and self._style:
            self.looks[self._style] = look_of_name(attributes.get("w:val", ""))


def look_of_name(name: str) -> str:
    """The look that a style's name asks for; empty for plain text."""
    heading = _HEADING.fullmatch(name)
    if heading:
        return f"h{heading[1]}"
    if name.lower() == "title":
        return "h1"
    if "quot" in name.lower():
        return QUOTE
    if _CODE_NAMES.search(name):
        return CODE_BLOCK
    return "bullet" if name.lower().startswith("list bullet") else ""


class _Numbering(XmlWalk):
    """Which lists are numbered, level by level."""

    prefixes = MappingProxyType(_PREFIXES)

    def __init__(self) -> None:
        self._abstract: dict[str, dict[str, str]] = {}
        self._numbers: dict[str, str] = {}
        self._where: list[str] = []

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "w:abstractNum":
            self._where = [attributes.get("w:abstractNumId", "")]
            self._abstract[self._where[0]] = {}
        elif name == "w:lvl" and self._where:
            self._where = [self._where[0], attributes.get("w:ilvl", "0")]
        elif name == "w:numFmt" and len(self._where) == 2:
            self._abstract[self._where[0]][self._where[1]] = attributes.get("w:val", "")
        elif name == "w:num":
            self._where = []
            self._number = attributes.get("w:numId", "")
        elif name == "w:abstractNumId":
            self._numbers[self._number] = attributes.get("w:val", "")

    _number = ""

    def formats(self) -> dict[str, dict[str, str]]:
        return {n: self._abstract.get(abstract, {}) for n, abstract in self._numbers.items()}


class _Links(XmlWalk):
    """What the document refers to, by short names."""

    def __init__(self) -> None:
        self.targets: dict[str, str] = {}

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "Relationship":
            self.targets[attributes.get("Id", "")] = attributes.get("Target", "")


@dataclass(slots=True)
class _Look:
    """What the properties of a paragraph have said so far."""

    style: str = ""
    number: str = ""
    level: int = 0
    align: str = ""
    indent: int = 0
    begun: bool = False


@dataclass(slots=True)
class _Picture:
    target: str = ""
    width: int = 0
    words: str = ""


@dataclass(slots=True)
class _Run:
    marks: list[str] = field(default_factory=list)


class _Body(XmlWalk):
    """The text itself."""

    prefixes = MappingProxyType(_PREFIXES)

    def __init__(
        self,
        archive: Archive,
        looks: dict[str, str],
        lists: dict[str, dict[str, str]],
        targets: dict[str, str],
    ) -> None:
        self.builder = ContentBuilder()
        self._archive = archive
        self._looks = looks
        self._lists = lists
        self._targets = targets
        self._look = _Look()
        self._run: _Run | None = None
        self._picture: _Picture | None = None
        self._in_run_look = self._in_text = False
        self._deleted = 0
        self._tables = 0

    def start(self, name: str, attributes: Attributes) -> None:
        value = attributes.get("w:val", "")
        if name == "w:p":
            self._look = _Look()
        elif name == "w:r":
            self._run = _Run()
        elif name == "w:rPr":
            self._in_run_look = self._run is not None
        elif self._in_run_look:
            self._run_look(name, attributes, value)
        elif name in ("w:pStyle", "w:numId", "w:ilvl", "w:jc", "w:ind"):
            self._paragraph_look(name, attributes, value)
        elif name in ("w:t", "w:tab", "w:br", "w:cr"):
            self._text(name, attributes)
        elif name == "w:hyperlink":
            self._begin_paragraph()
            self.builder.begin_mark(LINK, self._targets.get(attributes.get("r:id", ""), ""))
        elif name in ("w:del", "w:moveFrom"):
            self._deleted += 1
        elif name in ("w:tbl", "w:tr", "w:tblHeader"):
            self._table(name, value)
        elif name in ("w:drawing", "wp:extent", "wp:docPr", "a:blip"):
            self._drawing(name, attributes)

    def end(self, name: str) -> None:
        if name == "w:p":
            self._begin_paragraph()
            self.builder.end_paragraph()
        elif name == "w:rPr":
            self._in_run_look = False
        elif name == "w:r" and self._run is not None:
            for mark in reversed(self._run.marks):
                self.builder.end_mark(mark)
            self._run = None
        elif name == "w:t":
            self._in_text = False
        elif name == "w:hyperlink":
            self.builder.end_mark(LINK)
        elif name in ("w:del", "w:moveFrom"):
            self._deleted -= 1
        elif name == "w:tc" and self._tables == 1:
            self.builder.end_cell()
        elif name == "w:tbl":
            self._tables -= 1
            if not self._tables:
                self.builder.end_table()
        elif name == "w:drawing":
            self._end_drawing()

    def words(self, text: str) -> None:
        if self._in_text and not self._deleted:
            self.builder.text(text)

    # Paragraphs

    def _paragraph_look(self, name: str, attributes: Attributes, value: str) -> None:
        look = self._look
        if name == "w:pStyle":
            look.style = self._looks.get(value, look_of_name(value))
        elif name == "w:numId":
            look.number = value
        elif name == "w:ilvl":
            look.level = int(value) if value.isdecimal() else 0
        elif name == "w:jc":
            look.align = _ALIGNMENTS.get(value, "")
        else:
            left = attributes.get("w:left", attributes.get("w:start", ""))
            look.indent = int(left) // TWIPS_PER_INDENT if left.isdecimal() else 0

    def _begin_paragraph(self) -> None:
        look = self._look
        if look.begun:
            return
        look.begun = True
        if self._tables:
            return
        block = Block(look.style, bounded_indent(look.indent), look.align)
        if look.number and look.number != "0" and not look.style.startswith("h"):
            formats = self._lists.get(look.number, {})
            bullet = formats.get(str(look.level), "decimal") in ("bullet", "none")
            style = "bullet" if bullet else "number"
            block = Block(style, bounded_indent(look.level), look.align)
        self.builder.begin_paragraph(block)

    # Words

    def _run_look(self, name: str, attributes: Attributes, value: str) -> None:
        mark, setting = _FLAGS.get(name), True
        word = ""
        if mark is not None:
            setting = value.lower() not in _OFF
        elif name == "w:highlight":
            mark, word = HIGHLIGHT, HIGHLIGHTS.get(value, "")
            setting = bool(word)
        elif name == "w:shd" and nearest_highlight(attributes.get("w:fill", "")):
            mark, word = HIGHLIGHT, nearest_highlight(attributes.get("w:fill", ""))
        elif name == "w:rStyle" and self._looks.get(value, look_of_name(value)) == CODE_BLOCK:
            mark = "code"
        elif name == "w:rFonts" and _MONO.search(attributes.get("w:ascii", "")):
            mark = None if self._look.style == CODE_BLOCK else "code"
        if mark is not None and setting and self._run is not None and mark not in self._run.marks:
            self.builder.begin_mark(mark, word or True)
            self._run.marks.append(mark)

    def _text(self, name: str, attributes: Attributes) -> None:
        if self._deleted or self._run is None:  # a tab stop of a paragraph is no text
            return
        self._begin_paragraph()
        if name == "w:t":
            self._in_text = True
        elif name == "w:tab":
            self.builder.text("\t")
        elif attributes.get("w:type", "textWrapping") == "textWrapping":
            self.builder.line_break()

    # Tables and images

    def _table(self, name: str, value: str) -> None:
        if name == "w:tbl":
            self._tables += 1
            self.builder.begin_table()
        elif self._tables == 1:
            if name == "w:tr":
                self.builder.begin_row()
            elif value.lower() not in _OFF:
                self.builder.header_row()

    def _drawing(self, name: str, attributes: Attributes) -> None:
        if name == "w:drawing":
            self._picture = _Picture()
        elif self._picture is None:
            return
        elif name == "wp:extent":
            width = attributes.get("cx", "")
            self._picture.width = int(width) // EMU_PER_PX if width.isdecimal() else 0
        elif name == "wp:docPr":
            self._picture.words = attributes.get("descr", "")
        elif name == "a:blip":
            self._picture.target = self._targets.get(attributes.get("r:embed", ""), "")

    def _end_drawing(self) -> None:
        picture, self._picture = self._picture, None
        if picture is None or not picture.target or "://" in picture.target:
            return
        path = posixpath.normpath(posixpath.join("word", picture.target)).lstrip("/")
        data = self._archive.read(path, IMAGE_BYTES_MAX_IN_FILES)
        if data:
            self._look.begun = True
            self.builder.image(data, picture.width, picture.words)
