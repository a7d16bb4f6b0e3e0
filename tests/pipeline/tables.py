"""Rows as columns, for tests that put files into a landing folder themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from pipeline.landing.parquet_file import ARROW_SCHEMA


def table_of(rows: Sequence[dict[str, Any]]) -> Any:
    """What a row does not have is null."""
    columns = [
        pa.array([row.get(field.name) for row in rows], type=field.type) for field in ARROW_SCHEMA
    ]
    return pa.Table.from_arrays(columns, schema=ARROW_SCHEMA)
