"""Numbers and times as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from pipeline.columns import unsigned


def number_text(value: float) -> str:
    """A number with at most four digits and a letter: 12, 3456, 34.5 k, 250 M."""
    if abs(value) < 10_000 and value == round(value):
        return f"{value:.0f}"
    for letter in ("", " k", " M", " G"):
        if abs(value) < 1000:
            return f"{value:.3g}{letter}"
        value /= 1000
    return f"{value:.3g} T"


def bytes_text(value: float) -> str:
    return f"{number_text(value)}B" if abs(value) >= 1000 else f"{value:.0f} B"


def time_text(value_ns: float) -> str:
    """A length of time with its unit."""
    units = ((1e6, "µs", 1e3), (1e9, "ms", 1e6), (120e9, "s", 1e9), (120 * 60e9, "min", 60e9))
    for limit, unit, size in units:
        if abs(value_ns) < limit:
            return f"{value_ns / size:.3g} {unit}"
    return f"{value_ns / 3600e9:.3g} h"


def share_text(value: float) -> str:
    """A part of 1 in per cent."""
    if 0 < value < 0.001:
        return "< 0.1 %"
    return f"{100 * value:.0f} %" if value in (0, 1) else f"{100 * value:.1f} %"


def evidence_text(row: Mapping[str, int | None]) -> str:
    """What was counted around a storm or swing, as far as there was any of it."""
    told = [
        f"{number_text(count)} {what}"
        for name, what in _COUNTED.items()
        if (count := row.get(name) or 0)
    ]
    return ", ".join(told) or "nothing unusual"


_COUNTED = {
    "packets_lost": "packets lost",
    "data_received": "received",
    "data_duplicate": "twice",
    "data_receive_full": "refused by receivers",
    "dropped_no_buffer": "without a buffer",
    "regions_installed": "regions made",
    "rate_decreases": "cuts of the rate",
}


def clock_text(minute: float) -> str:
    """The time of day of a minute since 1970, UTC; at midnight, the day."""
    at = datetime.fromtimestamp(minute * 60, UTC)
    return at.strftime("%H:%M") if (at.hour, at.minute) != (0, 0) else f"{at.day} {at:%b}"


def moment_text(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns // 1_000_000_000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def day_and_time(time_ns: int) -> str:
    """A moment as short as it can be said."""
    at = datetime.fromtimestamp(time_ns // 1_000_000_000, UTC)
    return f"{at.day} {at:%b %H:%M}"


def node_text(node: int) -> str:
    return f"{unsigned(node):016x}"


def group_text(group: str) -> str:
    """The beginning of a group's id, enough to tell it apart."""
    return group[:12]
