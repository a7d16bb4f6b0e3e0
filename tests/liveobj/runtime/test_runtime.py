"""Proxies from references: endpoints, connections, composites, folders, failure, sleep, release."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from liveobj.declare import DeclarationError, Dual
from liveobj.references import (
    Composite,
    Connection,
    Export,
    External,
    NamedType,
    Parameterized,
    Port,
    Primitive,
    Value,
)
from liveobj.runtime import (
    CannotConnect,
    CannotDereference,
    Notice,
    ProxyState,
    Runtime,
    WrongMoment,
)
from liveobj.runtime.life_cycle import TABLE, Stimulus, next_state
from liveobj.runtime.proxy import ProxyReference
from tests.liveobj.runtime import objects_for_tests as made
from tests.liveobj.runtime.objects_for_tests import (
    HERE,
    SINK,
    SOURCE,
    Numbers,
    SourceType,
    folder,
)
from tests.liveobj.support import Clock, LocalNetwork, make_host


class Room:
    def __init__(self, tmp_path: Path) -> None:
        self.clock = Clock()
        self.runtime = Runtime(make_host(LocalNetwork(), 1, tmp_path, self.clock), HERE)
        self.notices: list[Notice] = []
        self.runtime.on_notice(self.notices.append)

    def settle(self) -> None:
        self.clock.advance(0.001)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    made.ANSWERS.clear()
    made.OPENED.clear()
    room = Room(tmp_path)
    yield room
    room.runtime.close()
    room.settle()
    assert room.clock.pending == 0
    assert len(room.runtime.resources) == 0


class Window:
    """A user of a source, as a widget would be."""

    def __init__(self) -> None:
        self.got: list[int] = []
        self.events: list[str] = []

    def number(self, value: int) -> None:
        self.got.append(value)

    def connected(self) -> None:
        self.events.append("connected")

    def disconnected(self) -> None:
        self.events.append("disconnected")


def test_the_table_of_lives_is_complete_and_ends_in_disposed() -> None:
    for state, stimulus in product(ProxyState, Stimulus):
        if (state, stimulus) in TABLE:
            assert next_state(state, stimulus) is TABLE[state, stimulus]
        else:
            with pytest.raises(WrongMoment, match=f"{state.value} cannot {stimulus.value}"):
                next_state(state, stimulus)
    assert not any(state is ProxyState.DISPOSED for state, _ in TABLE)


def test_a_window_talks_to_a_proxy(room: Room) -> None:
    source = room.runtime.dereference(Parameterized(SOURCE, {"start": Value(5)}))
    window = Window()
    mine = room.runtime.new_endpoint(Dual[Numbers], window)
    connection = room.runtime.connect(mine.external, source.endpoint("numbers"))
    mine.send("ask", {"question": "what?"})
    mine.send("ask", {"question": "and?"})
    assert window.got == []
    room.settle()
    assert window.got == [5, 6]
    connection.dispose()
    connection.dispose()
    room.settle()
    assert window.events == ["connected", "disconnected"]
    assert source.instance.log == ["start", "connected", "disconnected"]
    source.close()
    assert source.state is ProxyState.DISPOSED
    assert source.instance.log[-1] == "stop"


def test_events_without_a_connection_are_dropped_and_counted(room: Room) -> None:
    mine = room.runtime.new_endpoint(Dual[Numbers], Window())
    mine.send("ask", {"question": "anybody?"})
    assert mine.dropped_events == 1
    with pytest.raises(TypeError, match="no outgoing event"):
        mine.send("number", {"value": 1})
    with pytest.raises(TypeError, match="'question' is missing"):
        mine.send("ask", {})
    with pytest.raises(DeclarationError, match="has no method number"):
        room.runtime.new_endpoint(Dual[Numbers], object())


def test_a_proxy_lives_as_long_as_it_is_referred_to(room: Room) -> None:
    first = room.runtime.dereference(SOURCE)
    second = first.again()
    first.close()
    first.close()
    assert second.state is ProxyState.RUNNING
    with pytest.raises(WrongMoment):
        first.again()
    second.close()
    assert second.state is ProxyState.DISPOSED
    assert room.runtime.proxies == frozenset()
    with pytest.raises(WrongMoment, match="disposed"):
        second.endpoint("numbers")


def test_a_composite_runs_its_parts_and_shows_what_it_exports(room: Room) -> None:
    reference = Composite(
        {"source": SOURCE, "sink": SINK, "other": SOURCE},
        (Connection(Port("sink", "source"), Port("source", "numbers")),),
        (Export("questions", Port("other", "numbers")),),
    )
    composite = room.runtime.dereference(reference)
    room.settle()
    assert composite.state is ProxyState.RUNNING
    parts = composite.proxy
    assert parts.part("sink").instance.got == [0]  # type: ignore[attr-defined]
    window = Window()
    mine = room.runtime.new_endpoint(Dual[Numbers], window)
    room.runtime.connect(mine.external, composite.endpoint("questions"))
    mine.send("ask", {"question": "?"})
    room.settle()
    assert window.got == [0]
    assert len(room.runtime.proxies) == 4
    composite.close()
    assert room.runtime.proxies == frozenset()
    room.settle()
    assert window.events == ["connected", "disconnected"]


def test_a_failing_proxy_is_contained(room: Room) -> None:
    reference = Composite(
        {"source": SOURCE, "sink": SINK},
        (Connection(Port("sink", "source"), Port("source", "numbers")),),
    )
    composite = room.runtime.dereference(reference)
    room.settle()
    sink = composite.proxy.part("sink")  # type: ignore[attr-defined]
    source = composite.proxy.part("source")  # type: ignore[attr-defined]
    sink.instance.source.ask("fail")
    room.settle()
    assert source.state is ProxyState.FAILED
    assert source.instance.log[-1] == "stop"
    assert sink.state is ProxyState.RUNNING
    assert sink.instance.lost == 1
    assert room.notices == [Notice("'source'", "ValueError: a bad question", serious=True)]
    assert composite.state is ProxyState.RUNNING
    composite.close()


def test_a_proxy_that_sends_something_else_fails_itself_not_its_neighbour(room: Room) -> None:
    source = room.runtime.dereference(SOURCE)
    window = Window()
    mine = room.runtime.new_endpoint(Dual[Numbers], window)
    room.runtime.connect(mine.external, source.endpoint("numbers"))
    mine.send("ask", {"question": "lie"})
    room.settle()
    assert window.got == []
    assert source.state is ProxyState.FAILED
    assert "'three' is not integer" in source.proxy.problem


def test_an_object_can_tell_the_person_something(room: Room) -> None:
    source = room.runtime.dereference(SOURCE)
    mine = room.runtime.new_endpoint(Dual[Numbers], Window())
    room.runtime.connect(mine.external, source.endpoint("numbers"))
    mine.send("ask", {"question": "tell"})
    room.settle()
    assert room.notices == [Notice("'Source'", "Somebody asked.", serious=False)]


def test_an_object_that_cannot_be_made_is_told(room: Room) -> None:
    broken = room.runtime.dereference(Primitive("test:broken"))
    assert broken.state is ProxyState.FAILED
    assert room.notices == [Notice("'Broken'", "OSError: no such device", serious=True)]


def test_a_composite_with_a_part_that_cannot_be_made_does_not_start(room: Room) -> None:
    composite = room.runtime.dereference(
        Composite({"good": SOURCE, "bad": Primitive("test:broken")})
    )
    assert composite.state is ProxyState.FAILED
    assert "'bad': OSError: no such device" in composite.proxy.problem
    composite.close()
    assert room.runtime.proxies == frozenset()


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        (Primitive("test:nowhere"), "is not known here"),
        (Parameterized(SOURCE, {"start": Value("x")}), "text is not an integer"),
        (Parameterized(SOURCE, {"speed": Value(1)}), "There is no parameter 'speed'"),
        (
            Composite(
                {"a": SOURCE, "b": SOURCE},
                (Connection(Port("a", "numbers"), Port("b", "numbers")),),
            ),
            "Endpoint 'numbers' of 'a' sends 'number', which endpoint 'numbers' of 'b' does not",
        ),
        (
            Composite({"a": SOURCE}, (), (Export("x", Port("a", "voice")),)),
            "'a' has no endpoint 'voice'; it has 'numbers'",
        ),
        (Composite({}, (), (Export("x", Port("a", "voice")),)), "There is no component 'a'"),
        (
            External("x", SOURCE, as_type=NamedType("test:source-type")),
            "What 'x' is asked from has no endpoint 'folder'",
        ),
        (
            External("x", folder(), as_type=NamedType("test:unheard-of")),
            "The type 'test:unheard-of' is not known here",
        ),
        (
            Primitive("test:sink", as_type=NamedType("test:source-type")),
            "The object has no endpoint 'numbers'",
        ),
    ],
)
def test_what_is_wrong_is_said_before_anything_starts(
    room: Room, reference: Primitive, words: str
) -> None:
    with pytest.raises(CannotDereference) as caught:
        room.runtime.dereference(reference)
    assert words in str(caught.value)
    assert room.runtime.proxies == frozenset()


def test_an_endpoint_has_one_connection_and_must_match(room: Room) -> None:
    source, other = room.runtime.dereference(SOURCE), room.runtime.dereference(SOURCE)
    mine = room.runtime.new_endpoint(Dual[Numbers], Window())
    room.runtime.connect(mine.external, source.endpoint("numbers"))
    with pytest.raises(CannotConnect, match="is connected already"):
        room.runtime.connect(mine.external, other.endpoint("numbers"))
    with pytest.raises(CannotConnect, match="sends 'number', which"):
        room.runtime.connect(source.endpoint("numbers"), other.endpoint("numbers"))
    with pytest.raises(WrongMoment, match="has no endpoint 'voice'"):
        source.endpoint("voice")


def test_casting_checks_the_type(room: Room) -> None:
    source, sink = room.runtime.dereference(SOURCE), room.runtime.dereference(SINK)
    same = room.runtime.cast(source, SourceType)
    assert same.proxy is source.proxy
    with pytest.raises(CannotDereference, match="'Sink' is not a SourceType"):
        room.runtime.cast(sink, SourceType)


def test_an_object_can_be_the_parameter_of_another(room: Room) -> None:
    holder = room.runtime.dereference(Parameterized(Primitive("test:holder"), {"source": SOURCE}))
    inner = holder.instance.source
    assert inner.state is ProxyState.RUNNING
    holder.close()
    assert inner.state is ProxyState.DISPOSED
    with pytest.raises(CannotDereference, match="the object referred to is of another type"):
        room.runtime.dereference(Parameterized(Primitive("test:holder"), {"source": SINK}))


# Folders

SOURCE_IN_FOLDER = External("numbers", folder(), as_type=NamedType("test:source-type"))


def open_external(room: Room, reference: External) -> ProxyReference:
    proxy = room.runtime.dereference(reference)
    room.settle()
    return proxy


def test_an_external_object_is_asked_for_and_run(room: Room) -> None:
    made.ANSWERS["numbers"] = Parameterized(SOURCE, {"start": Value(7)})
    proxy = room.runtime.dereference(SOURCE_IN_FOLDER)
    assert proxy.state is ProxyState.CONNECTING
    room.settle()
    assert proxy.state is ProxyState.RUNNING
    window = Window()
    mine = room.runtime.new_endpoint(Dual[Numbers], window)
    room.runtime.connect(mine.external, proxy.endpoint("numbers"))
    mine.send("ask", {"question": "?"})
    room.settle()
    assert window.got == [7]
    proxy.close()


def test_what_a_folder_said_is_remembered(room: Room) -> None:
    made.ANSWERS["numbers"] = SOURCE
    open_external(room, SOURCE_IN_FOLDER).close()
    del made.ANSWERS["numbers"]
    again = open_external(room, SOURCE_IN_FOLDER)
    assert again.state is ProxyState.RUNNING
    assert made.OPENED == ["good"]
    room.runtime.repositories.forget_all()
    third = open_external(room, SOURCE_IN_FOLDER)
    assert third.state is ProxyState.FAILED
    assert made.OPENED == ["good"], "the folder itself was still open"


@pytest.mark.parametrize(
    ("mood", "answer", "words"),
    [
        ("good", None, "There is no 'numbers' in the folder"),
        ("good", SINK, "is not what it should be. What was found has no endpoint 'numbers'"),
        ("good", Primitive("test:nowhere"), "cannot be run. The object 'test:nowhere'"),
        ("good", Primitive("test:broken"), "cannot be run. OSError: no such device"),
        ("failing", SOURCE, "has gone away"),
        ("silent", SOURCE, "does not answer"),
    ],
)
def test_a_folder_that_does_not_help_is_told(
    room: Room, mood: str, answer: Primitive | None, words: str
) -> None:
    if answer is not None:
        made.ANSWERS["numbers"] = answer
    reference = External("numbers", folder(mood), as_type=NamedType("test:source-type"))
    proxy = open_external(room, reference)
    room.clock.advance(60)
    assert proxy.state is ProxyState.FAILED
    assert words in proxy.proxy.problem
    proxy.close()


def test_references_in_a_circle_are_noticed(room: Room) -> None:
    first = External("second", folder(), as_type=NamedType("test:source-type"))
    made.ANSWERS["second"] = External("third", folder(), as_type=NamedType("test:source-type"))
    made.ANSWERS["third"] = first
    proxy = open_external(room, first)
    assert proxy.state is ProxyState.FAILED
    assert "refers to itself" in proxy.proxy.problem
    proxy.close()


def test_two_from_one_folder_at_once(room: Room) -> None:
    made.ANSWERS["a"] = made.ANSWERS["b"] = SOURCE
    type_ = NamedType("test:source-type")
    composite = room.runtime.dereference(
        Composite(
            {name: External(name, folder(), as_type=type_) for name in ("a", "b")},
        )
    )
    room.settle()
    assert composite.state is ProxyState.RUNNING
    composite.close()


# Sleep


def test_an_object_that_nobody_looks_at_sleeps_then_leaves_and_wakes(room: Room) -> None:
    composite = room.runtime.dereference(Composite({"source": SOURCE}))
    log = composite.proxy.part("source").instance.log  # type: ignore[attr-defined]
    room.runtime.sleep(composite)
    room.runtime.sleep(composite)
    assert composite.state is ProxyState.ASLEEP
    room.clock.advance(400)
    room.runtime.wake(composite)
    room.runtime.sleep(composite)
    room.runtime.wake(composite)
    room.clock.advance(400)
    assert log == ["start", "sleep", "hibernate", "wake", "sleep", "wake"]
    composite.close()
