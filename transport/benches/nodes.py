"""Two to two thousand receivers on the simulator: throughput, time to acknowledge, what is pending.

The model: each datagram that a node receives or sends costs it so many nanoseconds, links take 50
to 51 microseconds, and nothing is lost. Both costs are measured before, in the same command, as the
processor time of a message on real sockets without offload; a run of the model with one receiver
beside one on sockets says how good the model is. At half of what it can send, the sender shows how
long an acknowledgement takes by itself: at full speed it waits for the window, too.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from transport.benches.programs import BenchProblem, Effort, engine, run
from transport.benches.record import Record, middle

COUNTS = (2, 20, 200, 2000)
THROUGHPUT_TARGET = 0.95
RUNS_AT_ONCE = 2
WINDOW_BYTES = 4 << 20
# As over a network; within one machine datagrams may be longer.
PACKET_BYTES = 1432
# Virtual time, at least; of the greatest number a millisecond is a second of the processor's.
SPAN_MS = {2: 400, 20: 400, 200: 200, 2000: 40}
PAPERS = "4.18, 4.23, 4.24: 5 % less; pending and time to acknowledge grow with n, by 0.5 s to 200"


@dataclass(frozen=True, slots=True)
class Costs:
    """Nanoseconds that a datagram takes of a node, and how the model compares with sockets."""

    receive_ns: int
    send_ns: int
    model: float
    sockets: float

    def options(self) -> list[str | int]:
        costs: list[str | int] = ["--receive-ns", self.receive_ns, "--send-ns", self.send_ns]
        return [*costs, "--window", WINDOW_BYTES]

    def __str__(self) -> str:
        return (
            f"{self.send_ns} ns to send, {self.receive_ns} ns to receive; with one receiver the "
            f"model sends {self.model:,.0f}/s, sockets {self.sockets:,.0f}/s"
        )


def calibrate(effort: Effort) -> Costs:
    """From real runs with one receiver, so that each process has a core; a message a datagram."""
    runs = engine(effort, "--receivers", 1, "--no-offload", "--packet", PACKET_BYTES)
    receive_ns = max(100, round(middle(runs, "receiver_us") * 1000))
    send_ns = max(100, round(middle(runs, "sender_us") * 1000))
    costs = Costs(receive_ns, send_ns, 0.0, middle(runs, "rate"))
    found = run("engine_sim", "--receivers", 1, "--milliseconds", SPAN_MS[2], *costs.options())
    return Costs(receive_ns, send_ns, found["rate"], costs.sockets)


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
    shorter = min(1.0, 10 * effort.share)
    return [
        Point(full, max(2, effort.scaled(full)), coupled, max(50, round(SPAN_MS[full] * shorter)))
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
