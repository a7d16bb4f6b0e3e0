"""The virtual screen: it is there, has a window manager, and leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from installers.virtual_display import NoVirtualDisplay, virtual_display
from tests.source_tree import ROOT

PROGRAM = [sys.executable, str(ROOT / "installers" / "virtual_display.py")]


def can_connect(display: str) -> bool:
    command = ["xprop", "-display", display, "-root", "_NET_SUPPORTING_WM_CHECK"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return "window id" in answer.stdout


def test_screen_has_a_window_manager_and_ends() -> None:
    with virtual_display() as display:
        assert can_connect(display)
    assert not can_connect(display)


def test_screens_do_not_collide() -> None:
    with virtual_display() as one, virtual_display() as other:
        assert one != other


def test_screen_ends_when_its_user_fails() -> None:
    with pytest.raises(KeyError), virtual_display() as display:
        raise KeyError
    assert not can_connect(display)


def test_screen_ends_when_its_user_is_killed() -> None:
    script = (
        "import os, signal\n"
        "from installers.virtual_display import virtual_display\n"
        "with virtual_display() as display:\n"
        "    print(display, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    display = result.stdout.strip()
    assert display.startswith(":")
    deadline = time.monotonic() + 10
    while can_connect(display) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not can_connect(display)


def test_missing_program_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoVirtualDisplay, match="Xvfb"), virtual_display():
        pytest.fail("there is no screen")


def test_program_runs_a_command_on_the_screen_and_gives_its_exit_code() -> None:
    script = (
        "import os, sys; print(os.environ['DISPLAY'], os.environ['QT_QPA_PLATFORM']); sys.exit(7)"
    )
    command = [*PROGRAM, sys.executable, "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 7
    display, platform = result.stdout.split()
    assert display.startswith(":")
    assert platform == "xcb"


def test_program_without_a_command_says_how_it_is_called() -> None:
    result = subprocess.run(PROGRAM, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.startswith("usage:")
