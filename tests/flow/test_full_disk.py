"""A disk that fills while one writes: the window warns, asks before it ends, and loses nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.main import main
from app.small_disk import SmallDisk
from tests.flow.conftest import StartProgram
from tests.flow.program import ROOT, WAIT_S, take_screen, wait_for

PICTURES = ROOT / "build" / "pictures"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    disk = SmallDisk(tmp_path / "Ada", megabytes=24)
    yield disk
    disk.close()


@pytest.mark.usefixtures("capsys")
def test_a_full_disk_is_warned_of_and_asked_about_and_costs_nothing(
    disk: SmallDisk, start_program: StartProgram, tmp_path: Path
) -> None:
    note = tmp_path / "Plan.liveobject"
    assert main(["new", str(note)]) == 0
    ada = start_program("Ada", str(note))
    wait_for("the note is open", lambda: ada.text() == "")
    ada.focus()
    ada.type("before")
    wait_for("it is saved", lambda: ada.text() == "before" and ada.state().startswith("saved"))

    disk.fill(ada.process.pid)
    ada.type(" and after")
    wait_for("the line warns", lambda: ada.state().startswith("not saved"))
    wait_for("the page warns", lambda: "Not saved: the disk" in ada.front().get("warning", ""))
    take_screen(ada.display, PICTURES / "not-saved.png")  # it can write none itself
    ada.key("ctrl+q")
    wait_for("it asks", lambda: "The disk" in ada.describe()["question"])

    def cancelled() -> bool:
        ada.key("Escape")  # again, until the question has the keyboard
        return bool(ada.describe()["question"] == "")

    wait_for("the question is gone", cancelled)
    assert ada.text() == "before and after"

    disk.free(ada.process.pid)
    wait_for("it is saved by itself", lambda: ada.state().startswith("saved"))
    assert "warning" not in ada.front() or not ada.front()["warning"]
    ada.focus()
    ada.key("ctrl+q")
    assert ada.process.wait(WAIT_S) == 0, "now there is nothing to ask"

    again = start_program("Ada", str(note))
    wait_for("all of it is there", lambda: again.text() == "before and after")
    again.focus()
    disk.fill(again.process.pid)
    again.type("x")
    wait_for("the line warns again", lambda: again.state().startswith("not saved"))
    assert again.quit() == 0, "the end of a session neither asks nor hangs"
