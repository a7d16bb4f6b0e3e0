"""Where the marks of an axis are: at round numbers, as many as there is room for."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Axis:
    """From `low` to `high`, both round; `ticks` are in between, `digits` those behind the point."""

    low: float
    high: float
    ticks: tuple[float, ...]
    digits: int

    def part(self, value: float) -> float:
        """Where a value is between low (0) and high (1)."""
        return (value - self.low) / (self.high - self.low)

    def words(self, value: float) -> str:
        if abs(value) >= 1e12 or (value and abs(value) < 1e-6):
            return f"{value:.6g}"
        return f"{value:,.{self.digits}f}".replace(",", "\u2009")


def axis(low: float, high: float, ticks_max: int, *, with_zero: bool = False) -> Axis:
    """An axis for values from `low` to `high`."""
    low, high = max(min(low, high), -1e300), min(max(low, high), 1e300)
    if with_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low <= max(abs(low), abs(high)) * 1e-9:
        spread = abs(low) / 2 or 1.0
        low, high = low - spread, high + spread
    step = _round_step((high - low) / max(1, ticks_max - 1))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(step * number for number in range(first, last + 1))
    digits = max(0, -math.floor(math.log10(step) + 1e-9)) if step < 1 else 0
    return Axis(ticks[0], ticks[-1], ticks, min(digits, 9))


def _round_step(wanted: float) -> float:
    """The next of 1, 2, 5, 10, 20 …"""
    power = 10.0 ** math.floor(math.log10(wanted))
    for factor in (1, 2, 5, 10):
        if factor * power >= wanted * (1 - 1e-9):
            return factor * power
    return 10 * power
