"""Two to two thousand receivers on the simulator: throughput, time to acknowledge, what is pending.

The model: every datagram and every event costs its node so many nanoseconds, links take 50 to 55
microseconds, and nothing is lost. `calibrate` measures that cost on real sockets without offload.
"""

from __future__ import annotations

from collections.abc import Iterator

from transport.benches.programs import Effort, engine, run
from transport.benches.record import Record, middle

COUNTS = (2, 20, 200, 2000)
THROUGHPUT_TARGET = 0.95
# A node of the model is slowed down by this, so that 2,000 of them can be simulated in a minute.
SLOWER = 8
# Virtual time; a quarter of it for the greatest number, of which a millisecond is much work.
SPAN_MS = 400
PAPERS = "4.18, 4.23, 4.24: 5 % less; pending and time to acknowledge grow with n, by 0.5 s to 200"


def calibrate(effort: Effort) -> int:
    """What a datagram costs a receiver, in nanoseconds, as the median of real runs."""
    runs = engine(effort, "--receivers", 2, "--no-offload")
    return max(500, round(middle(runs, "receiver_us") * 1000))


def measure(effort: Effort) -> Iterator[Record]:
    cost_ns = calibrate(effort)
    for coupled in (False, True):
        first = 0.0
        for full in COUNTS:
            count = max(2, effort.scaled(full))
            options: list[str | int] = ["--receivers", count, "--cost-ns", cost_ns * SLOWER]
            span_ms = SPAN_MS if full < COUNTS[-1] else SPAN_MS // 4
            options += ["--milliseconds", max(100, round(span_ms * effort.share))]
            found = run("engine_sim", *options, *(["--coupled"] if coupled else []))
            first = first or found["sent_per_s"]
            ratio = found["sent_per_s"] / first if first else 0.0
            yield Record(
                name="nodes",
                what=f"{count} nodes{', coupled levels' if coupled else ''}",
                receivers=count,
                rate=found["sent_per_s"],
                ratio=ratio,
                rss_mb=found["rss_mb"],
                target=0.0 if coupled else THROUGHPUT_TARGET,
                met=None if coupled else ratio >= THROUGHPUT_TARGET,
                papers=PAPERS if full == COUNTS[-1] and not coupled else "",
                note=f"of the rate at {COUNTS[0]}; acknowledged after {found['ack_ms']:.1f} ms, "
                f"{found['pending']:.0f} packets pending, at most {found['pending_most']}",
                more={
                    "ack_ms": found["ack_ms"],
                    "pending": found["pending"],
                    "pending_most": found["pending_most"],
                    "tokens_per_s": found["tokens_per_s"],
                    "cost_ns": cost_ns * SLOWER,
                    "coupled": coupled,
                },
            )
