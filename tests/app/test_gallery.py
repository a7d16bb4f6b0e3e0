"""The gallery: every kind in the windows of two people, without a network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.main import main
from widgets.kinds import KINDS


def test_a_picture_of_every_kind_light_and_dark_and_sharp(tmp_path: Path) -> None:
    for theme, scale in (("light", "1"), ("dark", "2")):
        command = [sys.executable, "-m", "app.main", "gallery", "--pictures", str(tmp_path)]
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
        result = subprocess.run(
            [*command, "--theme", theme, "--scale", scale],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert result.returncode == 0, result.stderr
    names = {f"{kind.word}-{ending}" for kind in KINDS for ending in ("light-1x", "dark-2x")}
    assert {file.stem for file in tmp_path.glob("*.png")} == names
    sizes = {
        ending: int.from_bytes((tmp_path / f"note-{ending}.png").read_bytes()[16:20], "big")
        for ending in ("light-1x", "dark-2x")
    }
    assert sizes["dark-2x"] == 2 * sizes["light-1x"]


def test_a_kind_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gallery", "nonsense"]) == 2
    assert "is not one of note" in capsys.readouterr().err
