"""Owns the error of a declaration that is wrong: it is raised when the class is made, at its
line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


class DeclarationError(TypeError):
    """A class that does not declare what its decorator says; `file` and `line` tell where."""

    def __init__(self, sentence: str, where: type | Callable[..., Any] | None = None) -> None:
        self.sentence = sentence
        self.file, self.line = find_line(where)
        prefix = f"{self.file}:{self.line}: " if self.line else ""
        super().__init__(f"{prefix}{sentence}")


def find_line(where: type | Callable[..., Any] | None) -> tuple[str, int]:
    """File and line of a class or function; ("", 0) where the source is not to be had."""
    if where is None:
        return "", 0
    code = getattr(inspect.unwrap(where), "__code__", None)
    if code is not None:
        return str(code.co_filename), int(code.co_firstlineno)
    try:
        file = inspect.getsourcefile(where) or ""
        _, line = inspect.getsourcelines(where)
    except (OSError, TypeError):
        return "", 0
    return file, line
