"""One receiver sleeps, hears nothing for a while, or freezes: what the others keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from transport.benches.programs import Effort, engine
from transport.benches.record import Record

RECEIVERS = 3
# Far below the limit, so that what is seen is the protocol and not three processes on two cores.
RATE = 20_000
KEPT_TARGET = 0.95
REPAIRS_TARGET = 1.5
# A round of the token as it is configured; in traffic like this tokens go round far more often.
TOKEN_ROUND_MS = 50.0
ROUNDS_TARGET = 2.0
PAPERS = "4.31, 4.35: falls steadily from 80 nodes on; repaired after two token rounds"
# Name, options and, for a whole run, how many seconds it takes.
TROUBLES: tuple[tuple[str, tuple[str | int, ...], float], ...] = (
    ("sleeps 0.5 s every 5 s", ("--sleep", 500, "--every", 5000), 11.0),
    ("drops all for 10 ms every s", ("--deaf", 10, "--every", 1000), 6.0),
    ("freezes for 10 s", ("--sleep", 10_000, "--every", 2000, "--once"), 16.0),
)


def _others(run: Mapping[str, Any]) -> float:
    """What the slower of the untroubled receivers got."""
    return float(min(run["delivered"][1:]) / run["seconds"])


def measure(effort: Effort) -> Iterator[Record]:
    base = ("--receivers", RECEIVERS, "--rate", RATE)
    calm = _others(engine(Effort(effort.seconds, 1, effort.share), *base)[0])
    for name, options, seconds in TROUBLES:
        (run,) = engine(Effort(max(0.1, seconds * effort.share), 1, effort.share), *base, *options)
        kept = _others(run) / calm if calm else 0.0
        lost, sent = run["counters"]["packets_lost"], run["counters"]["repairs_sent"]
        repairs = sent / lost if lost else 0.0
        rounds = run["recovered_ms"] / TOKEN_ROUND_MS
        note = f"of the rate without trouble; {repairs:.2f} repairs sent for each packet missed"
        if run["counters"]["evicted"]:
            note += "; it was put out and came back"
        else:
            note += (
                f"; has what the others have {run['recovered_ms']:.1f} ms after it at the latest"
            )
        yield Record(
            name="perturbed",
            what=name,
            receivers=RECEIVERS,
            rate=_others(run),
            ratio=kept,
            p50_us=run["p50_us"],
            p99_us=run["p99_us"],
            rss_mb=run["rss_mb"],
            target=KEPT_TARGET,
            met=kept >= KEPT_TARGET and repairs <= REPAIRS_TARGET and rounds <= ROUNDS_TARGET,
            papers=PAPERS if name == TROUBLES[0][0] else "",
            note=note,
            more={
                "repairs_per_lost": repairs,
                "lost": lost,
                "evicted": run["counters"]["evicted"],
                "recovered_ms": run["recovered_ms"],
                "token_rounds": rounds,
                "tokens_per_s": run["counters"]["tokens_launched"] / run["seconds"],
            },
        )
