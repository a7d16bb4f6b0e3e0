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
    for limit, unit, size in ((1e6, "µs", 1e3), (1e9, "ms", 1e6)):
        if abs(value_ns) < limit:
            return f"{value_ns / size:.3g} {unit}"
    return f"{value_ns / 1e9:.3g} s"


def share_text(value: float) -> str:
    return f"{value:.1%}" if value >= 0.001 or value == 0 else f"{value:.2g}"


def clock_text(minute: float) -> str:
    """The time of day of a minute since 1970, UTC."""
    return datetime.fromtimestamp(minute * 60, UTC).strftime("%H:%M")


def moment_text(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns // 1_000_000_000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def node_text(node: int) -> str:
    return f"{unsigned(node):016x}"


def group_text(group: str) -> str:
    """The beginning of a group's id, enough to tell it apart."""
    return group[:12]
