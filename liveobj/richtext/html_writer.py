"""Owns writing HTML: one page that needs nothing else, with its images in it."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape

from liveobj.richtext.image_types import mime_type_of
from liveobj.richtext.model import (
    CODE_BLOCK,
    HEADINGS,
    HIGHLIGHT,
    LINE_BREAK,
    LINK,
    LISTS,
    NUMBER,
    QUOTE,
    Block,
    Content,
    Embedded,
    Image,
    Paragraph,
    Part,
    Run,
    Table,
)

_TAGS = {"bold": "strong", "italic": "em", "underline": "u", "strike": "s", "code": "code"}
_PAGE = """<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>{title}</title>
<style>body {{ max-width: 45em; margin: 2em auto; font-family: sans-serif; line-height: 1.45 }}
pre {{ background: #eee; padding: .5em }} table {{ border-collapse: collapse }}
td, th {{ border: 1px solid #bbb; padding: .3em .6em; text-align: left; vertical-align: top }}
blockquote {{ border-left: 3px solid #bbb; margin-left: 0; padding-left: 1em }}
img {{ max-width: 100% }} {indents}
mark.green {{ background: #cdefcb }} mark.blue {{ background: #cfe6fa }}
mark.pink {{ background: #fbd7e6 }} mark.orange {{ background: #ffddbb }}</style>
</head><body>
{body}
</body></html>
"""


def write_html(content: Content, title: str) -> str:
    """A whole page."""
    indents = " ".join(f".indent-{n} {{ margin-left: {2 * n}em }}" for n in range(1, 9))
    return _PAGE.format(title=escape(title), indents=indents, body=write_fragment(content))


def write_fragment(content: Iterable[Part]) -> str:
    """What stands in a page or on the clipboard."""
    writer = _Writer()
    for part in content:
        writer.part(part)
    writer.close_lists()
    writer.close_code()
    return "\n".join(writer.lines)


class _Writer:
    """Keeps what is open: lists in lists, and lines of code that belong together."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._lists: list[str] = []
        self._code: list[str] = []
        self._code_block = Block()

    def part(self, part: Part) -> None:
        block = part.block if isinstance(part, Paragraph) else Block()
        if block.style not in LISTS:
            self.close_lists()
        if block.style != CODE_BLOCK or block != self._code_block:
            self.close_code()
        if isinstance(part, Paragraph):
            self._paragraph(part)
        elif isinstance(part, Table):
            self._table(part)
        elif isinstance(part, Image):
            self._image(part)
        elif isinstance(part, Embedded):
            self.lines.append(f'<p class="live-object">{escape(part.title)}</p>')

    def _paragraph(self, paragraph: Paragraph) -> None:
        block = paragraph.block
        words = write_runs(paragraph.runs, blanks=block.style == CODE_BLOCK)
        if block.style in LISTS:
            self._item(block, words)
        elif block.style == CODE_BLOCK:
            self._code.append(words)
            self._code_block = block
        elif block.style == QUOTE:
            self.lines.append(f"<blockquote><p{_look(block)}>{words or '<br>'}</p></blockquote>")
        else:
            tag = block.style if block.style in HEADINGS else "p"
            self.lines.append(f"<{tag}{_look(block)}>{words or '<br>'}</{tag}>")

    def _item(self, block: Block, words: str) -> None:
        tag = "ol" if block.style == NUMBER else "ul"
        while len(self._lists) > block.indent + 1:
            self.lines.append(f"</{self._lists.pop()}>")
        if len(self._lists) == block.indent + 1 and self._lists[-1] != tag:
            self.lines.append(f"</{self._lists.pop()}>")
        while len(self._lists) < block.indent + 1:
            self._lists.append(tag)
            self.lines.append(f"<{tag}>")
        box = ""
        if block.style == "check":
            box = f'<input type="checkbox" disabled{" checked" if block.done else ""}>'
        align = f' style="text-align: {block.align}"' if block.align else ""
        self.lines.append(f"<li{align}>{box}{words}</li>")

    def close_lists(self) -> None:
        while self._lists:
            self.lines.append(f"</{self._lists.pop()}>")

    def close_code(self) -> None:
        if self._code:
            look = _look(self._code_block)
            self.lines.append(f"<pre{look}>" + "\n".join(self._code) + "</pre>")
            self._code = []
        self._code_block = Block()

    def _table(self, table: Table) -> None:
        self.lines.append("<table>")
        for number, row in enumerate(table.rows):
            tag = "th" if table.header and not number else "td"
            cells = "".join(f"<{tag}>{write_runs(cell)}</{tag}>" for cell in row)
            self.lines.append(f"<tr>{cells}</tr>")
        self.lines.append("</table>")

    def _image(self, image: Image) -> None:
        data = base64.b64encode(image.data).decode()
        width = f' width="{image.width}"' if image.width else ""
        self.lines.append(
            f'<p><img src="data:{mime_type_of(image.data)};base64,{data}"'
            f'{width} alt="{escape(image.words)}"></p>'
        )


def write_runs(runs: Iterable[Run], *, blanks: bool = False) -> str:
    """With `blanks`, they are kept where it stands; elsewhere several would be read as one."""
    return "".join(_write_run(run, blanks) for run in runs)


def _write_run(run: Run, blanks: bool) -> str:
    words = escape(run.text, quote=False).replace(LINE_BREAK, "<br>")
    if not blanks:
        words = words.replace("  ", "\u00a0 ")
    for name, tag in _TAGS.items():
        if name in run.marks:
            words = f"<{tag}>{words}</{tag}>"
    if HIGHLIGHT in run.marks:
        words = f'<mark class="{run.marks[HIGHLIGHT]}">{words}</mark>'
    if LINK in run.marks:
        words = f'<a href="{escape(str(run.marks[LINK]))}">{words}</a>'
    return words


def _look(block: Block) -> str:
    indent = f' class="indent-{block.indent}"' if block.indent else ""
    align = f' style="text-align: {block.align}"' if block.align else ""
    return indent + align
