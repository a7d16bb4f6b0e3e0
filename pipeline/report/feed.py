"""The same figures for a desktop: tables and charts as plain files that an object can be bound to.

    feed.json       what there is: tables with their columns, charts over them; see the README
    NAME.csv        the rows of each table

Every file is replaced as a whole, `feed.json` last: whoever watches it sees finished tables.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from pipeline.files import replace_file
from pipeline.report.figures import Figures, Rows

FORM = 1

# Of each table: its title, and its columns with what their numbers are.
TABLES: dict[str, tuple[str, dict[str, str]]] = {
    "network_minutes": (
        "The network, minute by minute",
        {
            "minute": "minute",
            "messages_delivered": "count",
            "data_received": "count",
            "packets_lost": "count",
            "repairs_sent": "count",
            "bytes_received": "bytes",
            "pool_bytes_max": "bytes",
        },
    ),
    "region_minutes": (
        "Regions, minute by minute",
        {
            "minute": "minute",
            "token_round_ns_p50": "nanoseconds",
            "token_round_ns_p95": "nanoseconds",
            "acknowledgement_ns_p50": "nanoseconds",
            "acknowledgement_ns_p95": "nanoseconds",
            "pending_mean": "count",
        },
    ),
    "objects": (
        "The busiest objects",
        {
            "group": "group",
            "messages": "count",
            "bytes": "bytes",
            "latency_ns_p50": "nanoseconds",
            "latency_ns_p95": "nanoseconds",
            "latency_ns_p99": "nanoseconds",
        },
    ),
    "trouble": (
        "Storms and swings",
        {
            "what": "text",
            "region": "node",
            "start_ns": "time",
            "seconds": "seconds",
            "repairs_max": "count",
            "cause": "text",
        },
    ),
    "together": (
        "Objects that are opened together",
        {"group": "group", "other": "group", "together": "count", "confidence": "share"},
    ),
    "compaction": (
        "Histories worth folding",
        {"group": "group", "messages": "count", "bytes": "bytes", "idle_ns": "nanoseconds"},
    ),
}
CHARTS = (
    ("loss", "Losses and repairs", "network_minutes", "minute", ["packets_lost", "repairs_sent"]),
    ("delivered", "Messages delivered", "network_minutes", "minute", ["messages_delivered"]),
    (
        "tokens",
        "Token round-trip",
        "region_minutes",
        "minute",
        ["token_round_ns_p50", "token_round_ns_p95"],
    ),
)


def write_feed(figures: Figures, folder: Path) -> None:
    """Writes every table that has rows, then what there is."""
    tables = []
    for name, (title, columns) in TABLES.items():
        rows: Rows = getattr(figures, name)
        if not rows:
            continue
        replace_file(folder / f"{name}.csv", _csv(rows, list(columns)).encode())
        described = [{"name": column, "unit": unit} for column, unit in columns.items()]
        tables.append(
            {
                "name": name,
                "title": title,
                "file": f"{name}.csv",
                "rows": len(rows),
                "columns": described,
            }
        )
    present = {table["name"] for table in tables}
    charts: list[dict[str, Any]] = [
        {"name": name, "title": title, "kind": "line", "table": table, "x": x, "y": y}
        for name, title, table, x, y in CHARTS
        if table in present
    ]
    feed = {"form": FORM, "tables": tables, "charts": charts}
    replace_file(folder / "feed.json", json.dumps(feed, indent=2).encode())


def _csv(rows: Rows, columns: list[str]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([["" if row[name] is None else row[name] for name in columns] for row in rows])
    return text.getvalue()
