"""64-byte messages in 1,000 groups are packed together: beside one datagram for each."""

from __future__ import annotations

from collections.abc import Iterator

from transport.benches.programs import Effort, engine, raw_limit
from transport.benches.record import Record, middle

RECEIVERS = 2
BYTES = 64
GROUPS = 1000
TARGET = 5.0


def measure(effort: Effort) -> Iterator[Record]:
    raw = raw_limit(effort, RECEIVERS, BYTES)
    groups = effort.scaled(GROUPS)
    given = ("--receivers", RECEIVERS, "--groups", groups, "--bytes", BYTES)
    runs = engine(effort, *given)
    rate = middle(runs, "rate")
    packets = sum(run["counters"]["packets_sent"] for run in runs)
    delivered = sum(run["rate"] * run["seconds"] for run in runs)
    yield Record(
        name="small",
        what=f"64 bytes in {groups} groups",
        receivers=RECEIVERS,
        groups=groups,
        bytes=BYTES,
        rate=rate,
        raw=raw.plain,
        ratio=rate / raw.plain if raw.plain else 0.0,
        loss=max(run["loss"] for run in runs),
        rss_mb=middle(runs, "rss_mb"),
        target=TARGET,
        met=rate >= TARGET * raw.plain,
        note="raw: one datagram each, plain sockets",
        more={"messages_per_packet": delivered / packets if packets else 0.0},
    )
