"""Every kind of object alone, in the windows of two people on a simulated network: to look at while
one builds it, and for pictures.

The network is the real engine in the simulator, moved by a timer: no socket is opened.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QPoint, QTimer
from PySide6.QtWidgets import QApplication

from app.desk import Around, Desk
from app.event_loop import EventLoop
from app.paths import find_paths
from app.picture_file import save_picture
from app.samples.samples import sample_of
from app.scope_actions import Meetings
from app.session import Session
from app.settings import SettingsKeeper
from app.window import MainWindow
from liveobj.host import Host, Person
from transport.interfaces import Network
from transport.scopes import NEARBY
from transport.simulated_streams import StreamHub
from transport.simulation import Simulation, all_admitted
from transport.whole_file import users_rights
from widgets.kinds import KINDS
from widgets.object_kind import ObjectKind
from widgets.object_view import ObjectView
from widgets.roles import PERSON_COLOURS, Mode
from widgets.state_words import NetworkWords
from widgets.theme import Theme

PEOPLE = ("Ada Lovelace", "Jun Sato")
_STEP_MS = 10
_MEET_S = 30.0
# For a picture, everything that was done must have arrived and be painted.
_PICTURE_TURNS = 60


@dataclass
class Visitor:
    """One of the people in the gallery."""

    desk: Desk
    window: MainWindow
    session: Session


class Gallery:
    """Two desks on one simulated network. Call `close` at the end."""

    def __init__(
        self, application: QApplication, mode: Mode, size: tuple[int, int] | None = None
    ) -> None:
        self._application = application
        self._size = size
        self._loop = EventLoop(application)
        self._folder = tempfile.TemporaryDirectory(prefix="live-objects-gallery-")
        self._simulation = Simulation(seed=1)
        self._contents = StreamHub(self._loop)
        nodes = self._simulation.add_nodes(len(PEOPLE))
        self._simulation.run_until(all_admitted(nodes), _MEET_S)
        self.theme = Theme(application, mode)
        self.visitors = [
            self._visitor(name, node, PERSON_COLOURS[number].light)
            for number, (name, node) in enumerate(zip(PEOPLE, nodes, strict=True))
        ]
        self._timer = QTimer()
        self._timer.timeout.connect(self._step)
        self._timer.start(_STEP_MS)

    def _visitor(self, name: str, node: Network, colour: str) -> Visitor:
        paths = find_paths({}, Path(self._folder.name) / name)
        paths.make()
        person = Person(name, colour)
        chance = random.Random(name)  # noqa: S311  nothing here is secret
        host = Host(
            node,
            paths.objects,
            person,
            self._loop,
            chance.randbytes,
            wall_time=time.time,
            streams=self._contents.streams(),
        )
        session = Session(host, paths, KINDS)
        settings = SettingsKeeper(paths.settings)
        settings.change(name=name, colour=colour, introduced=True)
        window = MainWindow(self.theme, KINDS)
        if self._size is not None:
            window.resize(*self._size)
        words = NetworkWords("Gallery", "This network is simulated; nobody else is in it.")
        meetings = Meetings(NEARBY, lambda: "127.0.0.1", self._loop)
        around = Around(paths, settings, words, meetings, self._application.quit, _local_time)
        return Visitor(Desk(session, window, around), window, session)

    def _step(self) -> None:
        self._simulation.run_for(_STEP_MS / 1000)

    def show(self, kinds: Sequence[ObjectKind]) -> None:
        """Opens a sample of each kind at both desks, and lets both people work in it."""
        first, second = self.visitors
        for number, visitor in enumerate(self.visitors):
            visitor.window.move(QPoint(40 + 640 * number, 40 + 40 * number))
            visitor.window.show()
        for kind in kinds:
            sample = sample_of(kind.word)
            _, file = first.session.make(kind, _local_time(), sample.title)
            first.desk.open_file(file)
            second.desk.open_file(file)
            self._turn()
            views = self.views()
            for number, step in enumerate(sample.steps):
                step(views[number % len(views)])
                self._turn()

    def views(self) -> list[ObjectView]:
        """What each of the people has in front."""
        pages = [visitor.window.front for visitor in self.visitors]
        return [page.view for page in pages if page is not None]

    def run(self) -> None:
        self._loop.run_forever()

    def take_pictures(self, kinds: Sequence[ObjectKind], folder: Path, ending: str) -> list[Path]:
        """A picture of each kind in the window of the first person, alone in it."""
        with users_rights():
            folder.mkdir(parents=True, exist_ok=True)
        taken: list[Path] = []
        for kind in kinds:
            self.show([kind])
            self._rest(sample_of(kind.word).still_s)
            taken.append(folder / f"{kind.word}-{ending}.png")
            save_picture(self.visitors[0].window.picture(), taken[-1])
            for visitor in self.visitors:
                visitor.window.registry.run("object.close")
            self._turn()
        return taken

    def _rest(self, seconds: float) -> None:
        """Lets everything that is painted later be painted, and saves what was done."""
        for view in self.views():
            view.opening.shared.flush()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._turn()

    def _turn(self) -> None:
        for _ in range(_PICTURE_TURNS):
            self._step()
            self._application.processEvents()

    def close(self) -> None:
        self._timer.stop()
        for visitor in self.visitors:
            visitor.desk.close()
            visitor.session.close_all()
            visitor.window.deleteLater()
        self._simulation.close()
        self._loop.close()
        self._folder.cleanup()


def _local_time() -> datetime:
    return datetime.now().astimezone()
