"""What tests of the application share: a desk on a network in memory."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication

from app.desk import Around, Desk
from app.event_loop import EventLoop
from app.paths import Paths, find_paths
from app.scope_actions import Meetings
from app.session import Session
from app.settings import SettingsKeeper
from app.window import MainWindow
from liveobj.host import Host, Person
from tests.app.memory_network import MemoryHub
from transport.scopes import NEARBY
from transport.simulated_streams import StreamHub
from widgets.kinds import KINDS
from widgets.note_editor import NoteEditor
from widgets.note_view import NoteView
from widgets.roles import Mode
from widgets.state_words import NetworkWords
from widgets.theme import Theme


@dataclass
class Place:
    """One person's program, without process and sockets."""

    desk: Desk
    window: MainWindow
    session: Session
    paths: Paths
    settings: SettingsKeeper
    quits: list[bool]

    @property
    def editor(self) -> NoteEditor:
        front = self.window.front
        assert front is not None
        view = front.view
        assert isinstance(view, NoteView)
        return view.editor

    def run(self, identity: str) -> bool:
        return self.window.registry.run(identity)


MakePlace = Callable[[str], Place]


@pytest.fixture
def hub() -> MemoryHub:
    return MemoryHub()


@pytest.fixture
def make_place(qapp: QApplication, hub: MemoryHub, tmp_path: Path) -> Iterator[MakePlace]:
    loop = EventLoop(qapp)
    theme = Theme(qapp, Mode.LIGHT)
    contents = StreamHub(loop)
    places: list[Place] = []

    def make(name: str) -> Place:
        paths = find_paths({}, tmp_path / name)
        paths.make()
        person = Person(name, "#006892")
        random_bytes = random.Random(name).randbytes
        streams = contents.streams()
        host = Host(hub.network(), paths.objects, person, loop, random_bytes, streams=streams)
        session = Session(host, paths, KINDS)
        window = MainWindow(theme, KINDS)
        # What one gives the other in a test is not asked about; see test_preview.py for that.
        session.trust.remember_folder(tmp_path)
        settings = SettingsKeeper(paths.settings)
        settings.change(name=name, colour=person.colour, introduced=True)
        quits: list[bool] = []
        around = Around(
            paths,
            settings,
            NetworkWords("Office network: multicast ok", "All is well."),
            Meetings(NEARBY, lambda: "127.0.0.1", loop),
            lambda: quits.append(True),
            lambda: datetime(2026, 11, 16, 9, 30, tzinfo=UTC),
        )
        desk = Desk(session, window, around)
        window.show()
        place = Place(desk, window, session, paths, settings, quits)
        places.append(place)
        return place

    yield make
    for place in places:
        place.desk.close()
        place.session.close_all()
        place.window.close()
        place.window.deleteLater()
    theme.set_mode(Mode.LIGHT)
    theme.deleteLater()
    loop.close()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
