"""The same figures for a desktop: tables and charts as plain files that an object can be bound to.

    feed.json       what there is: tables with their columns, charts over them; see the README
    NAME.csv        the rows of each table

Every file is replaced as a whole, `feed.json` last: whoever watches it sees finished tables.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.files import replace_file
from pipeline.report.figures import Figures, Rows
from pipeline.report.words import day_and_time, group_text, node_text

FORM = 2
_MINUTE_NS = 60_000_000_000
_DAY_MINUTES = 1440


class Column(NamedTuple):
    """As people read it: its name, where its values are from, what they are, and how written."""

    name: str
    key: str
    unit: str
    written: Callable[[Any], object]


def _same(name: str, key: str, unit: str = "count") -> Column:
    return Column(name, key, unit, lambda value: value)


def _scaled(name: str, key: str, unit: str, size: float, digits: int) -> Column:
    return Column(name, key, unit, lambda value: round(value / size, digits))


def _milliseconds(name: str, key: str) -> Column:
    return _scaled(f"{name} (ms)", key, "milliseconds", 1e6, 3)


def _megabytes(name: str, key: str) -> Column:
    return _scaled(f"{name} (MB)", key, "megabytes", 1e6, 2)


def _object(name: str, key: str) -> Column:
    return Column(name, key, "object", group_text)


_TIME = Column("time (UTC)", "minute", "moment", lambda minute: day_and_time(minute * _MINUTE_NS))

# Of each table: its title and its columns, with names that fit a column of a table on a desktop.
# One of text comes first: charts take it for labels.
TABLES: dict[str, tuple[str, tuple[Column, ...]]] = {
    "network_minutes": (
        "The network, minute by minute",
        (
            _TIME,
            _same("messages", "messages_delivered"),
            _same("packets", "data_received"),
            _same("lost", "packets_lost"),
            _same("repairs", "repairs_sent"),
            _megabytes("in", "bytes_received"),
            _megabytes("buffers", "pool_bytes_max"),
        ),
    ),
    "region_minutes": (
        "Regions, minute by minute",
        (
            _TIME,
            _milliseconds("token", "token_round_ns_p50"),
            _milliseconds("token 95 %", "token_round_ns_p95"),
            _milliseconds("ack", "acknowledgement_ns_p50"),
            _milliseconds("ack 95 %", "acknowledgement_ns_p95"),
            _scaled("pending", "pending_mean", "count", 1, 1),
        ),
    ),
    "groups": (
        "The busiest objects",
        (
            _object("object", "group"),
            _same("deliveries", "messages"),
            _megabytes("traffic", "bytes"),
            _same("sent", "own_messages"),
            _same("members", "members_max"),
            _same("changes", "views"),
        ),
    ),
    "objects": (
        "How long messages were under way",
        (
            _object("object", "group"),
            _same("messages", "messages"),
            _megabytes("traffic", "bytes"),
            _milliseconds("latency", "latency_ns_p50"),
            _milliseconds("to 95 %", "latency_ns_p95"),
            _milliseconds("to 99 %", "latency_ns_p99"),
        ),
    ),
    "trouble": (
        "Storms and swings",
        (
            _same("what", "what", "text"),
            Column("from (UTC)", "start_ns", "moment", day_and_time),
            _same("seconds", "seconds", "seconds"),
            # Columns are narrow: the end of a region's number, and the cause in a word or two.
            Column("cause", "cause", "text", lambda cause: cause.partition(":")[0]),
            Column("region", "region", "region", lambda region: node_text(region)[-8:]),
            _same("repairs in 10 s", "repairs_max"),
        ),
    ),
    "together": (
        "Objects that are opened together",
        (
            _object("object", "group"),
            _object("with", "other"),
            _same("times", "together"),
            _scaled("confidence (%)", "confidence", "percent", 0.01, 1),
        ),
    ),
    "compaction": (
        "Histories worth folding",
        (
            _object("object", "group"),
            _same("messages", "messages"),
            _megabytes("traffic", "bytes"),
            _scaled("at rest (h)", "idle_ns", "hours", 3600e9, 1),
        ),
    ),
}
CHARTS = (
    ("loss", "Losses and repairs", "network_minutes", ["lost", "repairs"]),
    ("delivered", "Messages delivered", "network_minutes", ["messages"]),
    ("busiest", "Deliveries of the busiest objects", "groups", ["deliveries"]),
    ("tokens", "Token round-trip", "region_minutes", ["token (ms)", "token 95 % (ms)"]),
)


def write_feed(figures: Figures, folder: Path) -> None:
    """Writes every table, those without rows, too, so that nobody goes on looking at what was there
    before; then what there is."""
    tables = []
    for name, (title, columns) in TABLES.items():
        rows: Rows = getattr(figures, name)
        replace_file(folder / f"{name}.csv", _csv(rows, columns).encode())
        described = [{"name": column.name, "unit": column.unit} for column in columns]
        tables.append(
            {
                "name": name,
                "title": title,
                "file": f"{name}.csv",
                "rows": len(rows),
                "columns": described,
            }
        )
    charts: list[dict[str, Any]] = [
        {
            "name": name,
            "title": title,
            "kind": "line",
            "table": table,
            "x": TABLES[table][1][0].name,
            "y": y,
        }
        for name, title, table, y in CHARTS
    ]
    feed = {"form": FORM, "tables": tables, "charts": charts}
    replace_file(folder / "feed.json", json.dumps(feed, indent=2).encode())


def _csv(rows: Rows, columns: tuple[Column, ...]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    shown = [
        column._replace(written=_minutes(rows)) if column is _TIME else column for column in columns
    ]
    writer.writerows([[_cell(row[column.key], column) for column in shown] for row in rows])
    return text.getvalue()


def _minutes(rows: Rows) -> Callable[[int], object]:
    """How minutes are written: charts have little room, and one day needs not be named."""
    days = {row["minute"] // _DAY_MINUTES for row in rows}
    return (
        _TIME.written
        if len(days) > 1
        else lambda minute: f"{minute // 60 % 24:02}:{minute % 60:02}"
    )


def _cell(value: Any, column: Column) -> object:
    return "" if value is None else column.written(value)
