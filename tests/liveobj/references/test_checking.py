"""The static check of references: derived types, casts, templates, and speed."""

from __future__ import annotations

import time

from liveobj.references import (
    Composite,
    Connection,
    Export,
    External,
    NamedType,
    ObjectTypeArgument,
    Parameterized,
    Port,
    Primitive,
    SpelledType,
    Value,
    ValueTypeArgument,
    read_reference,
    write_reference,
)
from liveobj.references.checking import check
from liveobj.types import BYTES, TEXT, EndpointType, Named, ObjectType, is_object_subtype
from liveobj.types.relations import forget_verdicts
from liveobj.types.values import record
from tests.liveobj.runtime.objects_for_tests import HERE, SINK, SOURCE, folder

SOURCE_TYPE = NamedType("test:source-type")


def sentences(reference: Primitive | Parameterized | External | Composite) -> list[str]:
    return [problem.sentence for problem in check(reference, HERE).problems]


def test_the_type_of_a_composite_is_what_it_exports() -> None:
    composite = Composite(
        {"a": SOURCE, "b": SINK},
        (Connection(Port("a", "numbers"), Port("b", "source")),),
        (),
    )
    assert check(composite, HERE).type == ObjectType()
    exporting = Composite({"a": SOURCE}, (), (Export("n", Port("a", "numbers")),))
    found = check(exporting, HERE).type
    source = check(SOURCE, HERE).type
    assert found is not None
    assert source is not None
    assert found.endpoints["n"] == source.endpoints["numbers"]


def test_an_endpoint_is_used_once() -> None:
    twice = Composite(
        {"a": SOURCE, "b": SINK, "c": SINK},
        (
            Connection(Port("a", "numbers"), Port("b", "source")),
            Connection(Port("a", "numbers"), Port("c", "source")),
        ),
        (Export("n", Port("a", "numbers")),),
    )
    assert sentences(twice) == [
        "The endpoint 'numbers' of 'a' is connected already and cannot be connected, too.",
        "The endpoint 'numbers' of 'a' is connected already and cannot be exported, too.",
    ]


def test_a_cast_hides_endpoints_and_must_be_true() -> None:
    bare = SpelledType(ObjectType())
    assert check(Primitive("test:source", as_type=bare), HERE).type == ObjectType()
    wrong = SpelledType(ObjectType(Named({"x": EndpointType()})))
    assert sentences(Primitive("test:source", as_type=wrong)) == [
        "The object has no endpoint 'x', which the type that it is cast to has."
    ]


def test_the_type_of_an_external_object_is_what_it_is_announced_as() -> None:
    external = External("x", folder(), as_type=SOURCE_TYPE)
    source = check(SOURCE, HERE).type
    announced = check(external, HERE).type
    assert announced is not None
    assert source is not None
    assert is_object_subtype(source, announced)


def test_type_arguments_of_named_types_are_applied() -> None:
    external = External("x", folder(), as_type=NamedType("live-objects:channel", {"Message": TEXT}))
    found = check(external, HERE).type
    assert found is not None
    assert found.endpoints["channel"].incoming["send"] == record(message=TEXT)
    assert sentences(External("x", folder(), as_type=NamedType("live-objects:channel"))) == [
        "The parameter 'Message' is not assigned."
    ]


def test_arguments_of_the_wrong_kind_are_told() -> None:
    assert sentences(Parameterized(SOURCE, {"start": ValueTypeArgument(BYTES)})) == [
        "The argument of 'start' does not fit: bytes is not an integer."
    ]
    assert sentences(Parameterized(SOURCE, {"start": ObjectTypeArgument(SOURCE_TYPE)})) == [
        "The argument of 'start' does not fit: a type of values is wanted."
    ]
    assert sentences(Parameterized(SOURCE, {"start": SINK})) == [
        "The argument of 'start' does not fit: reference to Sink is not an integer."
    ]


def test_a_problem_inside_is_told_once_with_its_line() -> None:
    deep = Composite({"outer": Composite({"inner": Primitive("test:nowhere")})})
    checked = check(read_reference(write_reference(deep)), HERE)
    (problem,) = checked.problems
    assert problem.line == 7
    assert str(problem).startswith("line 7: The object 'test:nowhere' is not known here")
    assert [depth for depth, _ in checked.walk()] == [0, 1, 2]


def test_a_thousand_components_are_checked_well_under_a_second() -> None:
    pairs = 500
    sources = {f"s{i}": Parameterized(SOURCE, {"start": Value(i)}) for i in range(pairs)}
    sinks = {f"k{i}": SINK for i in range(pairs)}
    connections = tuple(
        Connection(Port(f"s{i}", "numbers"), Port(f"k{i}", "source")) for i in range(pairs)
    )
    composite = Composite({**sources, **sinks}, connections)
    forget_verdicts()
    start = time.process_time()
    assert check(composite, HERE).problems == []
    assert time.process_time() - start < 0.5
