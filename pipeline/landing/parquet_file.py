"""Owns the form of a landed file: one segment as zstd Parquet, whose name holds its own digest.

A file is written under a name that nobody watches, synced, and renamed into place, so whoever
looks sees whole files only. The digest in the name says whether what is read later is what was
written; the same segment gives the same bytes and so the same name: landing it twice changes
nothing.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.columns import COLUMNS
from pipeline.files import replace_file

ROW_GROUP_ROWS = 65_536
SUFFIX = ".parquet"
_NAME = re.compile(r"(?P<stem>[\w.-]{1,180})-(?P<digest>[0-9a-f]{16})\.parquet")

_ARROW = {
    "int": pa.int32(),
    "bigint": pa.int64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "array<string>": pa.list_(pa.string()),
    "array<bigint>": pa.list_(pa.int64()),
}
ARROW_SCHEMA = pa.schema([pa.field(column.name, _ARROW[column.kind]) for column in COLUMNS])


def digest_of(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def digest_in(name: str) -> str | None:
    """The digest that a file's name promises; None where the name is not of this form."""
    match = _NAME.fullmatch(name)
    return match["digest"] if match else None


def table_of(rows: Sequence[dict[str, Any]]) -> Any:
    """Rows as columns; what a row does not have is null."""
    columns = [
        pa.array([row.get(field.name) for row in rows], type=field.type) for field in ARROW_SCHEMA
    ]
    return pa.Table.from_arrays(columns, schema=ARROW_SCHEMA)


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
    path = folder / f"{stem}-{digest_of(data)}{SUFFIX}"
    replace_file(path, data)
    return path
