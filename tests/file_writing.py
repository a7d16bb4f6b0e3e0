"""Finds the calls in a source file that write files, since there is one way to do so."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_PATH_LIKE = re.compile(r"(?:path|file|part|source|target|database|aside|name)s?$", re.I)
_WRITING_FLAGS = re.compile(r"O_(?:WRONLY|RDWR|CREAT|APPEND|TRUNC)")
_SYSTEM = {"replace", "rename", "renames", "link", "symlink", "truncate", "mkfifo"}
_TEMPORARY = {"mkstemp", "NamedTemporaryFile", "TemporaryFile"}
_COPIES = {"copyfile", "copy", "copy2", "copytree", "move"}
_QT = {"QFile", "QSaveFile", "QTemporaryFile"}


def writes(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each call that writes a file or gives one its name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and _is_writing(node):
            yield node.lineno, ast.unparse(node)[:80]


def _is_writing(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        return function.id in _TEMPORARY | _QT or (function.id == "open" and _writes(call, 1))
    if not isinstance(function, ast.Attribute):
        return False
    base, name = ast.unparse(function.value), function.attr
    if base == "os":
        opens = name == "open" and "os.devnull" not in ast.unparse(call)
        return name in _SYSTEM or (opens and bool(_WRITING_FLAGS.search(ast.unparse(call))))
    if base == "shutil":
        return name in _COPIES
    if name in {"write_text", "write_bytes"} | _TEMPORARY:
        return True
    if name in {"replace", "rename"}:
        named = bool(_PATH_LIKE.search(base))
        return named and len(call.args) == 1 and not call.keywords
    return name == "open" and _writes(call, 0)


def _writes(call: ast.Call, place: int) -> bool:
    """Whether the mode that a file is opened with lets one write."""
    modes = [ast.unparse(each.value) for each in call.keywords if each.arg == "mode"]
    modes += [ast.unparse(each) for each in call.args[place : place + 1]]
    return any(
        re.fullmatch(r"'[rwaxbt+]{1,3}'", mode) and set(mode) & set("wax+") for mode in modes
    )
