"""A process dies while messages flow: how long the others get nothing, and what they get after."""

from __future__ import annotations

from collections.abc import Iterator

from transport.benches.overload import swing_of
from transport.benches.programs import Effort, engine
from transport.benches.record import Record

RECEIVERS = 3
# Far below the limit, as in the experiment with a perturbed receiver.
RATE = 20_000
SECONDS, CRASH_AFTER_MS = 5.0, 500
STALL_TARGET_MS = 2000.0
# What is looked at after a crash, in tenths of a second: the end, when all is over.
LAST_BINS = 12
PAPERS = "4.63: a slowdown of some seconds, then as before"
CASES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("a receiver dies", ()),
    ("the host of the membership dies", ("--host-apart",)),
)


def measure(effort: Effort) -> Iterator[Record]:
    span = Effort(max(0.1, SECONDS * effort.share), 1, effort.share)
    after_ms = max(20, round(CRASH_AFTER_MS * effort.share))
    given = ("--receivers", RECEIVERS, "--rate", RATE, "--crash", after_ms, "--bins")
    for name, options in CASES:
        (run,) = engine(span, *given, *options)
        bins = run["bins"][1][-LAST_BINS:]
        yield Record(
            name="crash",
            what=name,
            receivers=RECEIVERS,
            rate=run["rate"],
            raw=float(RATE),
            ratio=run["rate"] / RATE,
            loss=run["loss"],
            p50_us=run["p50_us"],
            p99_us=run["p99_us"],
            rss_mb=run["rss_mb"],
            target=STALL_TARGET_MS,
            met=run["stall_ms"] <= STALL_TARGET_MS,
            papers=PAPERS if options else "",
            note=(
                f"of what was offered, in all; nothing came for {run['stall_ms']:.0f} ms, the "
                f"target is at most {STALL_TARGET_MS:.0f}; in the end it swings by "
                f"{swing_of(bins):.0%}"
            ),
            more={"stall_ms": run["stall_ms"], "delivered": run["delivered"]},
        )
