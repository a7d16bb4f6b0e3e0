"""Receivers that take only so much: what is delivered when up to three times that is offered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean, pstdev

from transport.benches.programs import Effort, engine
from transport.benches.record import Record

RECEIVERS = 2
# Messages a second that the receiving applications fetch at most: that makes them the limit.
CAPACITY = 20_000
STEPS = (0.5, 1.0, 2.0, 3.0)
TARGET = 0.9
# The greatest over-load lasts longer than the papers' swings.
SECONDS, SECONDS_OVERLOADED = 3.0, 40.0
SWING_MAX = 0.1
SETTLE_BINS = 20
PAPERS = "4.61: the rate swings in periods of 30 s"


def swing_of(bins: Sequence[int]) -> float:
    """How much deliveries differ between tenths of a second, after a time in which rates settle."""
    settled = bins[min(len(bins) // 2, SETTLE_BINS) : -2] or [0]
    return pstdev(settled) / mean(settled) if mean(settled) else 0.0


def measure(effort: Effort) -> Iterator[Record]:
    best = 0.0
    for step in STEPS:
        offered = round(CAPACITY * step)
        last = step == STEPS[-1]
        least = (SECONDS_OVERLOADED if last else SECONDS) * effort.share
        (run,) = engine(
            Effort(max(effort.seconds, least), 1, effort.share),
            *("--receivers", RECEIVERS, "--take-rate", CAPACITY, "--rate", offered, "--bins"),
        )
        best = max(best, run["rate"])
        swing = swing_of(min(run["bins"], key=sum))
        ratio = run["rate"] / best if best else 0.0
        yield Record(
            name="overload",
            what=f"{step:g} times what they take",
            receivers=RECEIVERS,
            rate=run["rate"],
            raw=float(offered),
            ratio=ratio,
            rss_mb=run["rss_mb"],
            target=TARGET if last else 0.0,
            met=ratio >= TARGET and swing <= SWING_MAX if last else None,
            papers=PAPERS if last else "",
            note=f"of the best; raw is what was offered; it swings by {swing:.0%}",
            more={"swing": swing, "repairs": run["counters"]["repairs_sent"]},
        )
