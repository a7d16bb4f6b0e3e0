"""A text that is shown inside another one, such as a cell of a table in a document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from liveobj.richtext.rich_text import RichText


@dataclass(frozen=True, slots=True)
class InnerText:
    """`position` is where what holds it stands in the outer text. `show` brings a stretch of it
    into sight and selects it; `selected` is what is selected in it, or None while nobody writes in
    it here."""

    position: int
    rich: RichText
    show: Callable[[int, int], None]
    selected: Callable[[], tuple[int, int] | None]
