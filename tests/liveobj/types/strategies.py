"""Random types for tests of laws: few names, so that pairs are often related."""

from __future__ import annotations

from hypothesis import strategies as st

from liveobj.formalisms import parse_constraint
from liveobj.types import (
    ANY,
    BOOLEAN,
    INTEGER,
    NOTHING,
    NUMBER,
    TEXT,
    EndpointType,
    Field,
    ListType,
    MapType,
    Named,
    ObjectType,
    OptionalType,
    RecordType,
    ReferenceType,
    ValueType,
    constraints,
)
from liveobj.types.constraints import Constraints

CONSTRAINTS = [
    parse_constraint(formalism, text)
    for formalism, texts in {
        "delivery": ["best effort", "reliable", "reliable, fifo", "total order", "atomic, fifo"],
        "cardinality": ["at most 1 writer", "at most 5 writers", "exactly 1 writer"],
        "timing": ["90% of x within 1 s", "99% of x within 1 s", "99% of x within 10 ms"],
        "security": ["confidential", "signed, confidential", "writers members"],
    }.items()
    for text in texts
]

scalars = st.sampled_from([ANY, NOTHING, BOOLEAN, INTEGER, NUMBER, TEXT])


def _compound(inner: st.SearchStrategy[ValueType]) -> st.SearchStrategy[ValueType]:
    fields = st.dictionaries(st.sampled_from("xy"), st.builds(Field, inner, st.booleans()))
    return st.one_of(
        st.builds(ListType, inner),
        st.builds(MapType, inner),
        st.builds(OptionalType, inner),
        fields.map(lambda f: RecordType(Named(f))),
    )


plain_values: st.SearchStrategy[ValueType] = st.recursive(scalars, _compound, max_leaves=4)
some_constraints: st.SearchStrategy[Constraints] = st.lists(
    st.sampled_from(CONSTRAINTS), max_size=2
).map(constraints)


def _endpoints(values: st.SearchStrategy[ValueType]) -> st.SearchStrategy[EndpointType]:
    events = st.dictionaries(st.sampled_from("ab"), values, max_size=2).map(Named)
    return st.builds(EndpointType, events, events, some_constraints, some_constraints)


def _objects(endpoints: st.SearchStrategy[EndpointType]) -> st.SearchStrategy[ObjectType]:
    named = st.dictionaries(st.sampled_from(["p", "q"]), endpoints, max_size=2).map(Named)
    return st.builds(ObjectType, named, some_constraints, some_constraints)


inner_objects = _objects(_endpoints(plain_values))
values: st.SearchStrategy[ValueType] = st.one_of(
    plain_values, st.builds(ReferenceType, st.one_of(st.none(), inner_objects))
)
endpoints = _endpoints(values)
objects = _objects(endpoints)
