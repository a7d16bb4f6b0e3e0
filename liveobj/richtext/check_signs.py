"""Owns items to tick in formats that know none: a box at the start of the words."""

from __future__ import annotations

from dataclasses import replace

from liveobj.richtext.model import CHECK, Content, Paragraph, Part, Run

OPEN, DONE = "\u2610 ", "\u2611 "


def box_of(paragraph: Paragraph) -> str:
    """The box to be written before the words of an item."""
    return DONE if paragraph.block.done else OPEN


def with_check_lists(content: Content) -> Content:
    """Paragraphs that begin with a box become items to tick."""
    return tuple(_read(part) for part in content)


def _read(part: Part) -> Part:
    if not isinstance(part, Paragraph) or not part.runs or part.block.style not in ("", "bullet"):
        return part
    first = part.runs[0]
    if not first.text.startswith((OPEN, DONE)):
        return part
    done = first.text.startswith(DONE)
    rest = (Run(first.text[len(OPEN) :], first.marks),) if len(first.text) > len(OPEN) else ()
    return Paragraph(rest + part.runs[1:], replace(part.block, style=CHECK, done=done))
