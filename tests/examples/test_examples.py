"""Every example runs as its page says, and gives what it promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from examples import messages, shared_note
from tests.source_tree import ROOT, files

EXAMPLES = sorted(
    path.stem for path in files(".py", under=ROOT / "examples") if path.stem != "__init__"
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_as_a_program(name: str) -> None:
    command = [sys.executable, "-m", f"examples.{name}"]
    done = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip()


def test_the_page_names_every_example() -> None:
    page = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert [name for name in EXAMPLES if f"[{name}.py]({name}.py)" not in page] == []


def test_lost_packets_change_neither_content_nor_order() -> None:
    expected = [b"message %d" % number for number in range(messages.MESSAGES)]
    assert messages.run(loss=0.4, seed=7) == expected


def test_what_was_written_apart_is_in_the_merged_note(tmp_path: Path) -> None:
    lines = shared_note.run(tmp_path, seed=3).splitlines()
    assert sorted(lines) == ["apples", "bread", "cheese"]
