"""Two to two thousand receivers on the simulator: throughput, time to acknowledge, what is pending.

What a datagram costs is measured before, in the same command (see model.py). At half of what it can
send, the sender shows how long an acknowledgement takes by itself: at full speed it waits for the
window, too.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from transport.benches.model import WINDOW_BYTES, Costs, calibrate
from transport.benches.programs import BenchProblem, Effort, run
from transport.benches.record import Record

COUNTS = (2, 20, 200, 2000)
THROUGHPUT_TARGET = 0.95
RUNS_AT_ONCE = 2
# Virtual time, at least; of the greatest number a millisecond is a second of the processor's.
SPAN_MS = {2: 400, 20: 400, 200: 200, 2000: 40}
PAPERS = "4.18, 4.23, 4.24: 5 % less; pending and time to acknowledge grow with n, by 0.5 s to 200"


@dataclass(frozen=True, slots=True)
class Point:
    """One run of the model, and the number of receivers that it would have in full size."""

    full: int
    count: int
    coupled: bool
    span_ms: int

    def run(self, costs: Costs) -> dict[str, Any]:
        levels = ("--coupled",) if self.coupled else ()
        size = ("--receivers", self.count, "--milliseconds", self.span_ms)
        return run("engine_sim", *size, *costs.options(), *levels, "--calm")


def _points(effort: Effort) -> list[Point]:
    return [
        Point(full, max(2, effort.scaled(full)), coupled, effort.shortened(SPAN_MS[full]))
        for coupled in (False, True)
        for full in COUNTS
    ]


def measure(effort: Effort) -> Iterator[Record]:
    """Runs take virtual time, so that they may share the machine: as many at once as it has cores,
    the longest first."""
    costs = calibrate(effort)
    points = _points(effort)
    with ThreadPoolExecutor(max_workers=min(RUNS_AT_ONCE, os.cpu_count() or 1)) as workers:
        longest_first = sorted(points, key=lambda point: -point.full)
        runs = {point: workers.submit(point.run, costs) for point in longest_first}
        first: dict[bool, dict[str, Any]] = {}
        for point in points:
            try:
                found = runs[point].result()
            except BenchProblem as problem:
                what = _name(point)
                yield Record("nodes", what, point.count, problem=str(problem))
                continue
            yield _record(point, found, first.setdefault(point.coupled, found), costs)


def _name(point: Point) -> str:
    return f"{point.count} nodes{', coupled levels' if point.coupled else ''}"


def _grows_with_log(point: Point, found: dict[str, Any], first: dict[str, Any]) -> bool:
    """At most the time with two receivers for each time that their number has doubled."""
    return bool(found["ack_calm_ms"] <= first["ack_calm_ms"] * math.log2(point.count))


def _record(point: Point, found: dict[str, Any], first: dict[str, Any], costs: Costs) -> Record:
    ratio = found["rate"] / first["rate"] if first["rate"] else 0.0
    bounded = found["pending_most"] * found["bytes"] <= WINDOW_BYTES
    met = ratio >= THROUGHPUT_TARGET and bounded and _grows_with_log(point, found, first)
    note = (
        f"of the rate at {COUNTS[0]}; acknowledged after {found['ack_ms']:.1f} ms, "
        f"{found['ack_calm_ms']:.1f} at half of that rate; "
        f"{found['pending']:.0f} packets pending, at most {found['pending_most']}"
    )
    if point.full == COUNTS[0] and not point.coupled:
        note += f"; {costs}"
    return Record(
        name="nodes",
        what=_name(point),
        receivers=point.count,
        rate=found["rate"],
        ratio=ratio,
        rss_mb=found["rss_mb"],
        target=0.0 if point.coupled else THROUGHPUT_TARGET,
        met=None if point.coupled else met,
        papers=PAPERS if point.full == COUNTS[-1] and not point.coupled else "",
        note=note,
        more={
            "ack_ms": found["ack_ms"],
            "ack_calm_ms": found["ack_calm_ms"],
            "pending": found["pending"],
            "pending_most": found["pending_most"],
            "tokens_per_s": found["tokens_per_s"],
            "receive_ns": costs.receive_ns,
            "send_ns": costs.send_ns,
            "model_rate": costs.model,
            "socket_rate": costs.sockets,
            "coupled": point.coupled,
            "cpu_s": found["cpu_s"],
        },
    )
