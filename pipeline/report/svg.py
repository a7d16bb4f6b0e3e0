"""Plots as SVG, drawn with the page's own colours so that they are right in light and in dark."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 50, 28
LINES = 4
TICKS_MAX = 9
POINTS_MAX = 720
# A line of one point has no length, and would not be seen.
DOT = 4
# Minutes between two ticks: what clocks and calendars are divided into.
TIME_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440)


@dataclass(frozen=True, slots=True)
class Series:
    """A line: its name, and its values at the plot's places; None where there is none."""

    name: str
    values: Sequence[float | None]


def line_plot(
    title: str,
    places: Sequence[float],
    series: Sequence[Series],
    *,
    place_text: Callable[[float], str],
    value_text: Callable[[float], str],
) -> str:
    """Lines over time; places are minutes. Long ones are thinned by taking the largest of
    neighbours, so that no peak gets lost."""
    places, series = _thinned(places, series)
    known = [value for line in series for value in line.values if value is not None]
    if not known:
        return empty_plot(title)
    step = _round_step(max(known) / LINES)
    top = step * max(1, math.ceil(max(known) / step - 1e-9))
    first, last = places[0], places[-1]

    def x(place: float) -> float:
        # A single minute is in the middle.
        part = (place - first) / (last - first) if last > first else 0.5
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM)

    parts = [
        _frame_of(title, [step * each for each in range(round(top / step) + 1)], y, value_text)
    ]
    parts += [
        f'<text class="tick" x="{x(place):.1f}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{escape(place_text(place))}</text>"
        for place in time_ticks(first, last)
    ]
    for number, line in enumerate(series):
        points = [
            (x(place), y(value))
            for place, value in zip(places, line.values, strict=True)
            if value is not None
        ]
        if len(points) == 1:
            (px, py) = points[0]
            points = [(px - DOT, py), (px + DOT, py)]
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
        largest = max((value for value in line.values if value is not None), default=0.0)
        parts.append(
            f'<polyline class="line s{number}" points="{path}"><title>{escape(line.name)}: at most'
            f" {escape(value_text(largest))}</title></polyline>"
        )
    parts.append(_legend(series))
    return svg(title, parts)


def bar_plot(
    title: str, bars: Sequence[tuple[str, float]], *, value_text: Callable[[float], str]
) -> str:
    """Horizontal bars with their names, the values written at their ends."""
    if not bars:
        return empty_plot(title)
    top = max(value for _, value in bars) or 1.0
    row, name_width = 22, 230
    top_row = 30
    height = top_row + row * len(bars) + 8
    parts = [f'<text class="title" x="8" y="18">{escape(title)}</text>']
    room = WIDTH - name_width - 110
    for number, (name, value) in enumerate(bars):
        y = top_row + number * row
        width = max(1.0, value / top * room)
        parts += [
            (
                f'<text class="name" x="{name_width - 8}" y="{y + 14}" text-anchor="end">'
                f"{escape(name)}</text>"
            ),
            (
                f'<rect class="bar s0" x="{name_width}" y="{y + 2}" width="{width:.1f}" height="16"'
                f' rx="2"><title>{escape(name)}: {escape(value_text(value))}</title></rect>'
            ),
            (
                f'<text class="tick" x="{name_width + width + 6:.1f}" y="{y + 14}">'
                f"{escape(value_text(value))}</text>"
            ),
        ]
    return svg(title, parts, height)


def time_ticks(first: float, last: float) -> list[float]:
    """Round minutes from the first to the last, not more than fit beside each other."""
    step = next((each for each in TIME_STEPS if (last - first) / each < TICKS_MAX), 0)
    step = step or 1440 * math.ceil((last - first) / (1440 * (TICKS_MAX - 1)))
    start = math.ceil(first / step) * step
    ticks = [float(place) for place in range(int(start), math.floor(last) + 1, step)]
    return ticks or [first]


def _frame_of(
    title: str,
    values: Sequence[float],
    y: Callable[[float], float],
    value_text: Callable[[float], str],
) -> str:
    parts = [f'<text class="title" x="8" y="18">{escape(title)}</text>']
    for value in values:
        text = value_text(value) if value else "0"
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}"'
            f' y2="{y(value):.1f}"/><text class="tick" x="{LEFT - 6}" y="{y(value) + 4:.1f}"'
            f' text-anchor="end">{escape(text)}</text>'
        )
    return "".join(parts)


def _legend(series: Sequence[Series]) -> str:
    if len(series) < 2:
        return ""
    parts = []
    x = float(LEFT)
    for number, line in enumerate(series):
        parts.append(
            f'<rect class="bar s{number}" x="{x:.0f}" y="29" width="12" height="10" rx="2"/>'
            f'<text class="tick" x="{x + 16:.0f}" y="38">{escape(line.name)}</text>'
        )
        x += 6.5 * len(line.name) + 36
    return "".join(parts)


def _thinned(
    places: Sequence[float], series: Sequence[Series]
) -> tuple[Sequence[float], Sequence[Series]]:
    step = math.ceil(len(places) / POINTS_MAX)
    if step <= 1:
        return places, series

    def largest(values: Sequence[float | None]) -> float | None:
        return max((value for value in values if value is not None), default=None)

    starts = range(0, len(places), step)
    return [places[start] for start in starts], [
        Series(line.name, [largest(line.values[start : start + step]) for start in starts])
        for line in series
    ]


def _round_step(value: float) -> float:
    """The next number of the form 1, 2, 2.5 or 5 times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(
        (factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= value), 10 * power
    )


def svg(title: str, parts: Sequence[str], height: int = HEIGHT) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title, quote=True)}">'
        + "".join(parts)
        + "</svg>"
    )


def empty_plot(title: str) -> str:
    return svg(
        title,
        [
            f'<text class="title" x="8" y="18">{escape(title)}</text>',
            '<text class="tick" x="8" y="48">Nothing was logged of this.</text>',
        ],
        64,
    )
