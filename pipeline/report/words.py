"""Numbers and times as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

from pipeline.columns import unsigned


def number_text(value: float) -> str:
    """A number with at most four digits and a letter: 12, 3.4 k, 250 M."""
    for letter in ("", " k", " M", " G"):
        if abs(value) < 1000:
            digits = f"{value:.0f}" if letter == "" and value == round(value) else f"{value:.3g}"
            return digits + letter
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
