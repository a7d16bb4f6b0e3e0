"""A keeper holds a note while nobody has it open."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

from app.main import main
from tests.flow.conftest import StartProgram
from tests.flow.program import ROOT, WAIT_S, wait_for


def test_who_comes_later_gets_the_note_from_the_keeper(
    start_program: StartProgram, tmp_path: Path
) -> None:
    note = tmp_path / "Minutes.liveobject"
    assert main(["new", str(note)]) == 0
    command = [sys.executable, "-m", "app.main", "keep", str(note), "--interface", "127.0.0.1"]
    keeper = subprocess.Popen(
        [*command, "--state-dir", str(tmp_path / "keeper")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert keeper.stdout is not None
        assert "Minutes.liveobject" in keeper.stdout.readline()
        looked = subprocess.run(
            [sys.executable, "-m", "app.main", "net", "--json", "--state-dir",
             str(tmp_path / "keeper")],
            cwd=ROOT, capture_output=True, text=True, check=True, timeout=WAIT_S,
        )  # fmt: skip
        assert len(json.loads(looked.stdout)["groups"]) == 1
        ada = start_program("Ada", str(note))
        wait_for("the keeper is there", lambda: "2 people" in ada.state())
        ada.focus()
        ada.type("kept for you")
        wait_for("it is there", lambda: ada.text() == "kept for you")
        wait_for("it is with the keeper", lambda: ada.unsent() == 0)
        ada.quit()
        jun = start_program("Jun", str(note))
        wait_for("Jun has it from the keeper", lambda: jun.text() == "kept for you")
    finally:
        keeper.send_signal(signal.SIGTERM)
        assert keeper.wait(WAIT_S) == 0
        keeper.stdout.close()


def test_a_file_that_is_not_there_cannot_be_kept(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "app.main", "keep", str(tmp_path / "none.liveobject")]
    result = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=WAIT_S, check=False
    )
    assert result.returncode == 2
    assert "none.liveobject" in result.stderr
