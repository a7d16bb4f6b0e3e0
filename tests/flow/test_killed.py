"""What the window had called saved is there after a kill at any instant."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from app.driven_program import START_S, wait_until
from app.killing import Claims, kill_once
from app.main import main
from app.soak import Player, make_objects, shown_kinds
from tests.flow.conftest import StartProgram
from tests.flow.program import WAIT_S, Program, wait_for

KILLS = 4


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


def test_what_was_called_saved_survives_a_kill_at_any_instant(tmp_path: Path) -> None:
    """Objects of all kinds are written in without a pause, and killed at four random instants."""
    chance = random.Random()  # other instants at each run; they cannot be repeated anyway
    player = Player(0, tmp_path, make_objects(tmp_path, shown_kinds()), None)
    claims = Claims()

    def again() -> None:
        player.start()
        wait_until("its windows are there", player.is_ready, START_S)

    try:
        wait_until("its windows are there", player.is_ready, START_S)
        for _ in range(KILLS):
            kill_once(player, chance, claims, again)
    finally:
        player.end()
    assert claims.written >= KILLS
    assert not player.log_errors()
