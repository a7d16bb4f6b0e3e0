"""Small live objects that the tests of the runtime run."""

from __future__ import annotations

from liveobj.declare import (
    Declarations,
    Dual,
    ReferenceTo,
    endpoint_type,
    incoming,
    live_object,
    object_type,
    outgoing,
)
from liveobj.declare.objects import DECLARATIONS
from liveobj.objects.standard_types import FolderEndpoint, FolderType
from liveobj.references import Parameterized, Primitive, Reference, Value
from liveobj.runtime import Context, ProxyReference

HERE = Declarations()
for standard in DECLARATIONS:
    HERE.add(standard)


@endpoint_type("test:numbers", provides="reliable, fifo")
class Numbers:
    @incoming
    def ask(self, question: str) -> None: ...

    @outgoing
    def number(self, value: int) -> None: ...


@object_type("test:source-type", into=HERE)
class SourceType:
    numbers: Numbers


@live_object("test:source", title="Source", is_a=(SourceType,), into=HERE)
class Source:
    """Answers every question with the next number."""

    context: Context
    numbers: Numbers
    _log: list[str]

    def __init__(self, start: int = 0) -> None:
        self._value = start
        self._log = []

    @property
    def log(self) -> list[str]:
        return self._log

    def on_start(self) -> None:
        self._log.append("start")

    def on_stop(self) -> None:
        self._log.append("stop")

    def on_sleep(self) -> None:
        self._log.append("sleep")

    def on_hibernate(self) -> None:
        self._log.append("hibernate")

    def on_wake(self) -> None:
        self._log.append("wake")

    def on_numbers_connected(self) -> None:
        self._log.append("connected")

    def on_numbers_disconnected(self) -> None:
        self._log.append("disconnected")

    def on_numbers_ask(self, question: str) -> None:
        if question == "fail":
            raise ValueError("a bad question")
        if question == "lie":
            self.numbers.number("three")  # type: ignore[arg-type]
        if question == "tell":
            self.context.notice("Somebody asked.")
        self.numbers.number(self._value)
        self._value += 1


@live_object("test:sink", title="Sink", into=HERE)
class Sink:
    """Asks once when it is connected, and keeps what it gets."""

    source: Dual[Numbers]

    def __init__(self) -> None:
        self._got: list[int] = []
        self._lost = 0

    @property
    def got(self) -> list[int]:
        return self._got

    @property
    def lost(self) -> int:
        return self._lost

    def on_source_connected(self) -> None:
        self.source.ask("first")

    def on_source_disconnected(self) -> None:
        self._lost += 1

    def on_source_number(self, value: int) -> None:
        self._got.append(value)


@live_object("test:picky", title="Picky", into=HERE)
class Picky:
    """Wants more than a source promises."""

    source: Dual[Numbers]
    _got = 0

    def on_source_number(self, value: int) -> None:
        self._got += value


@live_object("test:broken", title="Broken", into=HERE)
class Broken:
    """Cannot be made."""

    def __init__(self) -> None:
        raise OSError("no such device")


@live_object("test:holder", title="Holder", into=HERE)
class Holder:
    """A template whose parameter is another object, which it runs itself."""

    context: Context

    def __init__(self, source: ReferenceTo[SourceType]) -> None:
        self._reference = source

    def on_start(self) -> None:
        self._source = self.context.dereference(self._reference)

    def on_stop(self) -> None:
        self._source.close()

    @property
    def source(self) -> ProxyReference:
        return self._source


ANSWERS: dict[str, Reference] = {}
OPENED: list[str] = []


@live_object("test:folder", title="Folder", is_a=(FolderType,), into=HERE)
class Folder:
    """Answers from a dictionary of the tests."""

    folder: FolderEndpoint

    def __init__(self, mood: str = "good") -> None:
        self._mood = mood

    def on_start(self) -> None:
        OPENED.append(self._mood)

    def on_folder_get(self, name: str) -> None:
        if self._mood == "silent":
            return
        if self._mood == "failing":
            raise OSError("the disk is gone")
        if name in ANSWERS:
            self.folder.item(name, ANSWERS[name])
        else:
            self.folder.missing(name)


SOURCE = Primitive("test:source")
SINK = Primitive("test:sink")


def folder(mood: str = "good") -> Parameterized:
    return Parameterized(Primitive("test:folder"), {"mood": Value(mood)})
