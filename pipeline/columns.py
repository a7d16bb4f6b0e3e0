"""What the columns of events are, once for all: for Parquet files, for Spark, and from records.

Every record of a segment becomes one row, whatever its kind: columns that a kind does not have are
null, which costs nothing in Parquet. Nodes and regions are unsigned 64-bit numbers in the engine
and signed ones here, since neither Spark nor most readers of Parquet have the former; hexadecimal
text is the same for both.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from transport.event_log_schema import SCHEMA, Record, Row

# Not a record that anybody wrote: a place in a segment that could not be read.
DAMAGED = "DAMAGED"
DETAILS_CHARACTERS_MAX = 8192


class Column(NamedTuple):
    """A name and a type, as Spark's DDL spells it."""

    name: str
    kind: str


COLUMNS: tuple[Column, ...] = (
    # Where the row comes from: the segment by its digest, and its place there.
    Column("version", "int"),
    Column("segment", "string"),
    Column("ordinal", "bigint"),
    Column("program", "string"),
    Column("scope", "string"),
    # What it is.
    Column("kind", "string"),
    Column("time_ns", "bigint"),
    Column("node", "bigint"),
    Column("group", "string"),
    Column("region", "bigint"),
    # Of single kinds, in the order of the records.
    Column("monotonic_ns", "bigint"),
    Column("counter_names", "array<string>"),
    Column("health", "int"),
    Column("reason", "int"),
    Column("view", "bigint"),
    Column("members", "array<bigint>"),
    Column("member_count", "bigint"),
    Column("counters", "array<bigint>"),
    Column("alive", "bigint"),
    Column("senders", "bigint"),
    Column("ring_levels", "bigint"),
    Column("unacknowledged", "bigint"),
    Column("rate_bytes_per_s", "bigint"),
    Column("acknowledgement_ns", "bigint"),
    Column("token_round_ns", "bigint"),
    Column("unicast", "boolean"),
    Column("name", "string"),
    Column("details", "string"),
    Column("lost", "bigint"),
    Column("messages", "bigint"),
    Column("bytes", "bigint"),
    Column("own_messages", "bigint"),
    Column("own_bytes", "bigint"),
    Column("sender", "bigint"),
    Column("latency_ns", "bigint"),
)
DDL = ", ".join(f"`{column.name}` {column.kind}" for column in COLUMNS)
NAMES = tuple(column.name for column in COLUMNS)

# Columns that a record of the kind must have; a row without one of them is incomplete.
REQUIRED: dict[str, tuple[str, ...]] = {
    "SEGMENT": ("counter_names",),
    "HEALTH": ("node", "health"),
    "VIEW": ("node", "group", "view", "members"),
    "COUNTERS": ("node", "counters"),
    "REGION": ("node", "region", "acknowledgement_ns", "token_round_ns"),
    "APPLICATION": ("node", "name"),
    "LOST": ("lost",),
    "LEFT": ("node", "group"),
    "GROUP": ("node", "group", "messages", "bytes"),
    "DELIVERY": ("node", "group", "sender", "bytes", "latency_ns"),
}

# Fields whose column has another name, since two kinds use the name for different things.
_RENAMED: dict[tuple[Record, str], str] = {
    (Record.SEGMENT, "scope_label"): "scope",
    (Record.COUNTERS, "values"): "counters",
    (Record.REGION, "members"): "member_count",
    (Record.REGION, "unacknowledged_packets"): "unacknowledged",
    (Record.GROUP, "members"): "member_count",
    (Record.APPLICATION, "values"): "details",
    (Record.LOST, "records"): "lost",
}


class OutOfRange(ValueError):
    """A record was whole and yet holds what no column can."""


def signed(number: int) -> int:
    """An unsigned 64-bit number as the signed one with the same bits."""
    if not 0 <= number < 1 << 64:
        raise OutOfRange(f"{number} does not fit 64 bits")
    return number - (1 << 64) if number >= 1 << 63 else number


