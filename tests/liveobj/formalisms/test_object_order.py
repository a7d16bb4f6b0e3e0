"""The order of events at several endpoints of one object: promised, compared, written and read."""

from __future__ import annotations

import pytest

from liveobj.declare import (
    DeclarationError,
    Declarations,
    endpoint_type,
    incoming,
    live_object,
    object_type,
    outgoing,
    reflect_object,
)
from liveobj.formalisms import parse_constraint
from liveobj.references.type_expressions import SpelledType, read_type, type_element
from liveobj.references.xml_tree import parse, write
from liveobj.types import NotAConstraint, Structure, is_object_subtype

HERE = Declarations()
ORDER = "live-objects:order"
STRUCTURE = Structure.of_object({"door": ["open", "close"], "lamp": ["lit"]})


@endpoint_type("test:door")
class Door:
    @incoming
    def open(self) -> None: ...

    @incoming
    def close(self) -> None: ...


@endpoint_type("test:lamp")
class Lamp:
    @outgoing
    def lit(self, on: bool) -> None: ...


@object_type("test:room", provides="order: door.open precedes lamp.lit", into=HERE)
class Room:
    door: Door
    lamp: Lamp


def declare(provides: str) -> type:
    @live_object(f"test:{abs(hash(provides))}", provides=provides, into=HERE)
    class Made:
        door: Door
        lamp: Lamp

        def on_door_open(self) -> None: ...

        def on_door_close(self) -> None: ...

    return Made


@pytest.mark.parametrize(
    ("stronger", "weaker", "implied"),
    [
        ("door.open precedes lamp.lit", "lamp.lit never precedes door.open", True),
        (
            "door.connect precedes door.open, door.open precedes lamp.lit",
            "door.connect precedes lamp.lit",
            True,
        ),
        ("door.open precedes lamp.lit", "door.close precedes lamp.lit", False),
        ("never lamp.lit", "door.open precedes lamp.lit", True),
        ("always (door.open implies next eventually lamp.lit)", "never door.open", False),
        ("door.open alternates with door.close", "door.open precedes door.close", True),
    ],
)
def test_implication_over_endpoints(stronger: str, weaker: str, implied: bool) -> None:
    first, second = (parse_constraint(ORDER, text, STRUCTURE) for text in (stronger, weaker))
    assert first.implies(second) is implied
    if not implied:
        assert "it would allow" in first.explain(second)


@pytest.mark.parametrize(
    "text", ["open precedes lit", "door.open precedes lit", "door.nothing at most once", "a.b.c"]
)
def test_event_that_is_not_there_is_told(text: str) -> None:
    with pytest.raises(NotAConstraint):
        parse_constraint(ORDER, text, STRUCTURE)


def test_object_is_of_a_type_only_if_it_keeps_the_order() -> None:
    wanted = reflect_object(Room).type
    good = reflect_object(declare("order: door.open precedes lamp.lit, never door.close")).type
    assert is_object_subtype(good, wanted)
    for poor in ("", "order: door.close precedes lamp.lit"):
        verdict = is_object_subtype(reflect_object(declare(poor)).type, wanted)
        assert not verdict
        assert "door.open precedes lamp.lit" in " ".join(verdict.sentences("this", "a room"))


def test_mistake_in_a_declaration_is_told_at_once() -> None:
    with pytest.raises(DeclarationError, match="not an event here"):
        declare("order: door.opened precedes lamp.lit")


def test_order_travels_with_the_type() -> None:
    type_ = reflect_object(Room).type
    read = read_type(parse(write(type_element(SpelledType(type_)))))
    assert read == SpelledType(type_)
