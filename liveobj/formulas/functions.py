"""Owns the functions that formulas can call. Each gets its arguments as lists of values: a cell or
constant is one of one, a range one of many."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from liveobj.formulas.errors import CellError, Failed
from liveobj.formulas.values import TEXT_CHARACTERS_MAX, Value, number_of, shown

Arguments = Sequence[Sequence[Value]]


def number(value: Value) -> float:
    """What a value counts as where a number is needed."""
    if isinstance(value, CellError):
        raise Failed(value)
    if value is None:
        return 0.0
    if isinstance(value, bool | float):
        return float(value)
    found = number_of(value)
    if found is None:
        raise Failed(CellError.VALUE)
    return found


def truth(value: Value) -> bool:
    if isinstance(value, str) and value.strip().upper() in ("TRUE", "FALSE"):
        return value.strip().upper() == "TRUE"
    return bool(number(value))


def numbers(arguments: Arguments) -> list[float]:
    """The numbers among the values, as SUM takes them: texts and blanks in cells are passed over,
    errors are not."""
    found = []
    for values in arguments:
        for value in values:
            if isinstance(value, CellError):
                raise Failed(value)
            if isinstance(value, float) and not isinstance(value, bool):
                found.append(value)
    return found


def _one(arguments: Arguments, at: int) -> Value:
    if at >= len(arguments) or len(arguments[at]) != 1:
        raise Failed(CellError.VALUE)
    return arguments[at][0]


def _average(arguments: Arguments) -> Value:
    found = numbers(arguments)
    if not found:
        raise Failed(CellError.DIVISION)
    return sum(found) / len(found)


def _count_filled(arguments: Arguments) -> Value:
    return float(sum(1 for values in arguments for value in values if value is not None))


def _round(arguments: Arguments) -> Value:
    digits = int(number(_one(arguments, 1))) if len(arguments) > 1 else 0
    if abs(digits) > 15:
        raise Failed(CellError.NUMBER)
    return float(round(number(_one(arguments, 0)), digits))


def _if(arguments: Arguments) -> Value:
    if truth(_one(arguments, 0)):
        return _one(arguments, 1)
    return _one(arguments, 2) if len(arguments) > 2 else False


def _concat(arguments: Arguments) -> Value:
    pieces = []
    for values in arguments:
        for value in values:
            if isinstance(value, CellError):
                raise Failed(value)
            pieces.append(shown(value))
    return joined(pieces)


def joined(pieces: Sequence[str]) -> str:
    if sum(map(len, pieces)) > TEXT_CHARACTERS_MAX:
        raise Failed(CellError.LIMIT)
    return "".join(pieces)


FUNCTIONS: dict[str, Callable[[Arguments], Value]] = {
    "SUM": lambda arguments: float(sum(numbers(arguments))),
    "AVERAGE": _average,
    "MIN": lambda arguments: min(numbers(arguments), default=0.0),
    "MAX": lambda arguments: max(numbers(arguments), default=0.0),
    "COUNT": lambda arguments: float(len(numbers(arguments))),
    "COUNTA": _count_filled,
    "ABS": lambda arguments: abs(number(_one(arguments, 0))),
    "ROUND": _round,
    "IF": _if,
    "AND": lambda arguments: all(truth(value) for values in arguments for value in values),
    "OR": lambda arguments: any(truth(value) for values in arguments for value in values),
    "NOT": lambda arguments: not truth(_one(arguments, 0)),
    "CONCAT": _concat,
    "LEN": lambda arguments: float(len(shown(_one(arguments, 0)))),
}
