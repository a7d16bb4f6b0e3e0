"""How much faster than real time the simulator is, and how long very many nodes take to join."""

from __future__ import annotations

from collections.abc import Iterator

from transport.benches.programs import Effort, run
from transport.benches.record import Record

BUSY_NODES = 16
# Messages a second of each: somebody who types or draws all the time.
RATE = 10
SPEED_TARGET = 200.0
JOIN_NODES, JOIN_GROUPS, GROUPS_EACH = 2000, 1000, 4
JOIN_S_MAX = 300.0


def measure(effort: Effort) -> Iterator[Record]:
    half = BUSY_NODES // 2
    span = ("--milliseconds", max(1000, round(60_000 * effort.share)))
    nodes = ("--receivers", half, "--senders", half, "--groups", 4)
    for rate, target in ((RATE * 2, SPEED_TARGET), (RATE * 100, 0.0)):
        found = run("engine_sim", *nodes, "--rate", rate, "--bytes", 200, *span)
        yield Record(
            name="simulator",
            what=f"{BUSY_NODES} nodes, {rate * half} messages/s",
            senders=half,
            receivers=half,
            groups=4,
            bytes=200,
            rate=found["rate"],
            ratio=found["times_real"],
            rss_mb=found["rss_mb"],
            target=target,
            met=found["times_real"] >= target if target else None,
            note="times real time",
        )
    nodes_joining = effort.scaled(JOIN_NODES, least=20)
    groups = effort.scaled(JOIN_GROUPS, least=10)
    joining = ("--receivers", nodes_joining, "--senders", 0, "--groups", groups)
    found = run("engine_sim", *joining, "--spread", GROUPS_EACH, "--milliseconds", 50)
    yield Record(
        name="simulator",
        what=f"{nodes_joining} nodes join {groups} groups",
        senders=0,
        receivers=nodes_joining,
        groups=groups,
        ratio=found["joined_cpu_s"],
        rss_mb=found["rss_mb"],
        target=JOIN_S_MAX,
        met=found["joined_cpu_s"] <= JOIN_S_MAX,
        note=f"seconds of processor time; {found['joined_virtual_s']:.1f} s on the nodes' clocks",
    )
