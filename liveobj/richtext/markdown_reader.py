"""Owns reading Markdown: CommonMark with tables, struck words, items to tick, and simple HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from liveobj.richtext.builder import ContentBuilder, bounded_indent
from liveobj.richtext.html_reader import read_data_image, read_html
from liveobj.richtext.model import (
    CODE_BLOCK,
    COLOURS,
    HIGHLIGHT,
    LINK,
    QUOTE,
    Block,
    Content,
    Embedded,
    Image,
    Paragraph,
    Table,
)

_MARKS = {"strong": "bold", "em": "italic", "s": "strike"}
_BOX = re.compile(r"\[([ xX])\] ?")
_TAG = re.compile(r"<(/?)(u|mark|br)\b([^>]*)>", re.IGNORECASE)
_NESTING_MAX = 100


def read_markdown(text: str) -> Content:
    """Raises FileProblem for what is too large."""
    parser = MarkdownIt("commonmark", {"maxNesting": _NESTING_MAX, "html": True})
    parser.enable(["table", "strikethrough"])
    reader = _Reader()
    reader.read(parser.parse(text))
    return reader.builder.finish()


class _Reader:
    """Walks over the tokens."""

    def __init__(self) -> None:
        self.builder = ContentBuilder(trim=True)
        self._lists: list[str] = []
        self._quotes = 0
        self._fresh_item = False
        self._heading = ""

    def read(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            self._token(token)

    def _token(self, token: Token) -> None:
        kind, builder = token.type, self.builder
        if kind in ("bullet_list_open", "ordered_list_open"):
            self._lists.append("bullet" if kind.startswith("bullet") else "number")
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self._lists.pop()
        elif kind == "list_item_open":
            self._fresh_item = True
        elif kind in ("blockquote_open", "blockquote_close"):
            self._quotes += 1 if kind.endswith("open") else -1
        elif kind == "heading_open":
            builder.begin_paragraph(Block(token.tag))
        elif kind == "paragraph_open":
            self._paragraph()
        elif kind in ("heading_close", "paragraph_close"):
            builder.end_paragraph()
        elif kind == "inline":
            self._inline(token.children or [])
        elif kind in ("fence", "code_block"):
            for line in token.content.removesuffix("\n").split("\n"):
                builder.begin_paragraph(Block(CODE_BLOCK))
                builder.text(line)
            builder.end_paragraph()
        elif kind == "html_block":
            self._html(token.content)
        else:
            self._table(kind)

    def _paragraph(self) -> None:
        block = Block(QUOTE) if self._quotes else Block()
        if self._lists and self._fresh_item:
            block = Block(self._lists[-1], bounded_indent(len(self._lists) - 1))
        elif self._lists:
            block = Block("", bounded_indent(len(self._lists)))
        self.builder.begin_paragraph(block)

    def _table(self, kind: str) -> None:
        if kind == "table_open":
            self.builder.begin_table(header=True)
        elif kind == "tr_open":
            self.builder.begin_row()
        elif kind in ("th_close", "td_close"):
            self.builder.end_cell()
        elif kind == "table_close":
            self.builder.end_table()

    # Words

    def _inline(self, tokens: Sequence[Token]) -> None:
        fresh, self._fresh_item = self._fresh_item, False
        for token in tokens:
            kind = token.type
            if kind == "text":
                self._text(token.content, fresh)
            elif kind in ("softbreak", "hardbreak"):
                self.builder.text(" " if kind == "softbreak" else "\n")
            elif kind == "code_inline":
                self.builder.begin_mark("code")
                self.builder.text(token.content)
                self.builder.end_mark("code")
            elif kind == "link_open":
                self.builder.begin_mark(LINK, str(token.attrGet("href") or ""))
            elif kind == "link_close":
                self.builder.end_mark(LINK)
            elif kind == "image":
                self._image(token)
            elif kind == "html_inline":
                self._tag(token.content)
            elif kind.rpartition("_")[0] in _MARKS:
                mark = _MARKS[kind.rpartition("_")[0]]
                (self.builder.begin_mark if kind.endswith("open") else self.builder.end_mark)(mark)
            fresh = fresh and kind == "text" and not token.content

    def _text(self, text: str, fresh: bool) -> None:
        block = self.builder.block
        box = _BOX.match(text) if fresh and block.style == "bullet" else None
        if box is not None:
            self.builder.block = Block("check", block.indent, block.align, box[1] in "xX")
            text = text[box.end() :]
        self.builder.text(text)

    def _image(self, token: Token) -> None:
        data = read_data_image(str(token.attrGet("src") or ""))
        if data:
            self.builder.image(data, 0, token.content)
        else:
            self.builder.text(token.content)

    def _tag(self, tag: str) -> None:
        found = _TAG.fullmatch(tag)
        if found is None:
            return
        name = found[2].lower()
        if name == "br":
            self.builder.line_break()
            return
        mark = "underline" if name == "u" else HIGHLIGHT
        if found[1]:
            self.builder.end_mark(mark)
        else:
            colour = next((colour for colour in COLOURS if colour in found[3]), "yellow")
            self.builder.begin_mark(mark, True if name == "u" else colour)

    def _html(self, text: str) -> None:
        for part in read_html(text):
            if isinstance(part, Paragraph):
                if part.runs:
                    self.builder.begin_paragraph(part.block)
                    for run in part.runs:
                        for name, mark in run.marks.items():
                            self.builder.begin_mark(name, mark)
                        self.builder.text(run.text)
                        for name in run.marks:
                            self.builder.end_mark(name)
                    self.builder.end_paragraph()
            elif isinstance(part, Image):
                self.builder.image(part.data, part.width, part.words)
            elif isinstance(part, Table):
                self.builder.add_table(part)
            else:
                assert isinstance(part, Embedded), "there is nothing else"
