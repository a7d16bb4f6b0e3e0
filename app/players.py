"""Programs that take part in a soak: each has a window, on no screen, and the same objects open."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from app.driven_program import START_S, DrivenProgram, wait_until
from app.office_wires import INTERFACE, Wires
from liveobj.objects.catalogue import MAKERS
from liveobj.references import write_reference_file


class Player(DrivenProgram):
    """One program with all objects open. Attributes: `cut`, whether it is apart from the others."""

    def __init__(self, number: int, folder: Path, files: list[Path], wires: Wires | None) -> None:
        self._number = number
        self._count = len(files)
        self._wires = wires
        self.cut = False
        opened = [str(file) for file in files]
        if wires is None:
            super().__init__(folder, f"P{number}", *opened)
        else:
            place, name = wires.at(number), f"P{number}"
            super().__init__(folder, name, *opened, before=place, interface=INTERFACE)

    def set_cut(self, cut: bool) -> None:
        """Cuts it off from the others, or joins it to them again."""
        self.cut = cut
        if self._wires is None:
            self.ask({"do": "offline", "on": cut})
        elif cut:
            self._wires.cut(self._number)
        else:
            self._wires.mend(self._number)

    def is_ready(self) -> bool:
        self.check_alive()
        return len(self.contents()) == self._count

    def log_errors(self) -> list[str]:
        log = self.folder / "live-objects.log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        return [line for line in lines if " CRITICAL " in line or " ERROR " in line]

    def start_again(self) -> None:
        """After a kill: starts it and waits for its windows."""
        self.start()
        wait_until(f"{self.name} is back", self.is_ready, START_S)


def make_objects(folder: Path, words: list[str]) -> list[Path]:
    """A new object of each kind."""
    files = []
    for word in words:
        files.append(folder / f"{word}.liveobject")
        write_reference_file(MAKERS[word](word.capitalize(), os.urandom), files[-1])
    return files


def shown_kinds() -> list[str]:
    """The kinds that have a view; asked of another process, as this one has no window."""
    program = (
        "import json; from widgets.kinds import KINDS; print(json.dumps([k.word for k in KINDS]))"
    )
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    answer = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    words: list[str] = json.loads(answer.stdout)
    return [word for word in words if word in MAKERS]
