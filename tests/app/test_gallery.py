"""The gallery: every kind in the windows of two people, without a network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.main import main
from app.window import WINDOW_SIZE
from widgets.kinds import KINDS


def test_a_picture_of_every_kind_in_sharp_dark(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "app.main", "gallery", "--pictures", str(tmp_path)]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    result = subprocess.run(
        [*command, "--theme", "dark", "--scale", "2"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert {file.stem for file in tmp_path.glob("*.png")} == {f"{k.word}-dark-2x" for k in KINDS}
    width = int.from_bytes((tmp_path / "note-dark-2x.png").read_bytes()[16:20], "big")
    assert width == 2 * WINDOW_SIZE.width()


def test_a_kind_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gallery", "nonsense"]) == 2
    assert "is not one of note" in capsys.readouterr().err
