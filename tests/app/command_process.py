"""A command of the program as the real process that a person starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "app.main", *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def until_line(process: subprocess.Popen[str], beginning: str) -> str:
    """The next line that begins like this; fails when the process has ended before."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(beginning):
            return line
    assert process.stderr is not None
    raise AssertionError(f"never said {beginning!r}: {process.stderr.read()}")


def run(*arguments: str, typed: str = "") -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "app.main", *arguments],
        cwd=ROOT,
        input=typed,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr
