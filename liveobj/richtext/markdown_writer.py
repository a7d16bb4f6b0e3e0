"""Owns writing Markdown as GitHub and CommonMark read it; what it has no sign for is HTML."""

from __future__ import annotations

import re

from liveobj.richtext.html_writer import write_fragment
from liveobj.richtext.model import (
    CHECK,
    CODE,
    CODE_BLOCK,
    HEADINGS,
    HIGHLIGHT,
    LINE_BREAK,
    LINK,
    LISTS,
    NUMBER,
    QUOTE,
    Content,
    Image,
    Paragraph,
    Part,
    Run,
    Table,
)

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!&])")
_LINE_START = re.compile(r"^(\s*)([-+=]|\d{1,9}[.)])(?=\s|$|[-=])")
_SIGNS = {"strike": "~~", "italic": "*", "bold": "**"}


def write_markdown(content: Content) -> str:
    lines: list[str] = []
    before = ""
    number = 0
    for part in content:
        style = part.block.style if isinstance(part, Paragraph) else "part"
        together = (before in LISTS and style in LISTS) or (before == style == CODE_BLOCK)
        if before == CODE_BLOCK and not together:
            lines.append("```")
        if lines and not together:
            lines.append(">" if before == style == QUOTE else "")
        if style == CODE_BLOCK and before != CODE_BLOCK:
            lines.append("```")
        number = number + 1 if style == NUMBER else 0
        lines += _part(part, max(1, number))
        before = style
    if before == CODE_BLOCK:
        lines.append("```")
    return "\n".join(lines) + "\n"


def _part(part: Part, number: int) -> list[str]:
    if isinstance(part, Paragraph):
        return _paragraph(part, number)
    if isinstance(part, Table) and part.header:
        return _table(part)
    if isinstance(part, Image | Table):
        return [write_fragment([part])]
    return [_escape(part.title)]


def _paragraph(paragraph: Paragraph, number: int) -> list[str]:
    block = paragraph.block
    if block.style == CODE_BLOCK:
        return [paragraph.text.replace(LINE_BREAK, "\n")]
    words = write_runs(paragraph.runs)
    if block.style in HEADINGS:
        return [f"{'#' * int(block.style[1])} {words}"]
    if block.style == QUOTE:
        return ["> " + words.replace("\n", "\n> ")]
    if block.style in LISTS:
        sign = f"{number}." if block.style == NUMBER else "-"
        if block.style == CHECK:
            sign += " [x]" if block.done else " [ ]"
        room = " " * (4 * block.indent)
        return [f"{room}{sign} {words}".replace("\n", f"\n{room}    ")]
    return [_LINE_START.sub(r"\1\\\2", words) if not words[:1].isdigit() else _number(words)]


def _number(words: str) -> str:
    return re.sub(r"^(\d{1,9})([.)])", r"\1\\\2", words)


def write_runs(runs: tuple[Run, ...]) -> str:
    return "".join(_run(run) for run in runs)


def _run(run: Run) -> str:
    if CODE in run.marks:
        words = _code(run.text.replace(LINE_BREAK, " "))
    else:
        words = _escape(run.text).replace(LINE_BREAK, "\\\n")
    # Signs hold words, not the blanks around them.
    start = len(words) - len(words.lstrip(" "))
    end = len(words.rstrip(" "))
    inner = words[start:end]
    if not inner:
        return words
    for name, sign in _SIGNS.items():
        if name in run.marks:
            inner = f"{sign}{inner}{sign}"
    if "underline" in run.marks:
        inner = f"<u>{inner}</u>"
    if HIGHLIGHT in run.marks:
        inner = f'<mark class="{run.marks[HIGHLIGHT]}">{inner}</mark>'
    if LINK in run.marks:
        address = str(run.marks[LINK]).replace("<", "%3C").replace(">", "%3E")
        inner = f"[{inner}](<{address}>)"
    return words[:start] + inner + words[end:]


def _code(text: str) -> str:
    longest = max((len(found) for found in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _table(table: Table) -> list[str]:
    lines = []
    for number, row in enumerate(table.rows):
        cells = (write_runs(cell).replace("\\\n", "<br>") for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
        if not number:
            lines.append("|" + " --- |" * len(row))
    return lines
