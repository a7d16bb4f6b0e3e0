"""Writes the rows of one segment as a landed file, by DuckDB.

It is the smallest library that writes Parquet: applications have it beside them, and neither Arrow
nor Spark. Rows go through a file of JSON lines, so that a segment of any size takes little memory.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb

from pipeline.columns import COLUMNS
from pipeline.errors import PipelineProblem
from pipeline.files import replace_file
from pipeline.landing.naming import ROW_GROUP_ROWS, landed_name

Config = dict[str, str | bool | int | float | list[str]]
_MEMORY = "512MB"
_TYPES = {
    "int": "INTEGER",
    "bigint": "BIGINT",
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "array<string>": "VARCHAR[]",
    "array<bigint>": "BIGINT[]",
}
_COLUMNS = ", ".join(f"'{column.name}': '{_TYPES[column.kind]}'" for column in COLUMNS)
_COPY = (
    "COPY (SELECT * FROM read_json('{lines}', format = 'newline_delimited',"  # noqa: S608
    f" columns = {{{{{_COLUMNS}}}}})) TO '{{out}}'"
    f" (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP_ROWS})"
)


def land_segment(rows: Iterable[dict[str, Any]], folder: Path, stem: str) -> int:
    """Lands the rows as one whole file and gives their number; without any there is no file."""
    with tempfile.TemporaryDirectory(prefix="live-objects-landing-") as place:
        lines, out = Path(place, "lines.json"), Path(place, "out.parquet")
        try:
            count = 0
            with lines.open("w", encoding="utf-8") as file:
                for row in rows:
                    file.write(json.dumps(row) + "\n")
                    count += 1
            if not count:
                return 0
            # One thread: rows stay in their order, and the same ones give the same bytes.
            config: Config = {"threads": 1, "memory_limit": _MEMORY, "temp_directory": place}
            with duckdb.connect(config=config) as database:
                database.execute(_COPY.format(lines=_quoted(lines), out=_quoted(out)))
            data = out.read_bytes()
        except (OSError, duckdb.Error) as problem:
            first = str(problem).splitlines()[0]
            raise PipelineProblem(f"{stem} cannot be made into Parquet: {first}") from None
    replace_file(folder / landed_name(stem, data), data)
    return count


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
