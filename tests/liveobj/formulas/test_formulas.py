"""Formulas: what they give, what they refuse, and that nothing they say can do harm."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liveobj.formulas.addresses import (
    column_letters,
    column_number,
    keep_formula,
    show_formula,
)
from liveobj.formulas.errors import CellError
from liveobj.formulas.evaluating import Evaluator, Pending
from liveobj.formulas.parsing import FORMULA_CHARACTERS_MAX, Wrong, parse_formula
from liveobj.formulas.values import literal, number_of, shown


class Grid:
    """A sheet whose identities are its numbers."""

    def __init__(self, rows: list[list[str]]) -> None:
        self.rows = [f"r{number}" for number in range(len(rows))]
        self.columns = [f"c{number}" for number in range(max(map(len, rows), default=0))]
        self._texts = {
            (f"r{r}", f"c{c}"): keep_formula(text, self.kept) if text.startswith("=") else text
            for r, row in enumerate(rows)
            for c, text in enumerate(row)
        }

    def kept(self, place: Any) -> str | None:
        if place.row is not None and place.row >= len(self.rows):
            return None
        if place.column >= len(self.columns):
            return None
        return f"{'' if place.row is None else self.rows[place.row]}/{self.columns[place.column]}"

    def text(self, row: str, column: str) -> str:
        return self._texts.get((row, column), "")

    def row_number(self, row: str) -> int | None:
        return self.rows.index(row) if row in self.rows else None

    def column_number(self, column: str) -> int | None:
        return self.columns.index(column) if column in self.columns else None


def value(formula: str, *rows: list[str]) -> object:
    """What a formula gives below these rows."""
    width = max((len(row) for row in rows), default=1)
    grid = Grid([*rows, [formula, *[""] * (width - 1)]])
    return Evaluator(grid).value(grid.rows[-1], "c0")


NUMBERS = (["1", "10", "x"], ["2", "20", ""], ["3", "30", "TRUE"])


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("=1+2*3", 7.0),
        ("=(1+2)*3", 9.0),
        ("=-2^2", -4.0),
        ("=2^-1", 0.5),
        ("=10%", 0.1),
        ("=7-2-1", 4.0),
        ('="a"&1&"b"', "a1b"),
        ('="say ""hi"""', 'say "hi"'),
        ("=1<2", True),
        ('="B"="b"', True),
        ("=1<>1", False),
        ("=A1+B2", 21.0),
        ("=$A$1+a$2", 3.0),
        ("=SUM(A1:A3)", 6.0),
        ("=SUM(A1:B3)", 66.0),
        ("=SUM(B3:A1)", 66.0),
        ("=SUM(B:B)", 60.0),
        ("=SUM(A1;B1;5)", 16.0),
        ("=AVERAGE(A1:A3)", 2.0),
        ("=MIN(A1:B3)", 1.0),
        ("=max(A1:B3)", 30.0),
        ("=COUNT(A1:C3)", 6.0),
        ("=COUNTA(C1:C3)", 2.0),
        ("=ROUND(10/3,2)", 3.33),
        ("=ABS(-4)", 4.0),
        ('=IF(A1>0,"yes","no")', "yes"),
        ("=AND(C3,A1=1)", True),
        ("=OR(FALSE,NOT(TRUE))", False),
        ("=CONCAT(A1:A3)", "123"),
        ("=LEN(C1)", 1.0),
        ("=C2+1", 1.0),
        ("=", CellError.SYNTAX),
        ("=1+", CellError.SYNTAX),
        ("=(1", CellError.SYNTAX),
        ("=1 2", CellError.SYNTAX),
        ("=SUM(A1:A3", CellError.SYNTAX),
        ("=A1:A3", CellError.VALUE),
        ("=C1+1", CellError.VALUE),
        ("=1/0", CellError.DIVISION),
        ("=0^-1", CellError.DIVISION),
        ("=AVERAGE(C2)", CellError.DIVISION),
        ("=(-8)^0.5", CellError.NUMBER),
        ("=10^400", CellError.NUMBER),
        ("=9^9^9^9", CellError.NUMBER),
        ("=Z99", CellError.REFERENCE),
        ("=SUM(A1:Z99)", CellError.REFERENCE),
        ("=EVAL(1)", CellError.NAME),
        ("=__import__", CellError.NAME),
        ("=nonsense", CellError.NAME),
        ("=A4", CellError.CYCLE),
        ("=SUM(A:A)", CellError.CYCLE),
        ("=SUM(A1,1/0)", CellError.DIVISION),
        ("=" + "(" * 60 + "1" + ")" * 60, CellError.LIMIT),
        ("=" + "1+" * FORMULA_CHARACTERS_MAX + "1", CellError.LIMIT),
    ],
)
def test_what_formulas_give(formula: str, expected: object) -> None:
    found = value(formula, *NUMBERS)
    assert found == expected
    assert type(found) is type(expected)


