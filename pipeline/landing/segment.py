"""Turns the bytes of one segment into rows, with a row for each place that could not be read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from pipeline.columns import DAMAGED, OutOfRange, row_values
from transport.event_log_schema import Damage, Record, read_segment

SAMPLE_BYTES = 48
# A segment of nothing but bad records is told of by its first ones and by their number.
OUT_OF_RANGE_ROWS_MAX = 100


def segment_rows(data: bytes) -> Iterator[dict[str, Any]]:
    """The rows of a segment. `ordinal` counts them; `segment` is the digest of all bytes.

    Rows of a segment whose head cannot be read have no version: ingest sets them aside.
    """
    head: dict[str, Any] = {"segment": hashlib.blake2b(data, digest_size=16).hexdigest()}
    for ordinal, values in enumerate(_values(data)):
        if values["kind"] == Record.SEGMENT.name and "version" not in head:
            head |= {name: values[name] for name in ("version", "program", "scope")}
        yield {**values, **head, "ordinal": ordinal}


def _values(data: bytes) -> Iterator[dict[str, Any]]:
    damage = Damage()
    last_ns = 0
    out_of_range = 0
    for row in read_segment(data, damage):
        try:
            values = row_values(row)
        except OutOfRange as problem:
            out_of_range += 1
            if out_of_range <= OUT_OF_RANGE_ROWS_MAX:
                yield _damaged(last_ns, what="out of range", kind=row.kind.name, why=str(problem))
            continue
        last_ns = values["time_ns"]
        yield values
    if out_of_range > OUT_OF_RANGE_ROWS_MAX:
        yield _damaged(last_ns, what="out of range", records=out_of_range)
    if damage.unknown_records:
        yield _damaged(last_ns, what="unknown records", records=damage.unknown_records)
    for number, offset in enumerate(damage.offsets, 1):
        torn = damage.torn_tail and number == damage.places
        yield _damaged(
            last_ns,
            what="torn end" if torn else "damaged",
            offset=offset,
            sample=data[offset : offset + SAMPLE_BYTES].hex(),
        )
    if damage.places > len(damage.offsets):
        yield _damaged(last_ns, what="damaged", places=damage.places - len(damage.offsets))


def _damaged(time_ns: int, **details: int | str) -> dict[str, Any]:
    return {"kind": DAMAGED, "time_ns": time_ns, "details": json.dumps(details, sort_keys=True)}
