"""The benchmark: generates logs, lets each side have them, compares counts, prints a table."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pipeline.bench.memory import run_side
from pipeline.errors import PipelineProblem
from pipeline.files import replace_file
from pipeline.generator.office import OfficePlan, make_office
from pipeline.generator.options import TraceOptions
from pipeline.generator.write import write_landed, write_memberships

# Beyond, plain Python would take an hour; its time for each event does not change.
PYTHON_EVENTS_MAX = 100_000_000
PLANNING = (
    OfficePlan(people=2000, objects=10_000),
    # Ten times both; what everybody has does not grow tenfold with them.
    OfficePlan(people=20_000, objects=100_000, shares=(0.005, 0.15, 0.745)),
)


def bench(
    sizes: Sequence[int],
    *,
    only: str | None,
    json_file: Path | None,
    master: str,
    tell: Callable[[str], None],
) -> None:
    """Prints the figures as it has them."""
    figures: dict[str, Any] = {"events": [], "planning": []}
    for size in sizes if only != "planning" else ():
        with tempfile.TemporaryDirectory(prefix="live-objects-bench-") as folder:
            figures["events"].append(_events(size, Path(folder), master, tell))
    for plan in PLANNING if only != "events" else ():
        with tempfile.TemporaryDirectory(prefix="live-objects-bench-") as folder:
            figures["planning"].append(_planning(plan, Path(folder), master, tell))
    if json_file is not None:
        replace_file(json_file, json.dumps(figures, indent=2).encode())


def _events(size: int, folder: Path, master: str, tell: Callable[[str], None]) -> dict[str, Any]:
    landing = folder / "landing"
    tell(f"generating {size} events")
    write_landed(make_office(1, OfficePlan()), TraceOptions(size), landing, lambda _: None)
    sides: dict[str, dict[str, Any]] = {}
    tell("DuckDB")
    sides["DuckDB"] = run_side("pipeline.bench.duckdb_side", str(landing), str(folder / "duckdb"))
    tell("Spark")
    sides["Spark"] = run_side(
        "pipeline.bench.spark_side", str(landing), str(folder / "store"), master
    )
    if size <= PYTHON_EVENTS_MAX:
        tell("plain Python")
        sides["Python"] = run_side("pipeline.bench.python_side", str(landing))
    for name, side in sides.items():
        for what in ("rows", "counts"):
            if side[what] != sides["DuckDB"][what]:
                raise PipelineProblem(f"{name} and DuckDB differ in {what} at {size} events.")
    _print(f"{size:,} events; counts are equal on all sides", _event_rows(size, sides))
    return {"events": size, **sides}


def _event_rows(size: int, sides: dict[str, dict[str, Any]]) -> list[list[str]]:
    rows = [["", "start", "ingest", "events/s", "four figures", "events/s", "all tables", "memory"]]
    for name, side in sides.items():
        ingest_s, figures_s = side.get("ingest_s"), side["figures_s"]
        rows.append(
            [
                name,
                _seconds(side.get("start_s")),
                _seconds(ingest_s),
                f"{size / ingest_s:,.0f}" if ingest_s else "-",
                _seconds(figures_s),
                f"{size / figures_s:,.0f}",
                _seconds(side.get("all_tables_s")),
                f"{side['peak_bytes'] / 1e9:.2f} GB",
            ]
        )
    return rows


def _planning(
    plan: OfficePlan, folder: Path, master: str, tell: Callable[[str], None]
) -> dict[str, Any]:
    landing = folder / "landing"
    tell(f"generating {plan.people} nodes with {plan.objects} groups")
    write_memberships(make_office(1, plan), landing)
    tell("planning")
    side = run_side("pipeline.bench.planning_side", str(landing), str(folder / "store"), master)
    made, exact = side["plan"], side["exact"]
    rows = [
        ["", "regions of a node", "datagrams a message", "unwanted", "two largest regions"],
        *(
            [
                name,
                f"{cost['regions_mean']:.1f}",
                f"{cost['datagrams']:.1f}",
                f"{cost['waste']:.1%}",
                f"{cost['top_two']:.1%}",
            ]
            for name, cost in (("plan", made), ("exact", exact))
        ),
    ]
    _print(
        f"{plan.people:,} nodes, {plan.objects:,} groups, {side['memberships']:,} memberships:"
        f" ingested in {side['ingest_s']:.1f} s, planned in {side['plan_s']:.1f} s,"
        f" {side['peak_bytes'] / 1e9:.2f} GB",
        rows,
    )
    return {"people": plan.people, "objects": plan.objects, **side}


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} s"


def _print(title: str, rows: list[list[str]]) -> None:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        )
        for row in rows
    ]
    sys.stdout.write("\n".join([title, *lines, ""]) + "\n")
    sys.stdout.flush()
