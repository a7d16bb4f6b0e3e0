"""Axes: round numbers, few enough, around all values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets.chart.ticks import axis

NUMBERS = st.floats(-1e15, 1e15, allow_nan=False)


@pytest.mark.parametrize(
    ("low", "high", "count", "ticks"),
    [
        (0, 10, 6, (0, 2, 4, 6, 8, 10)),
        (3, 97, 6, (0, 20, 40, 60, 80, 100)),
        (0.12, 0.38, 4, (0.1, 0.2, 0.3, 0.4)),
        (-5, 5, 3, (-5, 0, 5)),
        (7, 7, 3, (0, 5, 10, 15)),
        (0, 0, 3, (-1, 0, 1)),
    ],
)
def test_marks_are_at_round_numbers(
    low: float, high: float, count: int, ticks: tuple[float, ...]
) -> None:
    assert axis(low, high, count).ticks == pytest.approx(ticks)


@given(NUMBERS, NUMBERS, st.integers(2, 12), st.booleans())
def test_all_values_are_on_the_axis(one: float, two: float, count: int, with_zero: bool) -> None:
    low, high = min(one, two), max(one, two)
    found = axis(low, high, count, with_zero=with_zero)
    slack = (found.high - found.low) * 1e-6
    assert found.low <= low + slack
    assert found.high >= high - slack
    assert 2 <= len(found.ticks) <= count + 3
    assert -1e-6 <= found.part(low) <= found.part(high) <= 1 + 1e-6
    if with_zero:
        assert found.low <= 0 <= found.high
    for tick in found.ticks:
        assert found.words(tick)


@pytest.mark.parametrize(("low", "high"), [(1e308, -1e308), (1e-300, 2e-300), (-1e300, 1e300)])
def test_the_largest_and_smallest_numbers_have_an_axis(low: float, high: float) -> None:
    found = axis(low, high, 5)
    assert found.low < found.high
