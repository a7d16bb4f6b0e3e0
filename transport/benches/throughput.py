"""One sender, two receivers, one group: beside the raw limit, with and without offload.

Within one machine messages are packed into long datagrams; with datagrams that fit Ethernet the
same is measured once more. CycloneDDS in C, where `make bench PEERS=1` has put it, is measured in
the same run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from transport.benches.programs import PEERS, BenchProblem, Effort, beside_raw, repeat
from transport.benches.record import Record, median_share, middle

RECEIVERS = 2
OFFLOAD_TARGET = 0.5
PLAIN_TARGET = 0.85
PEER_TARGET = 2.0
PAPERS = "4.19: the sender's processor is the limit, plain sockets, not sealed"
ETHERNET_BYTES = 1432
PEER_LIBRARY = PEERS / "cyclonedds" / ".libs" / "libddsc.so"


@dataclass(frozen=True, slots=True)
class Way:
    """How the engine is asked to send."""

    what: str
    offload: bool
    options: Sequence[str | int]
    target: float = 0.0


WAYS = (
    Way("throughput, offload", True, (), OFFLOAD_TARGET),
    Way("throughput, offload, Ethernet's size", True, ("--packet", ETHERNET_BYTES)),
    Way("throughput, plain", False, ("--no-offload",), PLAIN_TARGET),
)


def measure(effort: Effort) -> Iterator[Record]:
    rounds = beside_raw(effort, RECEIVERS, *(way.options for way in WAYS))
    best = limit = 0.0
    for place, way in enumerate(WAYS):
        raws = [each.raw.offload if way.offload else each.raw.plain for each in rounds]
        runs = [each.runs[place] for each in rounds]
        rate, raw = middle(runs, "rate"), median(raws)
        best, limit = max(best, rate), max(limit, raw)
        ratio = median_share(runs, raws)
        yield Record(
            name="throughput",
            what=way.what,
            receivers=RECEIVERS,
            rate=rate,
            raw=raw,
            ratio=ratio,
            loss=max(run["loss"] for run in runs),
            rss_mb=middle(runs, "rss_mb"),
            target=way.target,
            met=ratio >= way.target if way.target else None,
            papers=PAPERS if not way.offload else "",
            more={
                "offload": way.offload,
                "sender_us": middle(runs, "sender_us"),
                "receiver_us": middle(runs, "receiver_us"),
            },
        )
    if PEER_LIBRARY.is_file():
        yield peer(effort, best, limit, PEER_LIBRARY)


def peer(effort: Effort, ours: float, raw: float, library: Path) -> Record:
    """CycloneDDS, reliable, writes batched, not encrypted; the ratio is ours by theirs."""
    what = "CycloneDDS in C"
    span = ("--receivers", RECEIVERS, "--milliseconds", effort.milliseconds)
    try:
        runs = repeat(effort, "peer_dds", str(library), *span)
    except BenchProblem as problem:
        return Record(name="throughput", what=what, receivers=RECEIVERS, problem=str(problem))
    rate = middle(runs, "rate")
    ratio = ours / rate if rate else 0.0
    return Record(
        name="throughput",
        what=what,
        receivers=RECEIVERS,
        rate=rate,
        raw=raw,
        ratio=ratio,
        loss=max(run["loss"] for run in runs),
        target=PEER_TARGET,
        met=ratio >= PEER_TARGET,
        note="the ratio is ours by theirs",
        more={
            "sender_us": middle(runs, "sender_us"),
            "receiver_us": middle(runs, "receiver_us"),
        },
    )