def test_a_cycle_is_named_at_all_who_are_in_it_or_depend_on_it() -> None:
    grid = Grid([["=B1", "=C1", "=A1", "=A1+1", "5", "=E1+1"]])
    evaluator = Evaluator(grid)
    values = [evaluator.value("r0", column) for column in grid.columns]
    assert values == [CellError.CYCLE] * 4 + [5.0, 6.0]


def test_a_long_chain_is_worked_out_in_pieces() -> None:
    rows = [["1"], *([f"=A{number}+1"] for number in range(1, 3000))]
    grid = Grid(rows)
    evaluator = Evaluator(grid)
    turns = 0
    while isinstance(found := evaluator.value("r2999", "c0", 500), Pending):
        turns += 1
        assert turns < 100
    assert found == 3000.0
    assert turns > 3


def test_formulas_over_formulas_do_not_hold_up_a_turn() -> None:
    """Every cell of one column sums all of another, whose cells sum all of a third."""
    height = 300
    row = ["=SUM(B:B)", "=SUM(C:C)", "1"]
    grid = Grid([list(row) for _ in range(height)])
    evaluator = Evaluator(grid)
    started = time.perf_counter()
    assert isinstance(evaluator.value("r0", "c0", 2000), Pending)
    assert time.perf_counter() - started < 1
    while isinstance(found := evaluator.value("r0", "c0", 20_000), Pending):
        pass
    assert found == float(height * height)


CHARACTERS = st.sampled_from([*'=+-*/^&<>%(),;:"$ 019.aAbZ_#{}/e', "SUM", "{r0/c0}", "#REF!"])


@given(st.lists(CHARACTERS, max_size=30))
def test_whatever_is_typed_gives_a_value_or_an_error(pieces: list[str]) -> None:
    formula = "=" + "".join(pieces)
    found = value(formula, *NUMBERS)
    assert found is None or isinstance(found, float | str | bool | CellError)
    assert isinstance(parse_formula(formula), object)


@given(st.lists(CHARACTERS, max_size=20))
def test_what_is_kept_means_the_same_when_it_is_shown_and_kept_again(pieces: list[str]) -> None:
    grid = Grid([["1", "2"], ["3", "4"]])

    def place_of(row: str, column: str) -> tuple[int | None, int] | None:
        column_at, row_at = grid.column_number(column), grid.row_number(row)
        if column_at is None or (row and row_at is None):
            return None
        return row_at, column_at

    kept = keep_formula("=" + "".join(pieces).replace("{", "").replace("}", ""), grid.kept)
    again = keep_formula(show_formula(kept, place_of), grid.kept)
    assert show_formula(again, place_of) == show_formula(kept, place_of)


@pytest.mark.parametrize("number", [0, 1, 25, 26, 27, 701, 702, 18277])
def test_letters_of_columns_are_read_back(number: int) -> None:
    assert column_number(column_letters(number)) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12.0),
        (" 1.5 ", 1.5),
        ("1,5", 1.5),
        ("1,234.5", 1234.5),
        ("1 234 567", 1234567.0),
        ("-3e2", -300.0),
        ("12 %", 0.12),
        ("\u22125", -5.0),
        ("", None),
        ("1.2.3", None),
        ("2026-11-16", None),
        ("1e999", None),
        ("nan", None),
        ("٣", None),
    ],
)
def test_numbers_as_people_write_them(text: str, number: float | None) -> None:
    assert number_of(text) == number


@given(st.floats(allow_nan=False, allow_infinity=False, width=32) | st.booleans())
def test_a_value_is_read_back_from_how_it_is_shown(number: float | bool) -> None:
    found = literal(shown(number if isinstance(number, bool) else float(number)))
    if isinstance(number, bool):
        assert found is number
    else:
        assert found == pytest.approx(number, rel=1e-9, abs=1e-300)


def test_a_formula_that_cannot_be_read_is_a_tree_that_says_so() -> None:
    assert parse_formula("=1+") == Wrong(CellError.SYNTAX)
