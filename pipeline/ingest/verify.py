"""Says of a landed file whether it is what was written: before Spark reads it, and as data.

One damaged file would end a Spark job, and Spark's own way to pass over such files says nothing of
what it passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.landing.naming import digest_in, digest_of
from pipeline.landing.parquet_file import ARROW_SCHEMA

FILE_BYTES_MAX = 512 * 1024 * 1024

GOOD = "good"
NAME = "name"
SIZE = "size"
EMPTY = "empty"
DIGEST = "digest"
UNREADABLE = "unreadable"
COLUMNS = "columns"
MIXED = "mixed"
DUPLICATE = "duplicate segment"

# What each verdict means, for people.
WORDS = {
    NAME: "its name has no digest: no collector wrote it",
    SIZE: "it is larger than any file that a collector writes",
    EMPTY: "it has no bytes at all",
    DIGEST: "its bytes are not those that were written: truncated or damaged",
    UNREADABLE: "it is not a whole Parquet file",
    COLUMNS: "it lacks columns, or has others under their names",
    MIXED: "it holds more than one segment, or none",
    DUPLICATE: "its segment has been taken in from another file",
}


class Verdict(NamedTuple):
    """About one file. `repeated` tells that some rows have the same place in the segment."""

    verdict: str
    segment: str | None = None
    rows: int = 0
    repeated: bool = False


VERDICT_DDL = "path string, verdict string, segment string, rows bigint, repeated boolean"
_VERDICT_ARROW = pa.schema(
    [
        pa.field("path", pa.string()),
        pa.field("verdict", pa.string()),
        pa.field("segment", pa.string()),
        pa.field("rows", pa.int64()),
        pa.field("repeated", pa.bool_()),
    ]
)


def verify_bytes(name: str, data: bytes, *, whole: bool = False) -> Verdict:
    """The verdict on one file. `whole` decodes every column, too, which is seldom needed: where
    the digest is right and yet Spark cannot read the file."""
    promised = digest_in(name)
    if promised is None:
        return Verdict(NAME)
    if digest_of(data) != promised:
        return Verdict(DIGEST)
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        found = {field.name: field.type for field in file.schema_arrow}
        if any(found.get(field.name) != field.type for field in ARROW_SCHEMA):
            return Verdict(COLUMNS)
        table = file.read(columns=None if whole else ["segment", "ordinal"])
    except (pa.ArrowException, OSError, ValueError):
        return Verdict(UNREADABLE)
    segments = table.column("segment").unique().to_pylist()
    if len(segments) != 1 or segments[0] is None:
        return Verdict(MIXED)
    if table.column("ordinal").null_count:
        return Verdict(COLUMNS)
    ordinals = table.column("ordinal").to_numpy()
    return Verdict(GOOD, segments[0], table.num_rows, bool(np.any(np.diff(ordinals) <= 0)))


def verdicts(batches: Iterator[Any], *, whole: bool) -> Iterator[Any]:
    """For `mapInArrow`: paths and contents in, verdicts out."""
    for batch in batches:
        rows = []
        for path, content in zip(batch.column("path"), batch.column("content"), strict=True):
            name = path.as_py()
            found = verify_bytes(name.rsplit("/", 1)[-1], content.as_py(), whole=whole)
            rows.append({"path": name, **found._asdict()})
        yield pa.RecordBatch.from_pylist(rows, schema=_VERDICT_ARROW)
