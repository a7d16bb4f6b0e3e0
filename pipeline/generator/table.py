"""Tables in the form in which segments land, from columns that were drawn at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.landing.parquet_file import ARROW_SCHEMA
from transport.event_log_schema import VERSION


def segment_table(parts: list[Any], name: str, head_ns: int, counter_names: tuple[str, ...]) -> Any:
    """The rows of the parts in order of time, behind a head, as the collector lands a segment."""
    head = columns_table(
        1,
        kind="SEGMENT",
        time_ns=np.array([head_ns]),
        monotonic_ns=np.zeros(1, dtype=np.int64),
        counter_names=pa.array([list(counter_names)]),
    )
    body = pa.concat_tables([part for part in parts if part.num_rows])
    rows = pa.concat_tables([head, body.sort_by("time_ns")])
    count = rows.num_rows
    filled: dict[str, Any] = {
        "version": np.full(count, VERSION, dtype=np.int32),
        "segment": pa.array([name]).take(pa.array(np.zeros(count, dtype=np.int8))),
        "ordinal": np.arange(count),
        "program": pa.array(["generator"]).take(pa.array(np.zeros(count, dtype=np.int8))),
        "scope": pa.array(["generated"]).take(pa.array(np.zeros(count, dtype=np.int8))),
    }
    for name_of_column, values in filled.items():
        place = ARROW_SCHEMA.get_field_index(name_of_column)
        rows = rows.set_column(place, ARROW_SCHEMA.field(place), pa.array(values))
    return rows


def columns_table(count: int, kind: str, **columns: Any) -> Any:
    """A table of one kind; columns that are not given are null."""
    given = {"kind": pa.array([kind]).take(pa.array(np.zeros(count, dtype=np.int8))), **columns}
    arrays = [
        pa.array(given[field.name], type=field.type)
        if field.name in given
        else pa.nulls(count, field.type)
        for field in ARROW_SCHEMA
    ]
    return pa.Table.from_arrays(arrays, schema=ARROW_SCHEMA)
