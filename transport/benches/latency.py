"""From the sender's call to the receivers' at 2,000 messages a second, beside sendto/recvfrom."""

from __future__ import annotations

from collections.abc import Iterator

from transport.benches.programs import Effort, engine, repeat
from transport.benches.record import Record, middle

RECEIVERS = 2
RATE = 2000
P50_TARGET = 1.5
P99_TARGET = 2.0


def measure(effort: Effort) -> Iterator[Record]:
    span = ("--receivers", RECEIVERS, "--rate", RATE)
    raw = repeat(effort, "raw_latency", "--milliseconds", effort.milliseconds, *span)
    runs = engine(effort, *span)
    raw_p50, raw_p99 = middle(raw, "p50_us"), middle(raw, "p99_us")
    p50, p99 = middle(runs, "p50_us"), middle(runs, "p99_us")
    ratio = p50 / raw_p50 if raw_p50 else 0.0
    p99_ratio = p99 / raw_p99 if raw_p99 else 0.0
    yield Record(
        name="latency",
        what="latency at 2,000/s",
        receivers=RECEIVERS,
        rate=middle(runs, "rate"),
        raw=raw_p50,
        ratio=ratio,
        loss=max(run["loss"] for run in runs),
        p50_us=p50,
        p99_us=p99,
        rss_mb=middle(runs, "rss_mb"),
        target=P50_TARGET,
        met=ratio <= P50_TARGET and p99_ratio <= P99_TARGET,
        note=f"raw: {raw_p50:.1f} and {raw_p99:.1f} us; p99 {p99_ratio:.2f} times raw, at most 2",
        more={"raw_p50_us": raw_p50, "raw_p99_us": raw_p99, "p99_ratio": p99_ratio},
    )
