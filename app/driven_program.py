"""One real program with a profile of its own, driven over its local socket."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from app.instance_client import ask
from app.own_office import join_own_office
from app.paths import find_paths

START_S = 60.0
_POLL_S = 0.005
_END_S = 20.0


class DrivenFailed(Exception):
    """What went wrong, in a sentence."""


def wait_until(what: str, condition: Callable[[], object], limit_s: float) -> float:
    """Waits until the condition gives something true; gives the seconds that it took."""
    start_s = time.monotonic()
    while not condition():
        if time.monotonic() > start_s + limit_s:
            raise DrivenFailed(f"Waited {limit_s:.0f} s in vain that {what}.")
        time.sleep(_POLL_S)
    return time.monotonic() - start_s


class DrivenProgram:
    """Starts at once; it may be killed and started again with the same folder. `before` stands
    before its command: it runs where that says."""

    def __init__(
        self,
        folder: Path,
        name: str,
        *arguments: str,
        before: Sequence[str] = (),
        interface: str = "127.0.0.1",
    ) -> None:
        self.name = name
        self.folder = folder / name
        self._before = before
        self._arguments = ("--interface", interface, *arguments)
        self._socket = find_paths({}, self.folder).socket
        join_own_office(folder, self.folder)
        self.start()

    def start(self) -> None:
        command = [
            *(*self._before, sys.executable, "-m", "app.main", "--driven", "--live"),
            *("--name", self.name, "--state-dir", str(self.folder), *self._arguments),
        ]
        # Without a screen Qt paints into memory, which is as good for what is driven here.
        platform = "xcb" if os.environ.get("DISPLAY") else "offscreen"
        environment = {**os.environ, "QT_QPA_PLATFORM": platform}
        self.process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        return ask(self._socket, request) or {}

    def check_alive(self) -> None:
        if self.process.poll() is not None:
            raise DrivenFailed(f"{self.name} has ended by itself ({self.process.returncode}).")

    def answers(self) -> bool:
        self.check_alive()
        return bool(self.ask({"do": "describe"}))

    def contents(self) -> dict[str, Any]:
        """What the program holds, by the identities of its objects."""
        found: dict[str, Any] = self.ask({"do": "contents"}).get("contents", {})
        return found

    def memory_mb(self) -> float:
        """Memory in use, by the system's account."""
        text = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        line = next(line for line in text.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024

    def cpu_s(self) -> float:
        """Processor time used so far, all threads."""
        stat = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8")
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self.kill()
