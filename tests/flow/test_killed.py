"""What the window had called saved is there after a kill at any instant."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from app.lone_program import LoneProgram
from app.main import main
from app.players import shown_kinds
from tests.flow.conftest import StartProgram
from tests.flow.program import WAIT_S, Program, wait_for

KILLS = 2


@pytest.fixture
def note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    file = tmp_path / "Team lunch.liveobject"
    assert main(["new", str(file)]) == 0
    return file


def saved_text(program: Program) -> str:
    """The text of the note if the window calls it saved, both of one moment; else nothing."""
    seen = program.describe()
    objects = seen.get("objects", [])
    return str(objects[0]["text"]) if objects and seen["state"].startswith("saved") else ""


def kill(program: Program) -> None:
    program.process.kill()
    program.process.wait(WAIT_S)


def test_a_killed_program_has_lost_nothing_and_opens_what_was_open(
    start_program: StartProgram, note: Path
) -> None:
    ada = start_program("Ada", str(note))
    wait_for("the note is open", lambda: ada.text() == "")
    ada.focus()
    ada.type("before the crash")
    wait_for("all of it is saved", lambda: saved_text(ada) == "before the crash")
    kill(ada)
    again = start_program("Ada")
    wait_for("everything is back", lambda: again.text() == "before the crash")


def test_what_was_called_saved_survives_kills_at_any_instant_and_a_full_disk(
    tmp_path: Path,
) -> None:
    """Objects of all kinds are written in without a pause; nobody else has them."""
    chance = random.Random()  # other instants at each run; they cannot be repeated anyway
    lone = LoneProgram(tmp_path / "alone", shown_kinds(), chance)
    try:
        lone.wait()
        lone.kill_once()
        lone.fill_disk()
        for _ in range(KILLS):
            lone.kill_once()
    finally:
        lone.end()
    assert lone.claims.checked > 0, "what a full disk had refused was saved, and looked for"
    assert not lone.log_errors()
