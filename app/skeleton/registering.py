"""Owns how a line is added to a list in Python source: its import in order, its entry at the end.

Only whole lines are inserted, so everything else in the file stays as somebody wrote it.
"""

from __future__ import annotations

import ast


class NotRegistrable(Exception):
    """The source does not have the shape that a line can be added to; the text says what is
    missing."""


def with_import(source: str, module: str, name: str) -> str:
    """The source with `from module import name`, among the imports of the same package and sorted
    by module."""
    package = module.partition(".")[0]
    imports = [
        node
        for node in _parsed(source).body
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == package
    ]
    if not imports:
        raise NotRegistrable(f"no import from {package}")
    later = next((node for node in imports if (node.module or "") > module), None)
    line = imports[-1].end_lineno or 0 if later is None else later.lineno - 1
    return _inserted(source, line, f"from {module} import {name}")


def with_entry(source: str, variable: str, entry: str) -> str:
    """The source with one more entry at the end of the list or tuple that is assigned to a
    variable, one entry a line."""
    elements = _elements(_parsed(source), variable)
    if not elements:
        raise NotRegistrable(f"no list {variable}")
    last = elements[-1]
    return _inserted(source, last.end_lineno or 0, f"{' ' * last.col_offset}{entry},")


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError as problem:
        raise NotRegistrable(f"a mistake in line {problem.lineno}") from None


def _elements(tree: ast.Module, variable: str) -> list[ast.expr]:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign):
            targets = [node.target]
        if not any(isinstance(one, ast.Name) and one.id == variable for one in targets):
            continue
        assert isinstance(node, ast.Assign | ast.AnnAssign)
        value = node.value
        if isinstance(value, ast.Call) and value.args:  # a list that a class is made of
            value = value.args[0]
        if isinstance(value, ast.List | ast.Tuple):
            return value.elts
    return []


def _inserted(source: str, after_line: int, text: str) -> str:
    lines = source.splitlines(keepends=True)
    lines.insert(after_line, f"{text}\n")
    return "".join(lines)
