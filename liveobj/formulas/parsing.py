"""Owns the reading of formulas in the form in which they are kept: a bounded text into a bounded
tree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from liveobj.formulas.errors import CellError, Failed

FORMULA_CHARACTERS_MAX = 4000
_DEPTH_MAX = 40
_TOKEN = re.compile(
    r"\s*(?:"
    r"(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?)"
    r'|(?P<text>"(?:[^"]|"")*")'
    r"|\{\$?(?P<row>[^{}/$]*)/\$?(?P<column>[^{}/$]*)\}"
    r"|(?P<broken>\#[A-Z0-9/]+[!?])"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_.]*)"
    r"|(?P<sign><=|>=|<>|[-+*/^&=<>%(),;:])"
    r")",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, text or truth written into the formula."""

    value: float | str | bool


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell; an empty row is a whole column, which only a range may have."""

    row: str
    column: str


@dataclass(frozen=True, slots=True)
class Range:
    first: Cell
    last: Cell


@dataclass(frozen=True, slots=True)
class Operation:
    """One or two operands with a sign between, before (`-`) or behind (`%`) them."""

    sign: str
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Wrong:
    """A formula or a part of one that cannot be."""

    error: CellError


Node = Constant | Cell | Range | Operation | Call | Wrong


@lru_cache(maxsize=20_000)
def parse_formula(formula: str) -> Node:
    """The tree of a formula that begins with `=`; `Wrong` if it cannot be read."""
    if len(formula) > FORMULA_CHARACTERS_MAX:
        return Wrong(CellError.LIMIT)
    try:
        return _Parser(formula[1:]).whole()
    except Failed as problem:
        return Wrong(problem.error)


def references(node: Node) -> list[Cell | Range]:
    """Every cell and range that a formula reads."""
    found: list[Cell | Range] = []
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Cell | Range):
            found.append(each)
        elif isinstance(each, Operation):
            waiting += each.operands
        elif isinstance(each, Call):
            waiting += each.arguments
    return found


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0
        self._depth = 0

    def whole(self) -> Node:
        node = self._comparison()
        if self._at < len(self._tokens):
            raise Failed(CellError.SYNTAX)
        return node

    def _sign(self, *wanted: str) -> str:
        """Takes one of the wanted signs, if it is next."""
        if self._at < len(self._tokens):
            kind, value = self._tokens[self._at]
            if kind == "sign" and value in wanted:
                self._at += 1
                return str(value)
        return ""

    def _comparison(self) -> Node:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise Failed(CellError.LIMIT)
        node = self._joined()
        while sign := self._sign("=", "<>", "<", ">", "<=", ">="):
            node = Operation(sign, (node, self._joined()))
        self._depth -= 1
        return node

    def _joined(self) -> Node:
        node = self._sum()
        while self._sign("&"):
            node = Operation("&", (node, self._sum()))
        return node

    def _sum(self) -> Node:
        node = self._product()
        while sign := self._sign("+", "-"):
            node = Operation(sign, (node, self._product()))
        return node

    def _product(self) -> Node:
        node = self._signed()
        while sign := self._sign("*", "/"):
            node = Operation(sign, (node, self._signed()))
        return node

    def _signed(self) -> Node:
        negative = False
        while sign := self._sign("-", "+"):
            negative ^= sign == "-"
        node = self._power()
        return Operation("negative", (node,)) if negative else node

    def _power(self) -> Node:
        node = self._percent()
        while self._sign("^"):
            sign = self._sign("-")
            exponent = self._percent()
            node = Operation("^", (node, Operation("negative", (exponent,)) if sign else exponent))
        return node

    def _percent(self) -> Node:
        node = self._range()
        while self._sign("%"):
            node = Operation("%", (node,))
        return node

    def _range(self) -> Node:
        node = self._primary()
        if not isinstance(node, Cell):
            return node
        if self._sign(":"):
            last = self._primary()
            if not isinstance(last, Cell) or bool(node.row) != bool(last.row):
                return last if isinstance(last, Wrong) else Wrong(CellError.SYNTAX)
            return Range(node, last)
        return node if node.row else Wrong(CellError.SYNTAX)

    def _primary(self) -> Node:
        if self._at >= len(self._tokens):
            raise Failed(CellError.SYNTAX)
        kind, value = self._tokens[self._at]
        self._at += 1
        match kind:
            case "number":
                number = float(str(value))
                return Constant(number)
            case "text":
                return Constant(str(value)[1:-1].replace('""', '"'))
            case "cell":
                assert isinstance(value, Cell)
                return value
            case "broken":
                known = next((each for each in CellError if each.value == value), CellError.SYNTAX)
                return Wrong(known)
            case "name":
                return self._named(str(value).upper())
        if value == "(":
            node = self._comparison()
            if not self._sign(")"):
                raise Failed(CellError.SYNTAX)
            return node
        raise Failed(CellError.SYNTAX)

    def _named(self, name: str) -> Node:
        if not self._sign("("):
            if name in ("TRUE", "FALSE"):
                return Constant(name == "TRUE")
            return Wrong(CellError.NAME)
        arguments: list[Node] = []
        if self._sign(")"):
            return Call(name, ())
        while True:
            arguments.append(self._comparison())
            if self._sign(")"):
                return Call(name, tuple(arguments))
            if not self._sign(",", ";"):
                raise Failed(CellError.SYNTAX)


def _tokens(text: str) -> list[tuple[str, str | Cell]]:
    found: list[tuple[str, str | Cell]] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        token = _TOKEN.match(text, at)
        if token is None:
            raise Failed(CellError.SYNTAX)
        at = token.end()
        if token["column"] is not None:
            found.append(("cell", Cell(token["row"], token["column"])))
        else:
            kind = token.lastgroup or "sign"
            found.append((kind, token[kind]))
    return found
