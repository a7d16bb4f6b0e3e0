"""Owns the values of formulas: each is worked out when somebody asks, in pieces of bounded work.

Formulas that others depend on come first, by a stack of our own, so a chain of any length is no
danger. What does not fit into one piece of work is pending, and goes on in the next.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Protocol

from liveobj.formulas.errors import CellError, Failed
from liveobj.formulas.functions import FUNCTIONS, joined, number
from liveobj.formulas.parsing import (
    Call,
    Cell,
    Constant,
    Node,
    Operation,
    Range,
    Wrong,
    parse_formula,
    references,
)
from liveobj.formulas.values import Value, literal, shown

RANGE_CELLS_MAX = 250_000


class Pending:
    """The value of what has not been worked out yet."""


class Sheet(Protocol):
    """The cells that formulas read, by identities."""

    @property
    def rows(self) -> list[str]: ...

    @property
    def columns(self) -> list[str]: ...

    def text(self, row: str, column: str) -> str:
        """What is in the cell; empty if nothing is."""

    def row_number(self, row: str) -> int | None: ...

    def column_number(self, column: str) -> int | None: ...


Key = tuple[str, str]


class Evaluator:
    """Gives values of cells. `forget` after the sheet has changed. Attributes: `work_left` of the
    last call."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._values: dict[Key, Value] = {}
        self.work_left = 0
        # What is being worked out, each waiting for the one above it.
        self._stack: list[tuple[Key, Iterator[Key]]] = []
        self._on_stack: set[Key] = set()

    def forget(self) -> None:
        self._values.clear()
        self._stack.clear()
        self._on_stack.clear()

    def value(self, row: str, column: str, work_max: int = 50_000) -> Value | Pending:
        """The value of a cell. About `work_max` cells are looked at before it is left pending; the
        next call goes on from there."""
        text = self._sheet.text(row, column)
        if not text.startswith("="):
            return literal(text)
        key = (row, column)
        self.work_left = work_max
        while key not in self._values and self.work_left > 0:
            if not self._stack:
                self._push(key)
            self._work()
        return self._values[key] if key in self._values else Pending()

    # In which order

    def _push(self, key: Key) -> None:
        self._stack.append((key, self._needs(key)))
        self._on_stack.add(key)

    def _work(self) -> None:
        """Works until the formula at the bottom of the stack has its value, or the work is over."""
        while self._stack and self.work_left > 0:
            key, needs = self._stack[-1]
            self.work_left -= 1
            need = next((each for each in needs if each not in self._values), None)
            if need is None:
                self._stack.pop()
                self._on_stack.discard(key)
                if key not in self._values:
                    self._values[key] = self._evaluate(key)
            elif need in self._on_stack:
                self._mark_cycle(need)
            else:
                self._push(need)

    def _mark_cycle(self, need: Key) -> None:
        for key, _ in reversed(self._stack):
            self._values[key] = CellError.CYCLE
            if key == need:
                return

    def _needs(self, key: Key) -> Iterator[Key]:
        """The formulas whose values this one reads, one after the other."""
        for reference in references(parse_formula(self._sheet.text(*key))):
            try:
                for cell in self._cells(reference):
                    self.work_left -= 1
                    if self._sheet.text(*cell).startswith("="):
                        yield cell
            except Failed:
                continue  # it is met again, and named, when the formula is evaluated

    def _cells(self, reference: Cell | Range) -> Iterator[Key]:
        sheet = self._sheet
        first, last = (
            (reference, reference)
            if isinstance(reference, Cell)
            else (reference.first, reference.last)
        )
        columns = sorted((self._column(first.column), self._column(last.column)))
        rows = [0, len(sheet.rows) - 1]
        if first.row:
            rows = sorted((self._row(first.row), self._row(last.row)))
        width, height = columns[1] - columns[0] + 1, rows[1] - rows[0] + 1
        if width * height > RANGE_CELLS_MAX:
            raise Failed(CellError.LIMIT)
        for row in sheet.rows[rows[0] : rows[1] + 1]:
            for column in sheet.columns[columns[0] : columns[1] + 1]:
                yield row, column

    def _row(self, row: str) -> int:
        found = self._sheet.row_number(row)
        if found is None:
            raise Failed(CellError.REFERENCE)
        return found

    def _column(self, column: str) -> int:
        found = self._sheet.column_number(column)
        if found is None:
            raise Failed(CellError.REFERENCE)
        return found

    # What comes out

    def _evaluate(self, key: Key) -> Value:
        try:
            return self._node(parse_formula(self._sheet.text(*key)))
        except Failed as problem:
            return problem.error
        except (OverflowError, ValueError):
            return CellError.NUMBER

    def _read(self, cell: Key) -> Value:
        text = self._sheet.text(*cell)
        return self._values.get(cell) if text.startswith("=") else literal(text)

    def _node(self, node: Node) -> Value:
        match node:
            case Constant():
                return node.value
            case Wrong():
                raise Failed(node.error)
            case Cell():
                return self._strict(self._read(next(self._cells(node))))
            case Range():
                raise Failed(CellError.VALUE)
            case Operation():
                return self._operation(node)
            case Call():
                return self._call(node)

    def _strict(self, value: Value) -> Value:
        if isinstance(value, CellError):
            raise Failed(value)
        return value

    def _call(self, call: Call) -> Value:
        function = FUNCTIONS.get(call.name)
        if function is None:
            raise Failed(CellError.NAME)
        arguments = [
            [self._read(cell) for cell in self._cells(each)]
            if isinstance(each, Cell | Range)
            else [self._node(each)]
            for each in call.arguments
        ]
        self.work_left -= sum(map(len, arguments))
        return _finite(function(arguments))

    def _operation(self, operation: Operation) -> Value:
        values = [self._node(each) for each in operation.operands]
        match operation.sign:
            case "negative":
                return -number(values[0])
            case "%":
                return number(values[0]) / 100
            case "&":
                return joined([shown(value) for value in values])
            case "=" | "<>" | "<" | ">" | "<=" | ">=":
                return _compare(operation.sign, values[0], values[1])
        return _finite(_arithmetic(operation.sign, number(values[0]), number(values[1])))


def _arithmetic(sign: str, left: float, right: float) -> float:
    match sign:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            if right == 0:
                raise Failed(CellError.DIVISION)
            return left / right
    if left == 0 and right < 0:
        raise Failed(CellError.DIVISION)
    result = left**right
    if isinstance(result, complex):
        raise Failed(CellError.NUMBER)
    return float(result)


def _finite(value: Value) -> Value:
    if isinstance(value, float) and not math.isfinite(value):
        raise Failed(CellError.NUMBER)
    return value


def _rank(value: Value) -> tuple[int, float, str]:
    """Numbers before texts before truths, as other programs have it; blank is nothing and zero."""
    if isinstance(value, bool):
        return 2, float(value), ""
    if isinstance(value, float):
        return 0, value, ""
    return (0, 0.0, "") if value is None else (1, 0.0, shown(value).lower())


def _compare(sign: str, left: Value, right: Value) -> bool:
    if left is None and isinstance(right, str):
        left = ""
    if right is None and isinstance(left, str):
        right = ""
    one, other = _rank(left), _rank(right)
    results = {
        "=": one == other,
        "<>": one != other,
        "<": one < other,
        ">": one > other,
        "<=": one <= other,
        ">=": one >= other,
    }
    return results[sign]
