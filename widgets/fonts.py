"""The program's own typefaces: loads them into Qt once and names them; sizes are in pixels."""

from __future__ import annotations

from enum import IntEnum
from functools import cache

from PySide6.QtGui import QFont, QFontDatabase

import assets

TEXT_FAMILY = "Inter"
CODE_FAMILY = "JetBrains Mono"
LINE_HEIGHT = 1.45


class Size(IntEnum):
    """The five sizes of the program."""

    SMALL = 12
    BASE = 13
    READING = 15
    HEADING = 20
    TITLE = 28


class Weight(IntEnum):
    """The three weights; the file of the strongest is cut at 650."""

    NORMAL = 400
    MEDIUM = 500
    STRONG = 600


@cache
def load_fonts() -> None:
    """Makes the shipped fonts known to Qt, once; to be called after the application was made."""
    for file in assets.font_files():
        if QFontDatabase.addApplicationFont(str(file)) < 0:
            raise RuntimeError(f"The font {file.name} that belongs to the program cannot be read.")


def font(size: int = Size.BASE, weight: int = Weight.NORMAL, family: str = TEXT_FAMILY) -> QFont:
    """A font of the program; without the shipped files Qt falls back to a font of the system."""
    result = QFont(family)
    result.setPixelSize(size)
    result.setWeight(QFont.Weight(weight))
    return result
