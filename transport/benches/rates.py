"""From few messages a second to very many, long and short: latency, what is pending, the load."""

from __future__ import annotations

from collections.abc import Iterator

from transport.benches.programs import Effort, engine
from transport.benches.record import Record, middle

RECEIVERS = 2
RATES = (1_000, 10_000, 100_000, 400_000)
SIZES = (100, 1000)
PAPERS = "4.39 to 4.42: pending, latency and the sender's load rise sharply at the highest rates"


def measure(effort: Effort) -> Iterator[Record]:
    for size in SIZES:
        for offered in RATES:
            yield _point(effort, offered, size)


def _point(effort: Effort, offered: int, size: int) -> Record:
    given = ("--receivers", RECEIVERS, "--bytes", size, "--rate", offered, "--alarms")
    runs = engine(effort, *given)
    delays = [pair for run in runs for pair in run["alarm_delays_ms"]] or [[0.0, 0.0]]
    return Record(
        name="rates",
        what=f"{offered:,}/s of {size} bytes",
        receivers=RECEIVERS,
        bytes=size,
        rate=middle(runs, "rate"),
        raw=float(offered),
        ratio=middle(runs, "rate") / offered,
        loss=max(run["loss"] for run in runs),
        p50_us=middle(runs, "p50_us"),
        p99_us=middle(runs, "p99_us"),
        rss_mb=middle(runs, "rss_mb"),
        papers=PAPERS if (offered, size) == (RATES[-1], SIZES[-1]) else "",
        note=(
            f"of what was offered; {middle(runs, 'pending'):.0f} packets pending, acknowledged "
            f"after {middle(runs, 'ack_ms'):.1f} ms; {middle(runs, 'sender_core'):.1%} of a core "
            f"to send, {middle(runs, 'receiver_core'):.1%} to receive"
        ),
        more={
            "pending": middle(runs, "pending"),
            "ack_ms": middle(runs, "ack_ms"),
            "sender_core": middle(runs, "sender_core"),
            "receiver_core": middle(runs, "receiver_core"),
            "receiver_alarm_ms": max(pair[0] for pair in delays),
            "sender_alarm_ms": max(pair[1] for pair in delays),
        },
    )
