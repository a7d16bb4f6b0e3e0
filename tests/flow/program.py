"""Drives real processes of the program on a virtual display, as a person with a keyboard would."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from app.instance_client import ask
from app.paths import find_paths
from installers.virtual_display import environment_on

ROOT = Path(__file__).resolve().parents[2]
WAIT_S = 30.0
POLL_S = 0.02

T = TypeVar("T")


def wait_for(what: str, condition: Callable[[], T]) -> T:
    """Waits until the condition gives something true; fails with `what` after the deadline."""
    deadline_s = time.monotonic() + WAIT_S
    while not (result := condition()):
        if time.monotonic() > deadline_s:
            raise AssertionError(f"waited {WAIT_S:.0f} s in vain: {what}")
        time.sleep(POLL_S)
    return result


def take_screen(display: str, file: Path) -> None:
    """Writes a picture of the whole screen, by a program of its own."""
    file.parent.mkdir(parents=True, exist_ok=True)
    program = (
        "import sys; from PySide6.QtGui import QGuiApplication; app = QGuiApplication([]);"
        "sys.exit(not app.primaryScreen().grabWindow(0).save(sys.argv[1]))"
    )
    command = [sys.executable, "-c", program, str(file)]
    subprocess.run(command, env=environment_on(display), check=True, timeout=WAIT_S)


def xdotool(environment: dict[str, str], *arguments: str, check: bool = True) -> str:
    answer = subprocess.run(
        ["xdotool", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=check,
        timeout=WAIT_S,
    )
    return answer.stdout.strip()


def find_window(environment: dict[str, str], process_id: int) -> str:
    """The window of a program; empty while it has none."""
    search = ("search", "--all", "--onlyvisible", "--pid", str(process_id))
    found = xdotool(environment, *search, "--name", "Live Objects", check=False)
    return found.split("\n")[0].strip()


class Program:
    """One running program with a profile of its own."""

    def __init__(self, display: str, folder: Path, name: str, *arguments: str) -> None:
        self.display = display
        self._environment = environment_on(display)
        self._socket = find_paths({}, folder).socket
        self.folder = folder
        self.name = name
        command = [
            *(sys.executable, "-m", "app.main", "--state-dir", str(folder), "--name", name),
            *("--live", "--interface", "127.0.0.1", *arguments),
        ]
        self.process = subprocess.Popen(
            command, env=self._environment, cwd=ROOT, stderr=subprocess.PIPE, text=True
        )
        self.window = wait_for(f"the window of {name}", self._find_window)

    def describe(self) -> dict[str, Any]:
        """What the program shows, as it says itself."""
        self._check_alive()
        return ask(self._socket, {"do": "describe"}) or {}

    def open(self, file: Path) -> None:
        """Opens a file as a later start would, and goes live."""
        request = {"do": "open", "files": [str(file)], "live": True}
        assert ask(self._socket, request) == {"opened": 1}

    def text(self) -> str | None:
        """The text of the note in front."""
        for entry in self.describe().get("objects", []):
            if entry["in_front"]:
                return str(entry["text"])
        return None

    def carets(self) -> dict[str, int]:
        """Where the others are in the note in front."""
        for entry in self.describe().get("objects", []):
            if entry["in_front"]:
                return dict(entry["carets"])
        return {}

    def state(self) -> str:
        return str(self.describe().get("state", ""))

    def unsent(self) -> int:
        """How many changes of the object in front the others have not received; -1 at home."""
        return int(self.front().get("shared", {}).get("unsent", -1))

    def picture(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        assert ask(self._socket, {"do": "picture", "file": str(file)}) == {"saved": True}

    def focus(self) -> None:
        """Gives the window the keyboard; the window manager may need to be asked twice."""
        wait_for(f"{self.name} has the keyboard", self._has_focus)

    def _has_focus(self) -> bool:
        self.xdotool("windowactivate", self.window, check=False)
        return self.xdotool("getactivewindow", check=False) == self.window

    def type(self, text: str) -> None:
        """Types into whatever window has the keyboard; call `focus` first."""
        self.xdotool("type", "--delay", "8", "--", text)

    def start_typing(self, text: str) -> subprocess.Popen[bytes]:
        """Begins to type into this window, whoever has the keyboard; wait for what it returns."""
        return subprocess.Popen(
            ["xdotool", "type", "--delay", "15", "--window", self.window, text],
            env=self._environment,
        )

    def key(self, *keys: str) -> None:
        self.xdotool("key", *keys)

    def front(self) -> dict[str, Any]:
        """What the program says of the object in front; nothing while there is none."""
        objects = self.describe().get("objects", [])
        return next((entry for entry in objects if entry["in_front"]), {})

    def click(self, x: int, y: int) -> None:
        """One click at a place of the screen."""
        self.xdotool("mousemove", str(x), str(y), "sleep", "0.05", "click", "1")

    def drag(
        self, start: tuple[int, int], end: tuple[int, int], before_release: Callable[[], Any]
    ) -> None:
        """Presses, moves as a hand does, waits for `before_release` to return, and lets go."""
        self.xdotool("mousemove", *map(str, start), "sleep", "0.05", "mousedown", "1")
        steps = 8
        for step in range(1, steps + 1):
            x = start[0] + (end[0] - start[0]) * step // steps
            y = start[1] + (end[1] - start[1]) * step // steps
            self.xdotool("mousemove", str(x), str(y), "sleep", "0.03")
        try:
            before_release()
        finally:
            self.xdotool("mouseup", "1")

    def move(self, x: int, y: int, width: int, height: int) -> None:
        self.xdotool("windowsize", "--sync", self.window, str(width), str(height))
        self.xdotool("windowmove", self.window, str(x), str(y))

    def xdotool(self, *arguments: str, check: bool = True) -> str:
        return xdotool(self._environment, *arguments, check=check)

    def cpu_s(self) -> float:
        """Processor time that the process has used so far, all threads."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def quit(self) -> int:
        """Ends the program as its window's closing would; gives the exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.communicate(timeout=WAIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode

    def _find_window(self) -> str:
        self._check_alive()
        return find_window(self._environment, self.process.pid)

    def _check_alive(self) -> None:
        if self.process.poll() is not None:
            output = self.process.stderr.read() if self.process.stderr else ""
            raise AssertionError(f"{self.name} has ended ({self.process.returncode}): {output}")
