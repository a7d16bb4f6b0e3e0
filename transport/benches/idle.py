"""A thousand groups open and nothing to say: processor time and datagrams of each process."""

from __future__ import annotations

from collections.abc import Iterator

from transport.benches.programs import Effort, engine
from transport.benches.record import Record, middle

RECEIVERS = 2
GROUPS = 1000
CORE_SHARE_MAX = 0.001
SECONDS_LEAST = 5.0


def measure(effort: Effort) -> Iterator[Record]:
    groups = effort.scaled(GROUPS)
    seconds = max(effort.seconds, SECONDS_LEAST * effort.share)
    calm = Effort(seconds, effort.repeats, effort.share)
    runs = engine(calm, "--receivers", RECEIVERS, "--groups", groups, "--silent")
    share = max(middle(runs, "sender_core"), middle(runs, "receiver_core"))
    processes = RECEIVERS + 1
    sent = [run["counters"]["datagrams_sent"] / run["seconds"] / processes for run in runs]
    yield Record(
        name="idle",
        what=f"idle with {groups} groups",
        receivers=RECEIVERS,
        groups=groups,
        ratio=share,
        rss_mb=middle(runs, "rss_mb"),
        target=CORE_SHARE_MAX,
        met=share <= CORE_SHARE_MAX,
        note=f"of a core, the busiest process; {sum(sent) / len(sent):.1f} datagrams/s each",
        more={"datagrams_per_s": sum(sent) / len(sent)},
    )
