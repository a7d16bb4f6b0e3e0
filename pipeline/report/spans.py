"""Plots of when something went on: a line for each thing, a bar for each time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from pipeline.report.svg import RIGHT, WIDTH, empty_plot, svg, time_ticks

ROW, TOP, BOTTOM, NAMES = 22, 30, 26, 130
# Shorter than this nobody would see it.
BAR_MIN = 2.0


@dataclass(frozen=True, slots=True)
class Span:
    """From one minute to another, and what is to be said of it."""

    start: float
    end: float
    text: str


def span_plot(
    title: str,
    lines: Sequence[tuple[str, Sequence[Span]]],
    *,
    place_text: Callable[[float], str],
) -> str:
    """Lines with their names on the left; places are minutes."""
    spans = [span for _, some in lines for span in some]
    if not spans:
        return empty_plot(title)
    first, last = min(span.start for span in spans), max(span.end for span in spans)
    scale = (WIDTH - NAMES - RIGHT) / max(last - first, 1.0)
    bottom = TOP + ROW * len(lines)

    def x(place: float) -> float:
        return NAMES + (place - first) * scale

    parts = [f'<text class="title" x="8" y="18">{escape(title)}</text>']
    parts += [
        f'<line class="grid" x1="{x(place):.1f}" x2="{x(place):.1f}" y1="{TOP}" y2="{bottom}"/>'
        f'<text class="tick" x="{x(place):.1f}" y="{bottom + 16}" text-anchor="middle">'
        f"{escape(place_text(place))}</text>"
        for place in time_ticks(first, last)
    ]
    for number, (name, some) in enumerate(lines):
        y = TOP + number * ROW
        parts.append(
            f'<text class="name" x="{NAMES - 10}" y="{y + 14}" text-anchor="end">'
            f"{escape(name)}</text>"
        )
        for span in some:
            width = max(BAR_MIN, (span.end - span.start) * scale)
            left = min(x(span.start), WIDTH - RIGHT - width)
            parts.append(
                f'<rect class="bar span s0" x="{left:.1f}" y="{y + 4}" width="{width:.1f}"'
                f' height="14" rx="2"><title>{escape(span.text)}</title></rect>'
            )
    return svg(title, parts, bottom + BOTTOM)