def unsigned(number: int) -> int:
    """The inverse of `signed`."""
    return number & (1 << 64) - 1


def _small(number: int) -> int:
    if not 0 <= number < 1 << 31:
        raise OutOfRange(f"{number} does not fit 31 bits")
    return number


def _positive(number: int) -> int:
    if not 0 <= number < 1 << 63:
        raise OutOfRange(f"{number} does not fit 63 bits")
    return number


def _numbers(values: list[Any]) -> list[int]:
    if not all(type(value) is int for value in values):
        raise OutOfRange("a list of numbers holds something else")
    return [signed(value) for value in values]


def _texts(values: list[Any]) -> list[str]:
    if not all(type(value) is str for value in values):
        raise OutOfRange("a list of names holds something else")
    return list(values)


def _details(values: dict[Any, Any]) -> str:
    plain = {
        str(name): value
        for name, value in values.items()
        if isinstance(value, str | int | float | bool)
    }
    return json.dumps(plain, sort_keys=True, ensure_ascii=False)[:DETAILS_CHARACTERS_MAX]


def _group(value: bytes) -> str:
    if len(value) != 16:
        raise OutOfRange(f"a group's id has 16 bytes, not {len(value)}")
    return value.hex()


_SIGNED = {"node", "region", "sender"}
# Nothing real comes to more, and differences of such numbers are numbers still.
NUMBER_MAX = 1 << 53
# Where it holds: amounts of something. The others name something, or say when.
AMOUNTS: dict[str, tuple[str, ...]] = {
    "VIEW": ("member_count",),
    "REGION": (
        *("member_count", "alive", "senders", "ring_levels", "unacknowledged"),
        *("rate_bytes_per_s", "acknowledgement_ns", "token_round_ns"),
    ),
    "LOST": ("lost",),
    "GROUP": (
        *("member_count", "messages", "bytes", "own_messages", "own_bytes", "unacknowledged"),
    ),
    "DELIVERY": ("bytes", "latency_ns"),
}
_SPECIAL: dict[str, Callable[[Any], Any]] = {
    "group": _group,
    "members": _numbers,
    "counters": _numbers,
    "counter_names": _texts,
    "details": _details,
    "health": _small,
    "reason": _small,
    "unicast": bool,
    "name": str,
    "program": str,
    "scope": str,
    "version": _small,
    "lost": _positive,
}


def _converter(column: str) -> Callable[[Any], Any]:
    if column in _SIGNED:
        return signed
    return _SPECIAL.get(column, _positive)


# Of each kind: its fields, each with its column and what makes the one the other.
_FIELDS = {
    kind: [
        (field.name, column, _converter(column))
        for field in fields
        for column in [_RENAMED.get((kind, field.name), field.name)]
    ]
    for kind, fields in SCHEMA.items()
}


def row_values(row: Row) -> dict[str, Any]:
    """The columns of one record; OutOfRange when one of its fields cannot be in a column."""
    values: dict[str, Any] = {"kind": row.kind.name, "time_ns": _positive(row.time_ns)}
    for field, column, convert in _FIELDS[row.kind]:
        values[column] = convert(row.values[field])
    if row.kind is Record.VIEW:
        values["member_count"] = len(values["members"])
    return values


def record_of(row: dict[str, Any]) -> tuple[str, int, tuple[Any, ...]]:
    """The inverse of `row_values`: kind, time and fields in the order in which they are framed."""
    kind = Record[row["kind"]]
    return kind.name, row["time_ns"], tuple(_field(column, row) for _, column, _ in _FIELDS[kind])


def _field(column: str, row: dict[str, Any]) -> Any:
    value = row[column]
    if column == "group":
        return bytes.fromhex(value)
    if column == "details":
        return json.loads(value)
    if column == "members":
        return [unsigned(each) for each in value]
    return unsigned(value) if column in _SIGNED else value
