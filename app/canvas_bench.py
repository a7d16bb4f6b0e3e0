"""Measures how long a frame takes while one pans over a desktop with ten thousand objects.

Every object is a note with a reference of its own. At natural size, what one stops at comes alive;
at a quarter and an eighth objects are cards; farther out all are in sight. The network is a
simulated one that stands still: only drawing is measured. Needs a display, which may be a virtual
one:

    python installers/virtual_display.py python -m app.canvas_bench
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from app.desk import Around, Desk
from app.event_loop import EventLoop
from app.paths import find_paths
from app.scope_actions import Meetings
from app.session import Session
from app.settings import SettingsKeeper
from app.window import MainWindow
from liveobj.host import Host, Person
from liveobj.objects.desktop import Placing
from liveobj.objects.desktop_items import Frame
from liveobj.objects.text_note import new_note
from liveobj.references import write_reference
from transport.scopes import NEARBY
from transport.simulation import Simulation
from widgets.desktop.camera import Camera
from widgets.desktop.desktop_view import DesktopView
from widgets.kinds import KINDS
from widgets.roles import Mode
from widgets.state_words import NetworkWords
from widgets.theme import Theme

ITEMS = 10_000
WINDOW = (1600, 900)
_STEP = (360.0, 280.0)
_SIZE = (320.0, 240.0)
_PAUSE_EVERY = 40
_PAUSE_MS = 400
_PAN_PX = (14.0, 9.0)


@dataclass(frozen=True, slots=True)
class Run:
    """All frames at one distance, in milliseconds, sorted: how long each took, and what it took of
    a processor, which other programs on a busy machine change less."""

    name: str
    in_sight: int
    times_ms: list[float]
    cpu_ms: list[float]


def at(times_ms: list[float], share: float) -> float:
    """The median for 0.5; what all but the slowest hundredth keep to for 0.99."""
    return times_ms[min(int(len(times_ms) * share), len(times_ms) - 1)]


def build(folder: Path, theme: Theme, loop: EventLoop) -> tuple[Session, Desk, MainWindow]:
    """A program on a network on which nobody else is."""
    paths = find_paths({}, folder)
    paths.make()
    host = Host(Simulation(1).add_node(), paths.objects, Person("Ada"), loop, os.urandom)
    session = Session(host, paths, KINDS)
    window = MainWindow(theme, KINDS)
    settings = SettingsKeeper(paths.settings)
    settings.change(name="Ada", introduced=True)
    meetings = Meetings(NEARBY, lambda: "127.0.0.1", loop)
    around = Around(paths, settings, NetworkWords("", ""), meetings, lambda: None, datetime.now)
    return session, Desk(session, window, around), window


def fill(view: DesktopView, items: int) -> None:
    """Notes in rows, as many in one as there are rows."""
    side = max(round(items**0.5), 1)
    view.stage.desktop.place_all(
        Placing(
            write_reference(new_note(f"Note {number}", os.urandom)),
            Frame(number % side * _STEP[0], number // side * _STEP[1], *_SIZE),
        )
        for number in range(items)
    )


def pan(view: DesktopView, name: str, camera: Camera, frames: int) -> Run:
    """Pans over the plane and takes the time of each frame: moving, painting, and what the loop
    has to do besides. Every now and then one stops to look, which is not counted."""
    view.stage.look(camera)
    _wait(_PAUSE_MS)
    in_sight = len(view.stage.items_in(view.stage.seen))
    times_ms: list[float] = []
    cpu_ms: list[float] = []
    for number in range(frames):
        if number % _PAUSE_EVERY == _PAUSE_EVERY - 1:
            _wait(_PAUSE_MS)
        # To and fro, so that there is always something in sight.
        turn = 1 if number // _PAUSE_EVERY % 2 == 0 else -1
        start_s, start_cpu_s = time.perf_counter(), time.process_time()
        view.stage.look(view.stage.camera.scrolled(turn * _PAN_PX[0], turn * _PAN_PX[1]))
        view.canvas.repaint()
        QApplication.processEvents()
        times_ms.append((time.perf_counter() - start_s) * 1000)
        cpu_ms.append((time.process_time() - start_cpu_s) * 1000)
    return Run(name, in_sight, sorted(times_ms), sorted(cpu_ms))


def _wait(span_ms: int) -> None:
    waiting = QEventLoop()
    QTimer.singleShot(span_ms, waiting.quit)
    waiting.exec()


def measure(items: int, frames: int) -> list[Run]:
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    loop = EventLoop(application)
    theme = Theme(application, Mode.LIGHT)
    with tempfile.TemporaryDirectory() as folder:
        session, desk, window = build(Path(folder), theme, loop)
        window.resize(*WINDOW)
        window.show()
        desk.new_object(KINDS["desktop"])
        assert window.front is not None
        view = window.front.view
        assert isinstance(view, DesktopView)
        fill(view, items)
        middle = Camera(_STEP[0] * 20, _STEP[1] * 20, 1.0)
        view.show_all()
        _wait(_PAUSE_MS)
        all_in_sight = view.stage.camera
        runs = [
            pan(view, "natural size", middle, frames),
            pan(view, "a quarter", Camera(middle.x, middle.y, 0.25), frames),
            pan(view, "an eighth", Camera(0, 0, 0.126), frames),
            pan(view, "all in sight", all_in_sight, frames),
        ]
        desk.close()
        session.close_all()
        window.close()
    loop.close()
    return runs


def main() -> int:
    """Prints the median and the slowest hundredth of all frames at each distance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=ITEMS, help="how many objects lie there")
    parser.add_argument("--frames", type=int, default=200, help="how many frames at each distance")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    arguments = parser.parse_args()
    runs = measure(arguments.items, arguments.frames)
    if arguments.json:
        figures = {
            run.name: {
                "median_ms": at(run.times_ms, 0.5),
                "p99_ms": at(run.times_ms, 0.99),
                "median_cpu_ms": at(run.cpu_ms, 0.5),
                "p99_cpu_ms": at(run.cpu_ms, 0.99),
            }
            for run in runs
        }
        sys.stdout.write(json.dumps({"items": arguments.items, "frames": figures}) + "\n")
        return 0
    for run in runs:
        sys.stdout.write(
            f"canvas  {arguments.items:,} objects, {run.name} ({run.in_sight:,} in sight):"
            f" {at(run.times_ms, 0.5):.1f} ms a frame, slowest hundredth"
            f" {at(run.times_ms, 0.99):.1f} ms; of a processor {at(run.cpu_ms, 0.5):.1f} and"
            f" {at(run.cpu_ms, 0.99):.1f} ms\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
