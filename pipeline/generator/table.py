"""Tables in the form in which segments land, from columns that were drawn at once.

Columns stay numbers for as long as they can: text is a number into a list of words, and a segment
is put into order by indexing plain arrays. Parquet keeps text that way anyhow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipeline.landing.parquet_file import ARROW_SCHEMA
from transport.event_log_schema import VERSION, Record

KINDS = pa.array([kind.name for kind in Record])
_KIND_AT = {kind.name: place for place, kind in enumerate(Record)}


@dataclass(frozen=True, slots=True)
class Words:
    """Text as places in a list of words, which all parts of a segment share."""

    places: NDArray[Any]
    words: Any


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of one kind. A column is numbers, words, or an Arrow array; others are null."""

    count: int
    columns: dict[str, Any]


def part(count: int, kind: str, **columns: Any) -> Part:
    kinds = Words(np.full(count, _KIND_AT[kind], dtype=np.int8), KINDS)
    return Part(count, {"kind": kinds, **columns})


def segment_table(
    parts: Sequence[Part], name: str, head_ns: int, counter_names: tuple[str, ...]
) -> Any:
    """The rows of the parts in order of time, behind a head, as the collector lands a segment."""
    head = part(
        1,
        kind="SEGMENT",
        time_ns=np.array([head_ns]),
        monotonic_ns=np.zeros(1, dtype=np.int64),
        counter_names=pa.array([list(counter_names)]),
    )
    parts = [head, *(each for each in parts if each.count)]
    count = sum(each.count for each in parts)
    times = np.concatenate([each.columns["time_ns"] for each in parts[1:] or [head]])
    order = np.concatenate([[0], 1 + np.argsort(times[: count - 1], kind="stable")])
    of_all: dict[str, Any] = {
        "version": np.full(count, VERSION, dtype=np.int32),
        "ordinal": np.arange(count),
        **{
            column: pa.DictionaryArray.from_arrays(np.zeros(count, dtype=np.int8), [text])
            for column, text in (
                ("segment", name),
                ("program", "generator"),
                ("scope", "generated"),
            )
        },
    }
    arrays = [
        of_all[field.name] if field.name in of_all else _column(field, parts, order)
        for field in ARROW_SCHEMA
    ]
    return pa.Table.from_arrays([pa.array(each) for each in arrays], names=ARROW_SCHEMA.names)


def _column(field: Any, parts: Sequence[Part], order: NDArray[np.int64]) -> Any:
    given = [each.columns.get(field.name) for each in parts]
    drawn = [values for values in given if values is not None]
    if not drawn:
        return pa.nulls(len(order), field.type)
    if not isinstance(drawn[0], np.ndarray | Words):
        pieces = [
            pa.nulls(each.count, field.type) if values is None else values.cast(field.type)
            for each, values in zip(parts, given, strict=True)
        ]
        return pa.concat_arrays(pieces).take(pa.array(order))
    words = drawn[0].words if isinstance(drawn[0], Words) else None
    numbers = np.zeros(
        len(order), dtype=np.int32 if words is not None else field.type.to_pandas_dtype()
    )
    missing = np.ones(len(order), dtype=bool)
    start = 0
    for each, values in zip(parts, given, strict=True):
        if values is not None:
            here = slice(start, start + each.count)
            numbers[here] = values.places if isinstance(values, Words) else values
            missing[here] = False
        start += each.count
    mask = missing[order] if missing.any() else None
    array = pa.array(numbers[order], mask=mask)
    return array if words is None else pa.DictionaryArray.from_arrays(array, words)
