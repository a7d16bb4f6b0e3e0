"""How formatted text looks: marks and blocks as Qt's formats, and back.

Every format carries the marks or the block it was made from, so that reading it back is exact
whatever Qt does with fonts and colours. Nothing here changes a document.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextBlockFormat, QTextCharFormat, QTextFormat

from liveobj.richtext.model import (
    BOLD,
    CODE,
    CODE_BLOCK,
    HEADINGS,
    HIGHLIGHT,
    ITALIC,
    LINK,
    LISTS,
    QUOTE,
    STRIKE,
    UNDERLINE,
    Block,
    Mark,
    Marks,
    read_block,
)
from liveobj.richtext.rich_text import EMBED
from widgets import fonts
from widgets.look import SPACE_PX
from widgets.theme import Theme

_MARKS = QTextFormat.Property.UserProperty.value + 1
_BLOCK = QTextFormat.Property.UserProperty.value + 2
OBJECT_TYPE = QTextFormat.ObjectTypes.UserObject.value + 1

INDENT_PX = 7 * SPACE_PX
# What the fonts' own line height lacks to the one of the program.
_LINE_DISTANCE_PX = 4
_HEADING_DISTANCE_PX = 2
_SIZES = {"h1": fonts.Size.TITLE, "h2": fonts.Size.HEADING}
_SMALL_HEADINGS = ("h4", "h5", "h6")
_ALIGNMENTS = {
    "": Qt.AlignmentFlag.AlignLeft,
    "center": Qt.AlignmentFlag.AlignHCenter,
    "right": Qt.AlignmentFlag.AlignRight,
    "justify": Qt.AlignmentFlag.AlignJustify,
}
# Space above and below, in steps.
_SPACE = {"": (0, 3), "h1": (4, 3), "h2": (5, 2), QUOTE: (0, 3), CODE_BLOCK: (0, 1)}
_HEADING_SPACE = (4, 2)
_ITEM_SPACE = (0, 1)


class RichLook:
    """The formats of one theme; made anew when it changes. In a `compact` one, as in the cells of a
    table, there is no space between paragraphs."""

    def __init__(self, theme: Theme, *, compact: bool = False) -> None:
        self._theme = theme
        self._compact = compact
        self._characters: dict[tuple[str, str], QTextCharFormat] = {}
        self._blocks: dict[Block, QTextBlockFormat] = {}

    def forget(self) -> None:
        """After a change of theme."""
        self._characters.clear()
        self._blocks.clear()

    # To Qt

    def characters(self, marks: Marks, block: Block) -> QTextCharFormat:
        key = json.dumps(marks, sort_keys=True) if marks else ""
        found = self._characters.get((key, block.style))
        if found is None:
            found = self._make_characters(marks, block.style)
            found.setProperty(_MARKS, key)
            self._characters[key, block.style] = found
        return found

    def block(self, block: Block) -> QTextBlockFormat:
        found = self._blocks.get(block)
        if found is None:
            found = self._make_block(block)
            found.setProperty(_BLOCK, json.dumps(asdict(block)))
            self._blocks[block] = found
        return found

    def _make_characters(self, marks: Marks, style: str) -> QTextCharFormat:
        result = QTextCharFormat()
        mono = CODE in marks or style == CODE_BLOCK
        strong = style in HEADINGS or BOLD in marks
        size = _SIZES.get(style, fonts.Size.BASE if mono else fonts.Size.READING)
        if self._compact or style in _SMALL_HEADINGS:
            size = fonts.Size.BASE
        weight = fonts.Weight.STRONG if strong else fonts.Weight.NORMAL
        family = fonts.CODE_FAMILY if mono else fonts.TEXT_FAMILY
        result.setFont(fonts.font(size, weight, family))
        result.setFontItalic(ITALIC in marks or (style == QUOTE and not mono))
        result.setFontUnderline(UNDERLINE in marks or LINK in marks)
        result.setFontStrikeOut(STRIKE in marks)
        result.setForeground(self._theme.colour(_ink(marks, style)))
        if CODE in marks and style != CODE_BLOCK:
            result.setBackground(self._theme.colour("sunken"))
        if HIGHLIGHT in marks:
            result.setBackground(self._theme.colour(f"mark_{marks[HIGHLIGHT]}"))
        if EMBED in marks:
            result.setObjectType(OBJECT_TYPE)
        return result

    def _make_block(self, block: Block) -> QTextBlockFormat:
        result = QTextBlockFormat()
        # A distance and not a factor, or a line with a table in it would grow by half.
        distance = _HEADING_DISTANCE_PX if block.style in HEADINGS else _LINE_DISTANCE_PX
        result.setLineHeight(distance, QTextBlockFormat.LineHeightTypes.LineDistanceHeight.value)
        result.setAlignment(_ALIGNMENTS[block.align])
        hangs = block.style in LISTS or block.style == QUOTE
        result.setLeftMargin((block.indent + hangs) * INDENT_PX)
        if not self._compact:
            usual = _HEADING_SPACE if block.style in HEADINGS else _ITEM_SPACE
            above, below = _SPACE.get(block.style, usual)
            result.setTopMargin(above * SPACE_PX)
            result.setBottomMargin(below * SPACE_PX)
        if block.style == CODE_BLOCK:
            result.setLeftMargin(block.indent * INDENT_PX + 3 * SPACE_PX)
        return result


def _ink(marks: Mapping[str, Mark], style: str) -> str:
    if LINK in marks:
        return "accent"
    return "muted" if style in _SMALL_HEADINGS or style == QUOTE else "text"


# From Qt


def marks_of(characters: QTextCharFormat) -> dict[str, Mark]:
    """The marks that a format was made from; none for one that was not made here."""
    words = characters.property(_MARKS)
    return dict(_read_marks(words)) if isinstance(words, str) and words else {}


def block_of(block: QTextBlockFormat) -> Block:
    """The block that a format was made from."""
    words = block.property(_BLOCK)
    return _read_block(words) if isinstance(words, str) and words else Block()


# A document has thousands of fragments and only some dozens of formats.


@lru_cache(maxsize=4096)
def _read_marks(words: str) -> dict[str, Mark]:
    found: dict[str, Mark] = json.loads(words)
    return found


@lru_cache(maxsize=4096)
def _read_block(words: str) -> Block:
    return read_block(json.loads(words))
