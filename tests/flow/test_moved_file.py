"""A received file is renamed: its object is still in tabs, Recent and search, with its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.instance_client import ask
from app.main import main
from app.paths import find_paths
from tests.flow.conftest import StartProgram
from tests.flow.program import Program, wait_for


def found(program: Program, text: str) -> list[str]:
    """The titles that a search finds."""
    answer = ask(find_paths({}, program.folder).socket, {"do": "search", "text": text}) or {}
    return list(answer.get("found", []))


def test_object_whose_file_was_renamed_is_there_after_the_next_start(
    start_program: StartProgram, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "Shop.liveobject"
    assert main(["new", str(file)]) == 0
    jun = start_program("Jun")
    jun.open(file)
    jun.focus()
    jun.type("bread and butter")
    wait_for("the text is there", lambda: jun.text() == "bread and butter")
    assert jun.quit() == 0
    moved = file.rename(tmp_path / "Moved.liveobject")
    again = start_program("Jun")
    wait_for("the tab is there with its text", lambda: again.text() == "bread and butter")
    described = again.describe()
    assert described["recent"] == ["Shop"]
    assert described["failures"] == []
    assert found(again, "bread") == ["Shop"]
    again.open(moved)
    assert len(again.describe()["objects"]) == 1, "the moved file joins the same tab"
    assert again.quit() == 0
