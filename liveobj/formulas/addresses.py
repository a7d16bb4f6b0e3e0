"""Owns the two ways to write a cell: `B3`, as people do, and `{row/column}` by identities, as it is
kept.

A formula that is kept by identities means the same cells wherever they are moved to, and whatever
others insert meanwhile. `$` before a part says that copying the formula elsewhere keeps that part.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from liveobj.formulas.errors import CellError

_TEXT = r'"(?:[^"]|"")*"?'
_A1 = (
    rf"(?P<text>{_TEXT})"
    r"|(?P<columns>\$?[A-Za-z]{1,3}:\$?[A-Za-z]{1,3})(?![A-Za-z0-9_(])"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_.]*(?=\s*\())"
    r"|(?P<cell>\$?[A-Za-z]{1,3}\$?[1-9]\d{0,6})(?![A-Za-z0-9_])"
)
_WRITTEN = re.compile(_A1)
_CELL = re.compile(r"(\$?)([A-Za-z]{1,3})(\$?)([1-9]\d{0,6})")
_KEPT = re.compile(rf"(?P<text>{_TEXT})|\{{(\$?)([^{{}}/$]*)/(\$?)([^{{}}/$]*)\}}")


@dataclass(frozen=True, slots=True)
class Place:
    """A cell by its numbers, from 0; `row` None is a whole column."""

    row: int | None
    column: int
    fixed_row: bool = False
    fixed_column: bool = False


def column_letters(number: int) -> str:
    """0 is A, 26 is AA."""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def column_number(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1


def keep_formula(formula: str, kept: Callable[[Place], str | None]) -> str:
    """A formula as it was typed, in the form in which it is kept; `kept` gives the identities
    `row/column` of a place, or None for one that there cannot be."""

    def one(place: Place) -> str:
        found = kept(place)
        if found is None:
            return CellError.REFERENCE.value
        row, _, column = found.partition("/")
        row_mark = "$" if place.fixed_row else ""
        return f"{{{row_mark}{row}/{'$' if place.fixed_column else ''}{column}}}"

    def replace(found: re.Match[str]) -> str:
        if found["columns"]:
            sides = found["columns"].split(":")
            return ":".join(
                one(Place(None, column_number(side.strip("$")), False, side.startswith("$")))
                for side in sides
            )
        if found["cell"]:
            cell = _CELL.fullmatch(found["cell"])
            assert cell is not None, "it is a part of the larger pattern"
            return one(
                Place(int(cell[4]) - 1, column_number(cell[2]), bool(cell[3]), bool(cell[1]))
            )
        return found[0]

    return _WRITTEN.sub(replace, formula)


def show_formula(
    formula: str, place_of: Callable[[str, str], tuple[int | None, int] | None]
) -> str:
    """A formula as it is kept, in the form that people read; `place_of` gives the numbers of row
    and column identities, or None where they are gone."""

    def replace(found: re.Match[str]) -> str:
        if found["text"]:
            return found[0]
        place = place_of(found[3], found[5])
        if place is None:
            return CellError.REFERENCE.value
        row, column = place
        letters = found[4] + column_letters(column)
        return letters if row is None else f"{letters}{found[2]}{row + 1}"

    return _KEPT.sub(replace, formula)


def map_references(formula: str, change: Callable[[str, str, bool, bool], str]) -> str:
    """The formula with every `{row/column}` replaced by what `change` gives for its row, its
    column, and whether each is fixed."""

    def replace(found: re.Match[str]) -> str:
        if found["text"]:
            return found[0]
        return change(found[3], found[5], bool(found[2]), bool(found[4]))

    return _KEPT.sub(replace, formula)
