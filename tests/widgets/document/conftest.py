"""What tests of documents share: two people with one document open, without windows around it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QApplication

from app.event_loop import EventLoop
from liveobj.host import Host, Person
from liveobj.objects.catalogue import DECLARED
from liveobj.objects.rich_document import new_document
from liveobj.opening import Opening
from liveobj.references import Reference
from liveobj.richtext.model import Content
from liveobj.runtime import CannotDereference, Runtime
from tests.app.memory_network import MemoryHub
from widgets.document.document_view import DocumentView
from widgets.kinds import KINDS
from widgets.object_kind import Kinds, ObjectKind
from widgets.object_view import ObjectView
from widgets.theme import Theme

assert DECLARED


class Around:
    """The program around a view, as small as can be; `said` and `shown` are what it was told."""

    def __init__(self, theme: Theme, runtime: Runtime) -> None:
        self.theme = theme
        self.kinds: Kinds = KINDS
        self.runtime = runtime
        self.said: list[str] = []
        self.shown: list[Reference] = []
        self.files: list[Path] = []

    def open(self, reference: Reference) -> Opening:
        return Opening(self.runtime, reference)

    def view(self, opening: Opening) -> ObjectView:
        kind = self.kinds.of(opening.reference)
        if kind is None:
            raise CannotDereference("nothing shows it")
        return kind.view(self, opening)

    def show(self, reference: Reference) -> None:
        self.shown.append(reference)

    def make(self, kind: ObjectKind, title: str = "") -> Reference:
        return kind.make(title, random.Random(title).randbytes)

    def recent(self, _word: str) -> list[tuple[str, Reference]]:
        return []

    def say(self, sentence: str) -> None:
        self.said.append(sentence)

    def ask_for_files(self, _title: str, _filters: str, done: Callable[[list[Path]], None]) -> None:
        done(self.files)

    def ask_where_to_save(
        self, _title: str, _name: str, _filters: str, done: Callable[[Path], None]
    ) -> None:
        done(self.files[0])


class Writer:
    """One person with the document open."""

    def __init__(self, name: str, theme: Theme, host: Host, reference: Reference) -> None:
        self.name = name
        self.around = Around(theme, Runtime(host))
        self.opening = self.around.open(reference)
        view = self.around.view(self.opening)
        assert isinstance(view, DocumentView)
        self.view = view
        view.resize(900, 700)
        view.show()
        view.setFocus()

    def close(self) -> None:
        self.view.close_view()
        self.opening.close()
        self.around.runtime.close()
        self.view.close()
        self.view.deleteLater()


class Desk:
    """Two people with one document open; Ada is at the keyboard."""

    def __init__(self, ada: Writer, jun: Writer, hub: MemoryHub, qtbot: Any) -> None:
        self.ada, self.jun, self.hub, self.qtbot = ada, jun, hub, qtbot
        self.one, self.two = ada.view, jun.view

    def settle(self) -> None:
        self.hub.run()
        for view in (self.one, self.two):
            view.show_newest()
        QApplication.processEvents()

    def contents(self) -> tuple[Content, Content]:
        self.settle()
        return self.one.body.content(), self.two.body.content()

    def type(self, words: str) -> None:
        """Ada types; a line end is the Enter key."""
        for number, line in enumerate(words.split("\n")):
            if number:
                self.qtbot.keyClick(self.one.editor.active, Qt.Key.Key_Return)
            self.qtbot.keyClicks(self.one.editor.active, line)


@pytest.fixture
def desk(qapp: QApplication, theme: Theme, tmp_path: Path, qtbot: Any) -> Iterator[Desk]:
    hub = MemoryHub()
    loop = EventLoop(qapp)
    reference = new_document("Report", random.Random(7).randbytes)

    def writer(name: str) -> Writer:
        person = Person(name, "#006892")
        random_bytes = random.Random(name).randbytes
        host = Host(hub.network(), tmp_path / name, person, loop, random_bytes, lambda: 1.7e9)
        (tmp_path / name).mkdir()
        return Writer(name, theme, host, reference)

    ada, jun = writer("Ada"), writer("Jun")
    ada.view.setFocus()
    desk = Desk(ada, jun, hub, qtbot)
    desk.settle()
    yield desk
    for person in (ada, jun):
        person.close()
    loop.close()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
