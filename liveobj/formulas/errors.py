"""Owns what a cell shows in place of a value that cannot be."""

from __future__ import annotations

from enum import Enum


class CellError(Enum):
    """As people know them from other programs."""

    SYNTAX = "#ERROR!"
    REFERENCE = "#REF!"
    CYCLE = "#CYCLE!"
    DIVISION = "#DIV/0!"
    VALUE = "#VALUE!"
    NAME = "#NAME?"
    NUMBER = "#NUM!"
    LIMIT = "#LIMIT!"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    CellError.SYNTAX: "This formula cannot be read.",
    CellError.REFERENCE: "The formula refers to a cell that is not there any more.",
    CellError.CYCLE: "The formula depends on its own result.",
    CellError.DIVISION: "The formula divides by zero.",
    CellError.VALUE: "The formula needs a number where there is something else.",
    CellError.NAME: "The formula uses a function that is not known.",
    CellError.NUMBER: "The result is not a number that can be shown.",
    CellError.LIMIT: "The formula asks for too much at once.",
}


class Failed(Exception):
    """Carries an error out of the middle of an evaluation."""

    def __init__(self, error: CellError) -> None:
        super().__init__(error.value)
        self.error = error
