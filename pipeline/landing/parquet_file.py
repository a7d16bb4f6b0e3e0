"""Landed files by Arrow: for whoever has columns already, as the generator does, or checks files.

A file is written under a name that nobody watches, synced, and renamed into place, so whoever
looks sees whole files only.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.columns import COLUMNS
from pipeline.files import replace_file
from pipeline.landing.naming import ROW_GROUP_ROWS, landed_name

_ARROW = {
    "int": pa.int32(),
    "bigint": pa.int64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "array<string>": pa.list_(pa.string()),
    "array<bigint>": pa.list_(pa.int64()),
}
ARROW_SCHEMA = pa.schema([pa.field(column.name, _ARROW[column.kind]) for column in COLUMNS])


def parquet_bytes(table: Any) -> bytes:
    """The table as a Parquet file; the same table gives the same bytes.

    Arrow's own types are not kept beside Parquet's: text that Arrow holds as numbers of words is
    plain text to whoever reads.
    """
    sink = io.BytesIO()
    pq.write_table(
        table, sink, compression="zstd", row_group_size=ROW_GROUP_ROWS, store_schema=False
    )
    return sink.getvalue()


def land(table: Any, folder: Path, stem: str) -> Path:
    """Writes the table into the folder as one whole file, and gives its path."""
    data = parquet_bytes(table)
    path = folder / landed_name(stem, data)
    replace_file(path, data)
    return path
