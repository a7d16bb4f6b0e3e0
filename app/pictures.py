"""Makes the pictures of the documentation: two real programs in one note, light and dark, at 2x.

Needs a display, which may be a virtual one, and xdotool to type:

    python installers/virtual_display.py python -m app.pictures assets/pictures
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter, QPainterPath

from app.instance_client import ask
from app.main import main as live_objects
from app.paths import find_paths
from widgets.roles import DARK, LIGHT, Roles

SCALE = 2
WAIT_S = 30.0
WINDOW_SIZE = (760, 560)
_MARGIN = 40
_CORNER = 10
_OVERLAP = 72

TITLE = "Team lunch"
FIRST_WORDS = (
    "Friday, noon, on the terrace.\n\n"
    "Bring something to share:\n"
    "- Ada: lemon cake\n"
    "- Jun: pasta salad and "
)
SECOND_WORDS = "\n\nWho has the big table?"
LAST_WORD = "lemonade"


class Actor:
    """One program with a profile of its own, whose picture can be taken."""

    def __init__(self, folder: Path, name: str, *arguments: str) -> None:
        self.name = name
        self._socket = find_paths({}, folder).socket
        command = [
            *(sys.executable, "-m", "app.main", "--state-dir", str(folder), "--name", name),
            *("--interface", "127.0.0.1", *arguments),
        ]
        environment = {**os.environ, "QT_SCALE_FACTOR": str(SCALE), "QT_QPA_PLATFORM": "xcb"}
        self.process = subprocess.Popen(command, env=environment)
        self.window = self._wait("has a window", self._find_window)

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
            "is at rest", lambda: self._state() == "saved here · 2 people have it · 0 unsent"
        )

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

    def take(self, file: Path) -> QImage:
        if self.ask({"do": "picture", "file": str(file)}) != {"saved": True}:
            raise RuntimeError(f"{self.name} could not write its picture")
        return QImage(str(file))

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


def take_pair(folder: Path, first_theme: str, second_theme: str) -> tuple[QImage, QImage]:
    """Lets two programs write one note together and takes a picture of each."""
    note = folder / f"{TITLE}.liveobject"
    if live_objects(["new", str(note), "--title", TITLE]) != 0:
        raise RuntimeError("the note could not be made")
    size = f"{WINDOW_SIZE[0]}x{WINDOW_SIZE[1]}"
    first = Actor(
        *(folder / "ada", "Ada Lovelace", "--colour", "raspberry"),
        *("--theme", first_theme, "--size", size, str(note)),
    )
    second = Actor(
        *(folder / "jun", "Jun Sato", "--colour", "ocean"),
        *("--theme", second_theme, "--size", size, str(note)),
    )
    try:
        first.wait_note("is not alone", lambda note: len(note.get("people", [])) == 2)
        first.type(FIRST_WORDS)
        second.wait_note("has the words", lambda note: note.get("text") == FIRST_WORDS)
        second.key("ctrl+End")
        second.type(SECOND_WORDS)
        whole = FIRST_WORDS + SECOND_WORDS
        first.wait_note("has the answer", lambda note: note.get("text") == whole)
        # The first caret has stayed where it was, although there is text behind it now.
        first.type(LAST_WORD)
        place = len(FIRST_WORDS + LAST_WORD)
        second.wait_note("sees the caret", lambda note: place in note.get("carets", {}).values())
        first.wait_saved()
        second.wait_saved()
        return first.take(folder / "first.png"), second.take(folder / "second.png")
    finally:
        first.quit()
        second.quit()


def take_home(folder: Path, theme: str) -> QImage:
    """The first page, as a newcomer sees it."""
    size = f"{WINDOW_SIZE[0] + 240}x{WINDOW_SIZE[1] + 100}"
    newcomer = Actor(folder / "new", "Mia", "--theme", theme, "--size", size)
    try:
        newcomer.wait_network()
        return newcomer.take(folder / "home.png")
    finally:
        newcomer.quit()


def compose(first: QImage, second: QImage, roles: Roles) -> QImage:
    """Both windows on one table, the second a little lower and in front of the first."""
    first.setDevicePixelRatio(SCALE)
    second.setDevicePixelRatio(SCALE)
    width, height = WINDOW_SIZE
    total_width = 2 * _MARGIN + 2 * width - _OVERLAP
    total_height = 2 * _MARGIN + height + _OVERLAP
    result = QImage(total_width * SCALE, total_height * SCALE, QImage.Format.Format_RGB32)
    result.setDevicePixelRatio(SCALE)
    result.fill(QColor(roles.sunken))
    painter = QPainter(result)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _draw_window(painter, first, QPointF(_MARGIN, _MARGIN), roles)
    corner = QPointF(_MARGIN + width - _OVERLAP, _MARGIN + _OVERLAP)
    _draw_window(painter, second, corner, roles)
    painter.end()
    return result


def _draw_window(painter: QPainter, image: QImage, corner: QPointF, roles: Roles) -> None:
    frame = QRectF(corner, image.deviceIndependentSize())
    shadow = QColor(roles.shadow)
    painter.setPen(Qt.PenStyle.NoPen)
    for step in range(32, 0, -2):
        shadow.setAlphaF(0.007)
        painter.setBrush(shadow)
        grown = frame.adjusted(-step, -step + 8, step, step + 8)
        painter.drawRoundedRect(grown, _CORNER + step, _CORNER + step)
    shape = QPainterPath()
    shape.addRoundedRect(frame, _CORNER, _CORNER)
    painter.save()
    painter.setClipPath(shape)
    painter.drawImage(corner, image)
    painter.restore()
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QColor(roles.border))
    painter.drawPath(shape)


def main() -> int:
    """Writes two windows in one note and the first page, each light and dark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write the pictures")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    QGuiApplication([])
    for name, roles in (("light", LIGHT), ("dark", DARK)):
        with tempfile.TemporaryDirectory() as scratch:
            first, second = take_pair(Path(scratch), name, name)
            compose(first, second, roles).save(str(folder / f"two-windows-{name}.png"))
            take_home(Path(scratch), name).save(str(folder / f"home-{name}.png"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
