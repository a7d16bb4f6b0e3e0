"""Owns values of cells: what a text in a cell means, and how a value is written."""

from __future__ import annotations

import math
import re

from liveobj.formulas.errors import CellError

Value = float | str | bool | CellError | None

TEXT_CHARACTERS_MAX = 32_000
_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d{1,3})?%?", re.ASCII)
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:[,\u00a0\u202f ' ]\d{3})+(?:\.\d+)?%?", re.ASCII)


def number_of(text: str) -> float | None:
    """The number that a person means by a text: `12`, `1.5`, `1,5`, `1,234.5`, `12 %`; None if it
    is not one. One comma with anything but groups of three behind it is a decimal comma."""
    text = text.strip().replace(" %", "%").replace("\u2212", "-")
    if _GROUPED.fullmatch(text) and not re.fullmatch(r"[+-]?\d{1,3},\d{3}%?", text):
        text = re.sub(r"[,\u00a0\u202f ' ]", "", text)
    elif not _NUMBER.fullmatch(text):
        return None
    percent = text.endswith("%")
    number = float(text.removesuffix("%").replace(",", "."))
    if not math.isfinite(number):
        return None
    return number / 100 if percent else number


def literal(text: str) -> Value:
    """The value of a cell without a formula."""
    if not text.strip():
        return None
    number = number_of(text)
    if number is not None:
        return number
    if text.strip().upper() in ("TRUE", "FALSE"):
        return text.strip().upper() == "TRUE"
    return text


def shown(value: Value) -> str:
    """A value as text, in the way that `literal` reads it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, CellError):
        return value.value
    if isinstance(value, float):
        if value == int(value) and abs(value) < 1e15:
            return str(int(value))
        return f"{value:.12g}"
    return value
