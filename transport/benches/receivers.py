"""One, two, four, eight receivers of one sender: the same share of the raw limit at each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import median

from transport.benches.programs import Effort, beside_raw
from transport.benches.record import Record, median_share, middle

COUNTS = (1, 2, 4, 8)
# Every share within ten percent of the one at two receivers.
SPREAD_MAX = 0.1
REFERENCE = 2
PAPERS = "4.18: 5 % less at 200 nodes than at few"


def measure(effort: Effort) -> Iterator[Record]:
    shares: dict[int, float] = {}
    records: list[Record] = []
    for count in COUNTS:
        rounds = beside_raw(effort, count, ())
        limits = [each.raw.offload or each.raw.plain for each in rounds]
        runs = [each.runs[0] for each in rounds]
        shares[count] = median_share(runs, limits)
        records.append(
            Record(
                name="receivers",
                what=f"{count} receivers",
                receivers=count,
                rate=middle(runs, "rate"),
                raw=median(limits),
                ratio=shares[count],
                loss=max(run["loss"] for run in runs),
                rss_mb=middle(runs, "rss_mb"),
                papers=PAPERS if count == COUNTS[-1] else "",
                more={
                    "sender_us": middle(runs, "sender_us"),
                    "receiver_us": middle(runs, "receiver_us"),
                },
            )
        )
    for record in records:
        yield _judged(record, shares[REFERENCE])


def _judged(record: Record, reference: float) -> Record:
    away = abs(record.ratio / reference - 1) if reference else 1.0
    return replace(
        record,
        target=SPREAD_MAX,
        met=away <= SPREAD_MAX,
        note=f"{away:.0%} away from the share at {REFERENCE}",
    )
