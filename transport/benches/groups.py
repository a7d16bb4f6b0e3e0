"""The same traffic spread over more and more groups: rate, memory of a group, time to set up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from transport.benches.programs import SETTLE_MS, Effort, engine, raw_limit
from transport.benches.record import Record, middle

RECEIVERS = 2
COUNTS = (1, 64, 1024, 8192, 65536)
# Share of the rate with one group that must be left.
TARGETS = {8192: 0.95, 65536: 0.90}
GROUP_BYTES_MAX = 300
SET_UP_S_MAX = {8192: 1.0}
PAPERS = "4.44, 4.46: memory grows with groups, the rate falls; unstable from about 3,500 on"


def measure(effort: Effort) -> Iterator[Record]:
    limit = raw_limit(effort, RECEIVERS)
    one = 0.0
    for full in COUNTS:
        count = 1 if full == 1 else effort.scaled(full)
        # Every group has its first message, and with it what is kept of its sender, beforehand.
        settle_ms = round(SETTLE_MS * min(1.0, 10 * effort.share)) + count // 16
        given = ("--receivers", RECEIVERS, "--groups", count, "--settle", settle_ms)
        runs = engine(effort, *given)
        rate = middle(runs, "rate")
        one = one or rate
        record = Record(
            name="groups",
            what=f"{count} groups",
            receivers=RECEIVERS,
            groups=count,
            rate=rate,
            raw=limit.offload or limit.plain,
            ratio=rate / one if one else 0.0,
            loss=max(run["loss"] for run in runs),
            rss_mb=middle(runs, "rss_mb"),
            papers=PAPERS if full == COUNTS[-1] else "",
            more={
                "group_bytes": middle(runs, "group_bytes"),
                "host_group_bytes": middle(runs, "host_group_bytes"),
                "setup_s": middle(runs, "setup_s"),
                "sender_us": middle(runs, "sender_us"),
                "receiver_us": middle(runs, "receiver_us"),
            },
        )
        yield _judged(record, full)


def _judged(record: Record, full: int) -> Record:
    """The ratio here is to the rate with one group; memory and set-up have targets, too."""
    memory, setup_s = record.more["group_bytes"], record.more["setup_s"]
    hosted = record.more["host_group_bytes"]
    note = (
        f"of the rate with one group; {memory:.0f} bytes a group at a receiver, {hosted:.0f} at "
        f"the sender, which hosts; set up in {setup_s:.2f} s"
    )
    if full not in TARGETS:
        return replace(record, note=note)
    met = (
        record.ratio >= TARGETS[full]
        and memory <= GROUP_BYTES_MAX
        and setup_s <= SET_UP_S_MAX.get(full, float("inf"))
    )
    return replace(record, note=note, target=TARGETS[full], met=met)
