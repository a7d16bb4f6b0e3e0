"""Receivers that take only so much: what is delivered when up to three times that is offered."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean, pstdev

from transport.benches.programs import Effort, engine
from transport.benches.record import Record

RECEIVERS = 2
# Messages a second that the receiving applications fetch at most: that makes them the limit.
CAPACITY = 20_000
STEPS = (0.5, 1.0, 2.0, 3.0)
TARGET = 0.9
PAPERS = "4.61: the rate swings in periods of 30 s"


def measure(effort: Effort) -> Iterator[Record]:
    best = 0.0
    for step in STEPS:
        offered = round(CAPACITY * step)
        (run,) = engine(
            Effort(max(effort.seconds, 3 * effort.share), 1, effort.share),
            *("--receivers", RECEIVERS, "--take-rate", CAPACITY, "--rate", offered, "--bins"),
        )
        best = max(best, run["rate"])
        # Of each tenth of a second, but the first half, in which rates settle.
        bins = min(run["bins"], key=sum)[:-2]
        steady = bins[len(bins) // 2 :] or [0]
        swing = pstdev(steady) / mean(steady) if mean(steady) else 0.0
        ratio = run["rate"] / best if best else 0.0
        yield Record(
            name="overload",
            what=f"{step:g} times what they take",
            receivers=RECEIVERS,
            rate=run["rate"],
            raw=float(offered),
            ratio=ratio,
            rss_mb=run["rss_mb"],
            target=TARGET if step == STEPS[-1] else 0.0,
            met=ratio >= TARGET if step == STEPS[-1] else None,
            papers=PAPERS if step == STEPS[-1] else "",
            note=f"of the best; raw is what was offered; it swings by {swing:.0%}",
            more={"swing": swing, "repairs": run["counters"]["repairs_sent"]},
        )
