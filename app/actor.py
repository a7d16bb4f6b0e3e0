"""Plays a person: one real program with a profile of its own, typed into and looked at.

For commands that show the program to others (pictures, benchmarks). Needs a display and xdotool.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.instance_client import ask
from app.own_office import join_own_office
from app.paths import find_paths

WAIT_S = 30.0


class Actor:
    """One running program with a profile of its own, on the display of this process."""

    def __init__(self, folder: Path, name: str, *arguments: str, **environment: str) -> None:
        self.name = name
        self._socket = find_paths({}, folder).socket
        join_own_office(folder.parent, folder)
        command = [
            *(sys.executable, "-m", "app.main", "--state-dir", str(folder), "--name", name),
            *("--live", "--interface", "127.0.0.1", *arguments),
        ]
        full = {**os.environ, "QT_QPA_PLATFORM": "xcb", **environment}
        self.process = subprocess.Popen(command, env=full)
        try:
            self.window = self._wait("has a window", self._find_window)
        except RuntimeError:
            self.process.kill()
            raise

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        return ask(self._socket, request) or {}

    def note(self) -> dict[str, Any]:
        """What the program says about its note; nothing while it has none."""
        objects = self.ask({"do": "describe"}).get("objects", [])
        return objects[0] if objects else {}

    def wait_note(self, what: str, condition: Callable[[dict[str, Any]], bool]) -> None:
        self._wait(what, lambda: condition(self.note()))

    def wait_saved(self) -> None:
        self._wait(
            "is at rest", lambda: self._state() == "saved · 2 people here" and not self.unsent()
        )

    def unsent(self) -> int:
        """How many changes of its note the others have not received."""
        return int(self.note().get("shared", {}).get("unsent", 0))

    def wait_network(self) -> None:
        def found() -> bool:
            return "multicast ok" in str(self.ask({"do": "describe"}).get("network"))

        self._wait("has found its network", found)

    def _state(self) -> str:
        return str(self.ask({"do": "describe"}).get("state"))

    def focus(self) -> None:
        def active() -> bool:
            _xdotool("windowactivate", self.window, check=False)
            return str(self.window) == _xdotool("getactivewindow", check=False)

        self._wait("has the keyboard", active)

    def type(self, text: str) -> None:
        self.focus()
        for number, line in enumerate(text.split("\n")):
            if number:
                _xdotool("key", "Return")
            if line:
                _xdotool("type", "--delay", "8", "--", line)

    def key(self, *keys: str) -> None:
        self.focus()
        _xdotool("key", *keys)

    def take(self, file: Path) -> None:
        """Writes a picture of the window."""
        if self.ask({"do": "picture", "file": str(file)}) != {"saved": True}:
            raise RuntimeError(f"{self.name} could not write its picture")

    def cpu_s(self) -> float:
        """Processor time that the process has used so far, all its threads together."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def quit(self) -> None:
        self.process.terminate()
        self.process.wait(WAIT_S)

    def _find_window(self) -> str:
        search = ["search", "--all", "--onlyvisible", "--pid", str(self.process.pid)]
        return _xdotool(*search, "--name", "Live Objects", check=False).split("\n")[0]

    def _wait(self, what: str, condition: Callable[[], Any]) -> Any:
        deadline_s = time.monotonic() + WAIT_S
        while not (result := condition()):
            if time.monotonic() > deadline_s or self.process.poll() is not None:
                raise RuntimeError(f"waited in vain that {self.name} {what}: {self.note()}")
            time.sleep(0.02)
        return result


def _xdotool(*arguments: str, check: bool = True) -> str:
    answer = subprocess.run(
        ["xdotool", *arguments], capture_output=True, text=True, check=check, timeout=WAIT_S
    )
    return answer.stdout.strip()
