"""One figure of a benchmark: what was done, what came of it, and what it is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from transport.snapshot_table import columns


@dataclass(frozen=True, slots=True)
class Record:
    """One line of the table, and one object of `--json`.

    `rate` is messages a second at the slowest receiver; `raw` what bare sockets carry of the same
    bytes between as many processes in the same run; `ratio` is rate by raw unless `note` says of
    what. A value that an experiment does not have is 0.
    """

    name: str
    what: str
    receivers: int
    groups: int = 1
    bytes: int = 1000
    senders: int = 1
    rate: float = 0.0
    raw: float = 0.0
    ratio: float = 0.0
    loss: float = 0.0
    p50_us: float = 0.0
    p99_us: float = 0.0
    rss_mb: float = 0.0
    # The target that was set for the ratio (or, with a note, for another figure), 0: none.
    target: float = 0.0
    met: bool | None = None
    # What the papers' figure shows of the same, in words.
    papers: str = ""
    note: str = ""
    # Why there is no figure.
    problem: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        values = asdict(self)
        values.update(values.pop("more"))
        return {key: _short(value) for key, value in values.items()}


def _short(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value


def middle(runs: Sequence[Mapping[str, Any]], key: str) -> float:
    """The median of one figure over several runs."""
    return float(median(float(run[key]) for run in runs))


def median_share(runs: Sequence[Mapping[str, Any]], raws: Sequence[float]) -> float:
    """Of each run's rate, what part of the raw limit measured beside it; the middle of those."""
    return median(run["rate"] / raw if raw else 0.0 for run, raw in zip(runs, raws, strict=True))


def as_table(records: Sequence[Record]) -> str:
    """What a person reads."""
    titles = ["experiment", "messages/s", "raw/s", "ratio", "p50 us", "p99 us", "MB", "target"]
    rows = [[each.what, *_cells(each)] for each in records]
    lines = columns(titles, rows).split("\n")
    notes = ["", *(_remark(each) for each in records)]
    return "\n".join(f"{line}  {note}".rstrip() for line, note in zip(lines, notes, strict=True))


def _remark(record: Record) -> str:
    return record.problem or "; ".join(filter(None, (record.note, record.papers)))


def _cells(record: Record) -> list[str]:
    if record.problem:
        return ["-"] * 7
    met = {True: " met", False: " not met", None: ""}[record.met]
    return [
        _number(record.rate, 0),
        _number(record.raw, 0),
        _number(record.ratio, 3),
        _number(record.p50_us, 1),
        _number(record.p99_us, 1),
        _number(record.rss_mb, 1),
        _number(record.target, 3) + met,
    ]


def _number(value: float, digits: int) -> str:
    return f"{value:,.{digits}f}" if value else "-"
