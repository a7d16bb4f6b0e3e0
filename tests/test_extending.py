"""The page about extending the program tells the truth: its files, lines and commands exist."""

from __future__ import annotations

import re

import pytest

from app.command_line import PROGRAM
from app.commands import COMMANDS
from app.skeleton.kind_names import name_kind
from app.skeleton.writing import plan_kind
from tests.source_tree import ROOT

# The page calls its kind todo-list. Somebody may add one of that name, so it has another one here.
NAMES = name_kind("told-on-the-page", "", "", "", "box")
TOLD = name_kind("todo-list", "", "", "", "box")
PAGE = (
    (ROOT / "docs" / "extending.md")
    .read_text(encoding="utf-8")
    .replace(TOLD.word, NAMES.word)
    .replace(TOLD.module, NAMES.module)
    .replace(TOLD.class_name, NAMES.class_name)
)
CODE = re.findall(r"`([^`\n]+)`", PAGE)
COMMAND_LINES = re.findall(r"^    (.+)$", PAGE, flags=re.M)


def is_path(code: str) -> bool:
    return bool(re.fullmatch(r"[\w./-]*/[\w./-]*|[\w-]+\.md", code))


def is_new(path: str) -> bool:
    return NAMES.word in path or NAMES.module in path or "NAME" in path


def test_the_files_of_a_new_kind_are_those_that_the_command_writes() -> None:
    named = {code for code in CODE if is_path(code) and is_new(code) and "NAME" not in code}
    assert named == set(plan_kind(ROOT, NAMES).new)


def test_the_lines_of_a_new_kind_are_those_that_the_command_adds() -> None:
    changed = plan_kind(ROOT, NAMES).changed
    for file, text in changed.items():
        rows = [row for row in PAGE.splitlines() if row.startswith(f"| `{file}`")]
        added = set(text.splitlines()) - set((ROOT / file).read_text("utf-8").splitlines())
        entry = next(line.strip().rstrip(",") for line in added if "import" not in line)
        assert any(f"`{entry}`" in row for row in rows), f"{entry} in {file}"


@pytest.mark.parametrize(
    "path", sorted({code for code in CODE if is_path(code) and not is_new(code)})
)
def test_other_files_that_are_named_exist(path: str) -> None:
    assert (ROOT / path).exists()


def test_the_commands_that_are_named_exist() -> None:
    lines = [*COMMAND_LINES, *CODE]
    named = {m[1] for line in lines for m in re.finditer(rf"\b{PROGRAM} ([a-z][\w-]*)", line)}
    assert {"new-kind", "gallery", "new"} <= named <= set(COMMANDS)
