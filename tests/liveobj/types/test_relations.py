"""Matching and subtyping obey the laws of thesis 2.1.2, and say why when they say no."""

from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from liveobj.formalisms import parse_constraints
from liveobj.types import (
    INTEGER,
    NUMBER,
    TEXT,
    EndpointType,
    Named,
    ObjectType,
    dual,
    is_object_subtype,
    is_subtype,
    matches,
)
from liveobj.types.relations import forget_verdicts
from liveobj.types.values import is_value_subtype, record
from tests.liveobj.types.strategies import endpoints, objects, values


@given(endpoints)
def test_subtyping_of_endpoints_is_reflexive(t: EndpointType) -> None:
    assert is_subtype(t, t)


@given(objects)
def test_subtyping_of_objects_is_reflexive(o: ObjectType) -> None:
    assert is_object_subtype(o, o)


@given(values, values, values)
@settings(max_examples=200)
def test_subtyping_of_values_is_transitive(a, b, c) -> None:  # type: ignore[no-untyped-def]
    if is_value_subtype(a, b) and is_value_subtype(b, c):
        assert is_value_subtype(a, c)


@given(endpoints, endpoints, endpoints)
@settings(max_examples=200)
def test_subtyping_of_endpoints_is_transitive(
    a: EndpointType, b: EndpointType, c: EndpointType
) -> None:
    if is_subtype(a, b) and is_subtype(b, c):
        assert is_subtype(a, c)


@given(st.data())
@settings(max_examples=150)
def test_subtyping_of_related_endpoints_is_transitive(data: st.DataObject) -> None:
    """As above, with chains that are made by weakening, so that they are never vacuous."""
    a = data.draw(endpoints)
    b = data.draw(weaker_endpoints(a))
    c = data.draw(weaker_endpoints(b))
    assert is_subtype(a, b)
    assert is_subtype(b, c)
    assert is_subtype(a, c)


@st.composite
def weaker_endpoints(draw: st.DrawFn, t: EndpointType) -> EndpointType:
    """A supertype: fewer inputs, more outputs, fewer promises, more requirements."""
    other = draw(endpoints)

    def some(named):  # type: ignore[no-untyped-def]
        return Named({name: item for name, item in named.items() if draw(st.booleans())})

    def more(named, extra):  # type: ignore[no-untyped-def]
        return Named({**extra, **named})

    return EndpointType(
        some(t.incoming),
        more(t.outgoing, other.outgoing),
        some(t.provided),
        more(t.required, other.required),
    )


@given(endpoints, endpoints)
def test_matching_is_symmetric(a: EndpointType, b: EndpointType) -> None:
    assert bool(matches(a, b)) == bool(matches(b, a))


@given(endpoints)
def test_an_endpoint_matches_its_dual(t: EndpointType) -> None:
    assert matches(t, dual(t))
    assert dual(dual(t)) == t


@given(endpoints, endpoints)
@settings(max_examples=150)
def test_a_subtype_is_what_matches_the_dual(a: EndpointType, b: EndpointType) -> None:
    """One half of the definition of ◁: the dual of b is the most demanding partner of b."""
    assert bool(is_subtype(a, b)) == bool(matches(a, dual(b)))


@given(st.data())
@settings(max_examples=150)
def test_a_subtype_matches_whatever_its_supertype_matches(data: st.DataObject) -> None:
    sub = data.draw(endpoints)
    super_ = data.draw(weaker_endpoints(sub))
    partner = dual(data.draw(weaker_endpoints(super_)))
    assert matches(super_, dual(super_))
    for other in (dual(super_), partner, data.draw(endpoints)):
        if matches(super_, other):
            assert matches(sub, other)


@given(objects, objects, objects)
def test_subtyping_of_objects_is_transitive(a: ObjectType, b: ObjectType, c: ObjectType) -> None:
    if is_object_subtype(a, b) and is_object_subtype(b, c):
        assert is_object_subtype(a, c)


@given(objects)
def test_an_object_may_have_more_endpoints(o: ObjectType) -> None:
    more = ObjectType(Named({**o.endpoints, "extra": EndpointType()}), o.provided, o.required)
    assert is_object_subtype(more, o)


@given(endpoints, endpoints)
def test_a_no_has_sentences_and_a_yes_has_none(a: EndpointType, b: EndpointType) -> None:
    verdict = matches(a, b)
    assert bool(verdict) == (not verdict.sentences())
    for sentence in verdict.sentences("endpoint 'left'", "endpoint 'right'"):
        assert sentence.endswith(".")
        assert sentence[0].isupper()
        assert "'left'" in sentence
        assert "'right'" in sentence


def channel(text: str, provided: str) -> EndpointType:
    message = record(message={"text": TEXT, "integer": INTEGER, "number": NUMBER}[text])
    return EndpointType(
        incoming=Named({"send": message}),
        outgoing=Named({"receive": message}),
        provided=parse_constraints(provided),
    )


def client(text: str, required: str) -> EndpointType:
    side = dual(channel(text, ""))
    return EndpointType(side.incoming, side.outgoing, required=parse_constraints(required))


def test_all_reasons_are_told_together() -> None:
    verdict = matches(
        channel("number", "delivery: best effort"),
        client("integer", "delivery: reliable, fifo; security: confidential"),
    )
    assert verdict.sentences("the channel", "the note") == [
        (
            "The channel sends 'receive' in a form that the note does not accept: "
            "in 'message', number is not an integer."
        ),
        (
            "The note requires 'reliable, fifo', but the channel promises only 'best effort': "
            "'reliable' and 'fifo' do not follow from that."
        ),
        "The note requires 'confidential', and the channel promises nothing about security.",
    ]


def test_the_example_of_the_thesis() -> None:
    """Requires at most once and FIFO; provides at most once, at least once, total order (2.1.2)."""
    wants = client("text", "delivery: at most once, fifo")
    assert not matches(channel("text", "delivery: exactly once, total order"), wants)
    assert matches(channel("text", "delivery: exactly once, fifo, total order"), wants)


def test_an_endpoint_is_named_in_reasons_about_objects() -> None:
    small = ObjectType(Named({"channel": channel("text", "delivery: best effort")}))
    wanted = ObjectType(
        Named({"channel": channel("text", "delivery: reliable"), "members": EndpointType()})
    )
    assert is_object_subtype(small, wanted).sentences(
        "the file's object", "a reliable channel"
    ) == [
        (
            "Endpoint 'channel' of a reliable channel requires 'reliable', but endpoint 'channel' "
            "of the file's object promises only 'best effort': 'reliable' does not follow from "
            "that."
        ),
        "The file's object has no endpoint 'members', which a reliable channel has.",
    ]


def test_types_are_equal_by_structure_not_by_name() -> None:
    one = ObjectType(Named({"c": channel("text", "delivery: reliable")}), name="One")
    two = ObjectType(Named({"c": channel("text", "delivery:  reliable")}), name="Two")
    assert one == two
    assert hash(one) == hash(two)


def test_a_thousand_components_are_checked_well_under_a_second() -> None:
    forget_verdicts()
    pairs = [
        (
            channel("text", f"delivery: reliable, fifo; cardinality: at most {i % 50} writers"),
            client("text", f"delivery: fifo; cardinality: at most {i % 50} writers"),
        )
        for i in range(1000)
    ]
    start_s = time.process_time()  # this process's own: others may be busy
    assert all(matches(left, right) for left, right in pairs)
    assert time.process_time() - start_s < 0.5
    assert matches.cache_info().misses == 50
