"""Two to two thousand receivers on the simulator: throughput, time to acknowledge, what is pending.

The model: each datagram that a node receives or sends costs it so many nanoseconds, links take 50
to 51 microseconds, and nothing is lost. Both costs are measured before, in the same command, as the
processor time of a message on real sockets without offload; a run of the model with one receiver
beside one on sockets says how good the model is. At half of what it can send, the sender shows how
long an acknowledgement takes by itself: at full speed it waits for the window, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from transport.benches.programs import Effort, engine, run
from transport.benches.record import Record, middle

COUNTS = (2, 20, 200, 2000)
THROUGHPUT_TARGET = 0.95
WINDOW_BYTES = 4 << 20
# As over a network; within one machine datagrams may be longer.
PACKET_BYTES = 1432
# Virtual time; of the greatest number a millisecond is a second of the processor's.
SPAN_MS = {2: 400, 20: 400, 200: 200, 2000: 60}
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


def measure(effort: Effort) -> Iterator[Record]:
    costs = calibrate(effort)
    for coupled in (False, True):
        first = 0.0
        for full in COUNTS:
            count = max(2, effort.scaled(full))
            given = ["--receivers", count, *costs.options(), *(["--coupled"] if coupled else [])]
            span_ms = max(50, round(SPAN_MS[full] * min(1.0, 10 * effort.share)))
            found = run("engine_sim", *given, "--milliseconds", span_ms)
            first = first or found["rate"]
            calm = _at_half_speed(given, span_ms, found) if full < COUNTS[-1] else {}
            yield _record(full, count, coupled, found, first, calm, costs)


def _at_half_speed(given: list[str | int], span_ms: int, full: dict[str, Any]) -> dict[str, Any]:
    rate = max(1, round(full["rate"] / 2))
    return run("engine_sim", *given, "--milliseconds", span_ms, "--rate", rate)


def _record(
    full: int,
    count: int,
    coupled: bool,
    found: dict[str, Any],
    first: float,
    calm: dict[str, Any],
    costs: Costs,
) -> Record:
    ratio = found["rate"] / first if first else 0.0
    note = (
        f"of the rate at {COUNTS[0]}; acknowledged after {found['ack_ms']:.1f} ms, "
        f"{found['pending']:.0f} packets pending, at most {found['pending_most']}"
    )
    if calm:
        note += f"; {calm['ack_ms']:.1f} ms at half of that rate"
    if full == COUNTS[0] and not coupled:
        note += f"; {costs}"
    return Record(
        name="nodes",
        what=f"{count} nodes{', coupled levels' if coupled else ''}",
        receivers=count,
        rate=found["rate"],
        ratio=ratio,
        rss_mb=found["rss_mb"],
        target=0.0 if coupled else THROUGHPUT_TARGET,
        met=None if coupled else ratio >= THROUGHPUT_TARGET,
        papers=PAPERS if full == COUNTS[-1] and not coupled else "",
        note=note,
        more={
            "ack_ms": found["ack_ms"],
            "ack_calm_ms": calm.get("ack_ms", 0.0),
            "pending": found["pending"],
            "pending_most": found["pending_most"],
            "tokens_per_s": found["tokens_per_s"],
            "receive_ns": costs.receive_ns,
            "send_ns": costs.send_ns,
            "model_rate": costs.model,
            "socket_rate": costs.sockets,
            "coupled": coupled,
        },
    )
