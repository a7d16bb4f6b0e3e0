"""Owns reading HTML, from files and from what others copy: only what a document knows is taken.

Nothing is fetched, nothing runs; styles, scripts and unknown tags are passed over.
"""

from __future__ import annotations

import base64
import binascii
import re
from html.parser import HTMLParser

from liveobj.richtext.builder import ContentBuilder, bounded_indent
from liveobj.richtext.check_signs import with_check_lists
from liveobj.richtext.model import (
    ALIGNMENTS,
    CODE_BLOCK,
    COLOURS,
    HEADINGS,
    HIGHLIGHT,
    LINK,
    QUOTE,
    Block,
    Content,
    Mark,
)

_MARKS: dict[str, str] = {
    **dict.fromkeys(("b", "strong"), "bold"),
    **dict.fromkeys(("i", "em", "cite", "var", "dfn"), "italic"),
    **dict.fromkeys(("u", "ins"), "underline"),
    **dict.fromkeys(("s", "strike", "del"), "strike"),
    **dict.fromkeys(("code", "tt", "kbd", "samp"), "code"),
}
_WORDS = re.compile(r"\w+")
_PARAGRAPHS = frozenset(
    _WORDS.findall(
        "p div section article header footer main aside nav address dt dd dl figure figcaption"
        " form fieldset summary details center body html"
    )
)
_SILENT = frozenset(
    _WORDS.findall("script style head title template noscript svg math object select")
)
_VOID = frozenset(_WORDS.findall("area base br col embed hr img input link meta source track wbr"))
_DEPTH_MAX = 500
_DATA_URL = re.compile(r"data:image/(?:png|jpeg|gif|webp|bmp);base64,", re.IGNORECASE)
_ALIGN = re.compile(r"text-align\s*:\s*(center|right|justify)", re.IGNORECASE)
_INDENT = re.compile(r"indent-([1-8])")
_BOLD = re.compile(r"font-weight\s*:\s*(?:bold|bolder|[6-9]00)", re.IGNORECASE)
_NOT_BOLD = re.compile(r"font-weight\s*:\s*(?:normal|[1-5]00)", re.IGNORECASE)
_ITALIC = re.compile(r"font-style\s*:\s*(?:italic|oblique)", re.IGNORECASE)
_UNDERLINE = re.compile(r"text-decoration[-a-z]*\s*:[^;]*underline", re.IGNORECASE)
_STRIKE = re.compile(r"text-decoration[-a-z]*\s*:[^;]*line-through", re.IGNORECASE)


