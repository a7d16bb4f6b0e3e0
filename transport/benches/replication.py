"""How many members cache a packet: what they hold, how long tokens take, and what is sent.

On the simulator with as many receivers as the papers had, where memory costs nothing; and on
sockets, where it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from transport.benches.model import Costs, calibrate
from transport.benches.programs import Effort, engine, run
from transport.benches.record import Record, middle

RECEIVERS, RECEIVERS_ON_SOCKETS = 192, 8
SPAN_MS = 60
# Members of a partition: so many cache each packet. None: all do.
PARTITIONS: tuple[int | None, ...] = (5, 16, None)
PAPERS = "4.29, 4.30: with half of 192 nodes caching tokens take three times as long; less is sent"


def measure(effort: Effort) -> Iterator[Record]:
    costs = calibrate(effort)
    for cachers in PARTITIONS:
        yield _simulated(effort, costs, cachers)
    yield from _on_sockets(effort)


def _simulated(effort: Effort, costs: Costs, cachers: int | None) -> Record:
    receivers = effort.scaled(RECEIVERS, 2)
    way = ("--ring-size", cachers) if cachers else ("--cache-everywhere",)
    size = ("--receivers", receivers, "--milliseconds", effort.shortened(SPAN_MS))
    found = run("engine_sim", *size, *costs.options(), *way)
    return Record(
        name="replication",
        what=f"{cachers or 'all'} cache a packet, simulated",
        receivers=receivers,
        rate=found["rate"],
        rss_mb=found["rss_mb"],
        papers=PAPERS if cachers is None else "",
        note=(
            f"a receiver holds {found['held_kb']:,.0f} kB; {found['pending']:.0f} packets pending; "
            f"a ring's token takes {found['token_round_ms']:.2f} ms"
        ),
        more={key: found[key] for key in ("held_kb", "pending", "token_round_ms", "ack_ms")},
    )


def _on_sockets(effort: Effort) -> Iterator[Record]:
    """By turns, since a machine is quick for some seconds and slow for others."""
    single = Effort(effort.seconds, 1, effort.share)
    base = ("--receivers", RECEIVERS_ON_SOCKETS)
    few, everybody = [], []
    for _ in range(effort.repeats):
        few += engine(single, *base)
        everybody += engine(single, *base, "--cache-everywhere")
    for what, runs in (("5", few), ("all", everybody)):
        ratios = [run["rate"] / first["rate"] for run, first in zip(runs, few, strict=True)]
        yield Record(
            name="replication",
            what=f"{what} cache a packet, sockets",
            receivers=RECEIVERS_ON_SOCKETS,
            rate=middle(runs, "rate"),
            ratio=median(ratios),
            loss=max(run["loss"] for run in runs),
            rss_mb=middle(runs, "rss_mb"),
            note=f"of the rate with 5; {middle(runs, 'pending'):.0f} packets pending",
            more={"pending": middle(runs, "pending"), "ack_ms": middle(runs, "ack_ms")},
        )
