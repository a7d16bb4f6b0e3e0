"""The parts that pages are made of: plots of time, and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from pipeline.report.figures import Rows
from pipeline.report.svg import Series, line_plot
from pipeline.report.words import clock_text

Column = tuple[str, str, Callable[[Any], str]]
# What nobody can read at a glance: written so that single letters stand out.
_IDS = frozenset({"region", "node", "group", "other", "person"})


def lines_over_time(
    title: str,
    rows: Rows,
    lines: Sequence[tuple[str, str, float]],
    value_text: Callable[[float], str],
) -> str:
    series = [
        Series(name, [None if row[key] is None else row[key] * factor for row in rows])
        for name, key, factor in lines
    ]
    places = [float(row["minute"]) for row in rows]
    return figure(line_plot(title, places, series, place_text=clock_text, value_text=value_text))


def figure(plot: str) -> str:
    return f"<figure>{plot}</figure>"


def table(rows: Rows, columns: Sequence[Column], text: Sequence[str] = ()) -> str:
    def classed(tag: str, key: str, content: str) -> str:
        kind = "text" if key in text else "id" if key in _IDS else "number"
        return f'<{tag} class="{kind}">{escape(content)}</{tag}>'

    head = "".join(classed("th", key, name) for name, key, _ in columns)
    lines = [
        "<tr>"
        + "".join(
            classed("td", key, "–" if row[key] is None else words(row[key]))
            for _, key, words in columns
        )
        + "</tr>"
        for row in rows
    ]
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )
