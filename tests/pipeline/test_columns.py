"""Every record becomes a row and comes back from it; what does not fit is refused, not bent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.columns import NAMES, REQUIRED, OutOfRange, record_of, row_values, signed, unsigned
from transport.event_log_schema import SCHEMA, Record, Row, frame, read_segment

_POSITIVE = st.integers(0, 2**63 - 1)
_SMALL = st.integers(0, 2**31 - 1)
_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "node": st.integers(0, 2**64 - 1),
    "region": st.integers(0, 2**64 - 1),
    "sender": st.integers(0, 2**64 - 1),
    "group": st.binary(min_size=16, max_size=16),
    "health": _SMALL,
    "reason": _SMALL,
    "version": _SMALL,
    "counter_names": st.lists(st.text(max_size=5), max_size=3),
    "unicast": st.booleans(),
}


def _values(kind: Record) -> st.SearchStrategy[tuple[Any, ...]]:
    columns = []
    for column in SCHEMA[kind]:
        if column.name in _FIELDS:
            columns.append(_FIELDS[column.name])
        elif column.kind is str:
            columns.append(st.text(max_size=8))
        elif column.kind is list:
            columns.append(st.lists(st.integers(0, 2**63 - 1), max_size=4))
        elif column.kind is dict:
            columns.append(st.dictionaries(st.text(max_size=4), st.integers(0, 99), max_size=3))
        else:
            columns.append(_POSITIVE)
    return st.tuples(*columns)


@given(st.data())
def test_record_becomes_a_row_and_comes_back(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(list(Record)))
    values = data.draw(_values(kind))
    (row,) = read_segment(frame(kind, 5, values))
    columns = row_values(row)
    assert set(columns) <= set(NAMES)
    whole = dict.fromkeys(NAMES) | columns
    name, time_ns, back = record_of(whole)
    assert (name, time_ns) == (kind.name, 5)
    assert back == values
    assert all(columns[required] is not None for required in REQUIRED[kind.name])


@given(st.integers(0, 2**64 - 1))
def test_unsigned_numbers_survive_signed_columns(number: int) -> None:
    assert unsigned(signed(number)) == number
    assert -(2**63) <= signed(number) < 2**63


@pytest.mark.parametrize(
    "row",
    [
        Row(Record.HEALTH, -1, {"node": 1, "health": 1, "reason": 1}),
        Row(Record.HEALTH, 2**63, {"node": 1, "health": 1, "reason": 1}),
        Row(Record.HEALTH, 1, {"node": -1, "health": 1, "reason": 1}),
        Row(Record.HEALTH, 1, {"node": 1, "health": 2**40, "reason": 1}),
        Row(Record.LEFT, 1, {"node": 1, "group": b"short"}),
        Row(Record.VIEW, 1, {"node": 1, "group": bytes(16), "view": 1, "members": ["x"]}),
        Row(Record.COUNTERS, 1, {"node": 1, "monotonic_ns": 1, "values": [1.5]}),
        Row(Record.LOST, 1, {"records": 2**64}),
    ],
)
def test_what_fits_no_column_is_refused(row: Row) -> None:
    with pytest.raises(OutOfRange):
        row_values(row)