def read_html(text: str) -> Content:
    """Raises FileProblem for what is too large."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return with_check_lists(reader.builder.finish())


class _Reader(HTMLParser):
    """Walks over the tags. `_open` holds what each open tag has begun, to be ended with it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.builder = ContentBuilder(trim=True)
        self._open: list[tuple[str, list[str]]] = []
        self._lists: list[str] = []
        self._silent = 0
        self._preformatted = 0
        self._quotes = 0
        self._tables = 0

    # Tags

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag in _VOID:
            if not self._silent:
                self._void(tag, values)
            return
        if len(self._open) >= _DEPTH_MAX:
            return
        self._open.append((tag, []))
        if tag in _SILENT:
            self._silent += 1
        if not self._silent:
            self._begin(tag, values)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if all(name != tag for name, _ in self._open):
            return
        while self._open:
            name, marks = self._open.pop()
            if name in _SILENT:
                self._silent -= 1
            for mark in reversed(marks):
                self.builder.end_mark(mark)
            if not self._silent:
                self._end(name)
            if name == tag:
                return

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        if self._preformatted:
            self._preformatted_text(data)
            return
        if not data.strip() and not self.builder.is_open:
            return
        self.builder.flowing(data)

    def _begin(self, tag: str, values: dict[str, str]) -> None:
        builder = self.builder
        if tag in _MARKS and not (tag == "code" and self._preformatted):
            if not (tag == "b" and _NOT_BOLD.search(values.get("style", ""))):
                self._mark(_MARKS[tag])
        elif tag == "a":
            self._mark(LINK, values.get("href", ""))
        elif tag == "mark":
            colour = next((c for c in COLOURS if c in values.get("class", "").split()), "yellow")
            self._mark(HIGHLIGHT, colour)
        elif tag in HEADINGS:
            builder.begin_paragraph(self._look(values, tag))
        elif tag in ("ul", "ol"):
            builder.end_paragraph()
            self._lists.append("number" if tag == "ol" else "bullet")
        elif tag == "li":
            style = self._lists[-1] if self._lists else "bullet"
            indent = bounded_indent(len(self._lists) - 1)
            builder.begin_paragraph(Block(style, indent, self._look(values, "").align))
        elif tag == "blockquote":
            builder.end_paragraph()
            self._quotes += 1
        elif tag == "pre":
            builder.begin_paragraph(self._look(values, CODE_BLOCK))
            self._preformatted += 1
        elif tag in ("table", "tr", "td", "th"):
            self._begin_table_part(tag)
        elif tag in _PARAGRAPHS:
            self._begin_paragraph(tag, values)
        self._style_marks(tag, values.get("style", ""))

    def _begin_paragraph(self, tag: str, values: dict[str, str]) -> None:
        in_item = bool(self._lists) and self._in_item() and not self.builder.in_table
        if in_item and self.builder.is_open:
            return  # the paragraph of an item is the item
        look = self._look(values, QUOTE if self._quotes else "")
        if tag == "p":
            self.builder.begin_paragraph(look)
        else:
            self.builder.end_paragraph()
            self.builder.block = look

    def _in_item(self) -> bool:
        return any(name == "li" for name, _ in self._open)

    def _begin_table_part(self, tag: str) -> None:
        if tag == "table":
            self._tables += 1
            self.builder.begin_table()
        elif self._tables != 1:
            return
        elif tag == "tr":
            self.builder.begin_row()
        elif tag == "th":
            self.builder.header_row()

    def _end(self, tag: str) -> None:
        builder = self.builder
        if tag in ("td", "th") and self._tables == 1:
            builder.end_cell()
        elif tag == "table":
            self._tables -= 1
            if not self._tables:
                builder.end_table()
        elif tag in ("ul", "ol"):
            builder.end_paragraph()
            if self._lists:
                self._lists.pop()
        elif tag == "pre":
            self._preformatted -= 1
            builder.end_paragraph()
        elif tag == "blockquote":
            self._quotes -= 1
            builder.end_paragraph()
        elif tag in HEADINGS or tag == "li" or tag in _PARAGRAPHS:
            builder.end_paragraph()
        if tag in HEADINGS or tag in _PARAGRAPHS or tag in ("pre", "li", "blockquote"):
            builder.block = Block(QUOTE) if self._quotes else Block()

    def _void(self, tag: str, values: dict[str, str]) -> None:
        if tag == "br":
            self.builder.line_break()
        elif tag == "img":
            self._image(values)
        elif tag == "input" and values.get("type", "").lower() == "checkbox":
            block = self.builder.block
            if block.style == "bullet":
                self.builder.block = Block("check", block.indent, block.align, "checked" in values)

    # What tags are about

    def _mark(self, name: str, value: Mark = True) -> None:
        self.builder.begin_mark(name, value)
        self._open[-1][1].append(name)

    def _style_marks(self, tag: str, style: str) -> None:
        """Word processors copy what is bold as a style of a span."""
        if not style or tag not in ("span", "font"):
            return
        for pattern, name in (
            (_BOLD, "bold"),
            (_ITALIC, "italic"),
            (_UNDERLINE, "underline"),
            (_STRIKE, "strike"),
        ):
            if pattern.search(style):
                self._mark(name)

    def _look(self, values: dict[str, str], style: str) -> Block:
        align = _ALIGN.search(values.get("style", ""))
        word = align[1].lower() if align else values.get("align", "").lower()
        indent = _INDENT.search(values.get("class", ""))
        return Block(style, int(indent[1]) if indent else 0, word if word in ALIGNMENTS else "")

    def _preformatted_text(self, data: str) -> None:
        look = self.builder.block
        for number, line in enumerate(data.replace("\r\n", "\n").split("\n")):
            if number:
                self.builder.begin_paragraph(look)
            self.builder.text(line)

    def _image(self, values: dict[str, str]) -> None:
        words = values.get("alt", "")
        data = read_data_image(values.get("src", ""))
        width = values.get("width", "")
        if data:
            self.builder.image(data, int(width) if width.isdecimal() else 0, words)
        elif words:
            self.builder.flowing(words)


def read_data_image(address: str) -> bytes:
    """The bytes of an image that stands in its own address; none of one that would be fetched."""
    found = _DATA_URL.match(address)
    try:
        return base64.b64decode(address[found.end() :], validate=True) if found else b""
    except (binascii.Error, ValueError):
        return b""
