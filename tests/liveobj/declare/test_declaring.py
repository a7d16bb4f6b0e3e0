"""Declaring endpoints and objects as classes: what is read, what is refused and where."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

import pytest

from liveobj.declare import (
    DeclarationError,
    Declarations,
    Dual,
    ReferenceTo,
    cast_endpoint,
    endpoint_type,
    incoming,
    live_object,
    object_type,
    outgoing,
    reflect_endpoint,
    reflect_object,
)
from liveobj.declare.hints import BadHint, conversion, why_not_conforming
from liveobj.declare.objects import same_type
from liveobj.references import Primitive, Reference
from liveobj.types import (
    ANY,
    BOOLEAN,
    BYTES,
    INTEGER,
    NOTHING,
    NUMBER,
    TEXT,
    Field,
    ListType,
    MapType,
    Named,
    OptionalType,
    RecordType,
    ReferenceType,
    ValueType,
    dual,
    is_object_subtype,
    matches,
)
from liveobj.types.values import TypeVariable, record

Message = TypeVar("Message")
HERE = Declarations()


@dataclass(frozen=True)
class Stamp:
    at: float
    zone: str = "UTC"


@endpoint_type("example.com:channel", provides="reliable, fifo", requires="connect precedes send")
class Channel:
    """A channel."""

    @incoming
    def send(self, message: bytes, urgent: bool = False) -> None:
        """Multicast."""

    @outgoing
    def receive(self, sender: int, message: bytes, stamp: Stamp) -> None: ...


@dataclass(frozen=True)
class OtherStamp:
    zone: str = "UTC"
    at: float = 0.0


@endpoint_type(
    "example.org:pipe", provides="fifo, reliable", requires="send never precedes connect"
)
class Pipe:
    """The same, written by somebody else, in another order."""

    @outgoing
    def receive(self, stamp: Stamp, message: bytes, sender: int) -> None: ...

    @incoming
    def send(self, message: bytes, urgent: bool = False) -> None: ...


@object_type("example.com:any-channel", into=HERE)
class AnyChannel:
    channel: Channel


def test_a_class_becomes_an_endpoint_type() -> None:
    type_ = reflect_endpoint(Channel).type
    assert type_.incoming == Named(
        {"send": RecordType(Named({"message": Field(BYTES), "urgent": Field(BOOLEAN, False)}))}
    )
    assert type_.outgoing["receive"] == record(
        sender=INTEGER,
        message=BYTES,
        stamp=RecordType(Named({"at": Field(NUMBER), "zone": Field(TEXT, False)})),
    )
    assert "live-objects:delivery" in type_.provided


def test_the_dual_faces_the_class() -> None:
    annotation: Any = Dual[Channel]
    assert reflect_endpoint(annotation).type == dual(reflect_endpoint(Channel).type)
    assert matches(reflect_endpoint(annotation).type, reflect_endpoint(Pipe).type)


def test_two_classes_of_one_structure_are_one_type() -> None:
    assert same_type(Channel, Pipe)


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (str, TEXT),
        (int, INTEGER),
        (float, NUMBER),
        (bool, BOOLEAN),
        (bytes, BYTES),
        (None, NOTHING),
        (Any, ANY),
        (list[int], ListType(INTEGER)),
        (tuple[str, ...], ListType(TEXT)),
        (dict[str, bool], MapType(BOOLEAN)),
        (str | None, OptionalType(TEXT)),
        (Annotated[int, "metres"], INTEGER),
        (Reference, ReferenceType()),
        (ReferenceTo[AnyChannel], ReferenceType(reflect_object(AnyChannel).type)),
        (Message, TypeVariable("Message")),
    ],
)
def test_hints_are_value_types(hint: Any, expected: ValueType) -> None:
    assert conversion(hint).type == expected


@pytest.mark.parametrize(
    "hint", [set[int], dict[int, str], int | str, object(), Callable[[], None], ReferenceTo[Stamp]]
)
def test_what_cannot_be_sent_is_refused(hint: Any) -> None:
    with pytest.raises(BadHint):
        conversion(hint)


@pytest.mark.parametrize(
    ("value", "type_", "fits"),
    [
        (1, INTEGER, True),
        (True, INTEGER, False),
        (1, NUMBER, True),
        ("x", NUMBER, False),
        (None, OptionalType(TEXT), True),
        ([1, "x"], ListType(INTEGER), False),
        ({"a": 1}, MapType(INTEGER), True),
        ({1: 1}, MapType(INTEGER), False),
        ({"x": 1}, record(x=INTEGER, y=INTEGER), False),
        ({"x": "1"}, record(x=INTEGER), False),
        ({"x": 1, "more": 2}, record(x=INTEGER), True),
        (Primitive("a:b"), ReferenceType(), True),
        ("a:b", ReferenceType(), False),
        (object(), ANY, True),
    ],
)
def test_values_are_checked(value: Any, type_: ValueType, fits: bool) -> None:
    assert (why_not_conforming(value, type_) is None) == fits


def test_casting_goes_through_front_and_back() -> None:
    seen: list[tuple[Any, ...]] = []

    class MyChannel(Channel):
        def send(self, message: bytes, urgent: bool = False) -> None:
            seen.append(("send", message, urgent))

        def receive(self, sender: int, message: bytes, stamp: Stamp) -> None:
            seen.append(("receive", sender, message, stamp))

    pipe = cast_endpoint(MyChannel(), Pipe)
    assert isinstance(pipe, Pipe)
    pipe.send(b"hello", urgent=True)
    pipe.receive(Stamp(1.5), b"data", 7)
    assert seen == [("send", b"hello", True), ("receive", 7, b"data", Stamp(1.5))]
    again = cast_endpoint(pipe, Channel)
    again.receive(8, b"back", Stamp(2.0, "CET"))
    assert seen[-1] == ("receive", 8, b"back", Stamp(2.0, "CET"))
    assert cast_endpoint(pipe, Pipe) is pipe
    with pytest.raises(TypeError, match="lacks message"):
        pipe.send()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="no argument 'loud'"):
        pipe.send(b"", loud=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="takes 2 arguments, not 3"):
        pipe.send(b"", False, 3)  # type: ignore[call-arg]


def test_casting_to_what_it_is_not_says_why() -> None:
    @endpoint_type("example.com:clock")
    class Clock:
        @outgoing
        def tick(self) -> None: ...

    with pytest.raises(DeclarationError, match="Channel sends 'receive', which Clock does not"):
        cast_endpoint(Channel(), Clock)
    with pytest.raises(DeclarationError, match="int is not declared"):
        cast_endpoint(5, Clock)


def test_a_live_object_is_read_whole() -> None:
    @live_object("example.com:logger", title="Logger", is_a=(AnyChannel,), into=HERE)
    class Logger:
        """Writes down what is sent. More text."""

        channel: Channel
        _lines: list[bytes]

        def __init__(self, limit: int, name: str = "log") -> None:
            self._lines = []

        def on_channel_send(self, message: bytes, urgent: bool = False) -> None: ...

        def on_channel_connected(self) -> None: ...

    declaration = reflect_object(Logger)
    assert declaration.title == "Logger"
    assert declaration.description == "Writes down what is sent. More text."
    assert sorted(declaration.endpoints) == ["channel"]
    assert declaration.parameters["limit"].conversion.type == INTEGER
    assert declaration.parameters["name"].optional
    assert is_object_subtype(declaration.type, reflect_object(AnyChannel).type)
    assert HERE.find("example.com:logger") is declaration


def test_generic_classes_are_templates() -> None:
    @endpoint_type("example.com:typed")
    class Typed(Generic[Message]):
        @outgoing
        def receive(self, message: Message) -> None: ...

    @live_object("example.com:typed-source", into=HERE)
    class Source(Generic[Message]):
        out: Typed[Message]

    declaration = reflect_object(Source)
    assert declaration.type_parameters == ("Message",)
    applied = declaration.template.apply({"Message": TEXT})
    assert applied.endpoints["out"].outgoing["receive"] == record(message=TEXT)


def declare_endpoint(body: str) -> Callable[[], object]:
    """Makes a class from source, late, so that its error can be caught."""

    def make() -> object:
        space = {
            "endpoint_type": endpoint_type,
            "live_object": live_object,
            "incoming": incoming,
            "outgoing": outgoing,
            "Channel": Channel,
            "AnyChannel": AnyChannel,
            "HERE": HERE,
        }
        exec(compile(inspect.cleandoc(body), "made", "exec", dont_inherit=True), space)
        return space

    return make


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("@endpoint_type('e:x')\nclass X: pass", "X declares no events"),
        (
            "@endpoint_type('e:x')\nclass X:\n  def send(self): ...",
            "marked neither @incoming nor @outgoing",
        ),
        (
            "@endpoint_type('e:x')\nclass X:\n  @incoming\n  def send(self, a): ...",
            "'a' of 'send' has no type hint",
        ),
        (
            "@endpoint_type('e:x')\nclass X:\n  @incoming\n  def send(self, a: set): ...",
            "'a' of 'send' is no value for an event: set cannot be sent",
        ),
        (
            "@endpoint_type('e:x')\nclass X:\n  @incoming\n  def send(self, *a: int): ...",
            "cannot have *args",
        ),
        (
            "@endpoint_type('e:x')\nclass X:\n  @incoming\n  def send(self) -> int: ...",
            "returns something",
        ),
        (
            "@endpoint_type('e:x')\nclass X:\n  @incoming\n  def send(self, a: 'Nowhere'): ...",
            "cannot be read",
        ),
        (
            (
                "@endpoint_type('e:x', provides='order: jump precedes send')\n"
                "class X:\n  @incoming\n  def send(self): ..."
            ),
            "'jump' is not an event here",
        ),
        ("@live_object('Bad Id', into=HERE)\nclass X: pass", "is no id"),
        (
            "@live_object('e:x', into=HERE)\nclass X:\n  channel: int",
            "annotated with something that is no endpoint type",
        ),
        (
            "@live_object('e:x', into=HERE)\nclass X:\n  channel: Channel",
            "has no 'on_channel_send'",
        ),
        (
            (
                "@live_object('e:x', into=HERE)\nclass X:\n  channel: Channel\n"
                "  def on_channel_send(self, message: str): ..."
            ),
            "does not take what 'send' brings: in 'message', bytes is not a text",
        ),
        (
            (
                "@live_object('e:x', into=HERE)\nclass X:\n  channel: Channel\n"
                "  def on_channel_send(self, message: bytes, urgent: bool): ..."
            ),
            "'urgent' may be missing",
        ),
        (
            "@live_object('e:x', into=HERE)\nclass X:\n  def on_channel_sent(self): ...",
            "handles no event",
        ),
        (
            "@live_object('e:x', is_a=(AnyChannel,), into=HERE)\nclass X: pass",
            "X is not a AnyChannel: X has no endpoint 'channel'",
        ),
        ("@live_object('example.com:any-channel', into=HERE)\nclass X: pass", "already"),
    ],
)
def test_a_wrong_declaration_is_refused_when_the_class_is_made(body: str, words: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        declare_endpoint(body)()
    assert words in str(caught.value)


def test_the_error_points_to_the_line() -> None:
    def make() -> None:
        @endpoint_type("example.com:wrong")
        class Wrong:
            @incoming
            def send(self, message: set[int]) -> None: ...

    with pytest.raises(DeclarationError) as caught:
        make()
    lines, start = inspect.getsourcelines(make)
    expected = start + next(i for i, line in enumerate(lines) if "@incoming" in line)
    assert caught.value.line == expected
    assert caught.value.file == __file__
    assert f"test_declaring.py:{expected}: " in str(caught.value)


def test_what_is_not_declared_is_said() -> None:
    with pytest.raises(DeclarationError, match="not declared as a live object"):
        reflect_object(Stamp)
    with pytest.raises(DeclarationError, match="not declared as a type of endpoints"):
        reflect_endpoint(Stamp)
