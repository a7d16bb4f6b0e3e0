"""One sender, two receivers, one group: beside the raw limit, with and without offload."""

from __future__ import annotations

from collections.abc import Iterator

from transport.benches.programs import Effort, engine, raw_limit
from transport.benches.record import Record, middle

RECEIVERS = 2
OFFLOAD_TARGET = 0.5
PLAIN_TARGET = 0.85
PAPERS = "4.19: the sender's processor is the limit, plain sockets, not sealed"


def measure(effort: Effort) -> Iterator[Record]:
    limit = raw_limit(effort, RECEIVERS)
    for offload in (True, False):
        raw = limit.offload if offload else limit.plain
        runs = engine(effort, "--receivers", RECEIVERS, *([] if offload else ["--no-offload"]))
        rate = middle(runs, "rate")
        ratio = rate / raw if raw else 0.0
        target = OFFLOAD_TARGET if offload else PLAIN_TARGET
        yield Record(
            name="throughput",
            what="throughput, offload" if offload else "throughput, plain",
            receivers=RECEIVERS,
            rate=rate,
            raw=raw,
            ratio=ratio,
            loss=max(run["loss"] for run in runs),
            rss_mb=middle(runs, "rss_mb"),
            target=target,
            met=ratio >= target,
            papers=PAPERS if not offload else "",
            more={
                "offload": offload,
                "sender_us": middle(runs, "sender_us"),
                "receiver_us": middle(runs, "receiver_us"),
            },
        )
