"""The same traffic spread over more and more groups: rate, memory of a group, time to set up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from transport.benches.programs import SETTLE_MS, Effort, engine, raw_limit, run
from transport.benches.record import Record, median_share, middle

RECEIVERS = 2
COUNTS = (1, 64, 1024, 8192, 65536)
# What an engine takes with so few is not counted as memory of groups.
FEW = 64
# Share of the rate with one group that must be left.
TARGETS = {8192: 0.95, 65536: 0.90}
GROUP_BYTES_MAX = 300
SET_UP_S_MAX = {8192: 1.0}
PAPERS = "4.44, 4.46: memory grows with groups, the rate falls; unstable from about 3,500 on"


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes that all groups take at a receiver, at a sender, and at a receiver that hosts."""

    groups: int
    receiver: float
    sender: float
    host: float

    def each(self, fewer: Memory) -> Memory:
        """Of each group more: what an engine takes by itself does not count."""
        more = self.groups - fewer.groups
        if more <= 0:
            return Memory(1, *(part / self.groups for part in self._parts()))
        pairs = zip(self._parts(), fewer._parts(), strict=True)
        return Memory(1, *((part - before) / more for part, before in pairs))

    def _parts(self) -> tuple[float, float, float]:
        return self.receiver, self.sender, self.host


def memory_of(count: int) -> Memory:
    """After a first message in every group, so that what is kept of its sender is there."""
    given = ("--receivers", RECEIVERS, "--groups", count, "--host-apart")
    found = run("engine_udp", *given, "--settle", 0, "--milliseconds", 50)
    names = ("group_bytes", "sender_group_bytes", "host_group_bytes")
    return Memory(count, *(found[name] * count for name in names))


def _by_turns(effort: Effort, counts: Sequence[int]) -> list[list[dict[str, Any]]]:
    """A run of each number of groups after the other, half as long and nearly twice as often as
    asked for: what is compared stood next to each other (see `programs.beside_raw`)."""
    single = replace(effort, seconds=effort.seconds / 2, repeats=1)
    base_ms = effort.shortened(SETTLE_MS)
    return [
        [
            engine(single, "--receivers", RECEIVERS, "--groups", count, "--settle", settle_ms)[0]
            for count, settle_ms in ((count, base_ms + count // 16) for count in counts)
        ]
        for _ in range(2 * effort.repeats - 1)
    ]


def measure(effort: Effort) -> Iterator[Record]:
    limit = raw_limit(effort, RECEIVERS)
    few = memory_of(min(FEW, effort.scaled(COUNTS[-1])))
    counts = [1 if full == 1 else effort.scaled(full) for full in COUNTS]
    rounds = _by_turns(effort, counts)
    ones = [turn[0]["rate"] for turn in rounds]
    for index, (full, count) in enumerate(zip(COUNTS, counts, strict=True)):
        runs = [turn[index] for turn in rounds]
        each = memory_of(count).each(few)
        record = Record(
            name="groups",
            what=f"{count} groups",
            receivers=RECEIVERS,
            groups=count,
            rate=middle(runs, "rate"),
            raw=limit.offload or limit.plain,
            ratio=median_share(runs, ones),
            loss=max(found["loss"] for found in runs),
            rss_mb=middle(runs, "rss_mb"),
            papers=PAPERS if full == COUNTS[-1] else "",
            more={
                "group_bytes": each.receiver,
                "sender_group_bytes": each.sender,
                "host_group_bytes": each.host,
                "setup_s": middle(runs, "setup_s"),
                "sender_us": middle(runs, "sender_us"),
                "receiver_us": middle(runs, "receiver_us"),
            },
        )
        yield _judged(record, full)


def _judged(record: Record, full: int) -> Record:
    """The ratio here is to the rate with one group; memory and set-up have targets, too."""
    setup_s = record.more["setup_s"]
    note = f"of the rate with one group; set up in {setup_s:.2f} s"
    if full <= FEW:
        return replace(record, note=note)
    receiver, sender = record.more["group_bytes"], record.more["sender_group_bytes"]
    note += (
        f"; each group takes {receiver:.0f} bytes at a receiver, {sender:.0f} at the sender, "
        f"{record.more['host_group_bytes']:.0f} where the membership is hosted, too"
    )
    if full not in TARGETS:
        return replace(record, note=note)
    met = (
        record.ratio >= TARGETS[full]
        and max(receiver, sender) <= GROUP_BYTES_MAX
        and setup_s <= SET_UP_S_MAX.get(full, float("inf"))
    )
    return replace(record, note=note, target=TARGETS[full], met=met)
