"""What is used together, what can shrink, and what people did: the last part of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pipeline.report.figures import Figures, Rows
from pipeline.report.parts import figure, table
from pipeline.report.spans import Span, span_plot
from pipeline.report.words import (
    bytes_text,
    clock_text,
    day_and_time,
    group_text,
    moment_text,
    number_text,
    share_text,
    time_text,
)

_MINUTE_NS = 60_000_000_000


def activity(figures: Figures) -> Iterator[str]:
    if figures.together:
        yield "<h2>Opened together</h2>"
        yield (
            "<p>Confidence: of the times when the object was in use, the part in which the other"
            " was. Lift: how many times more often than by chance.</p>"
        )
        yield table(
            figures.together[:10],
            [
                ("object", "group", group_text),
                ("with", "other", group_text),
                ("times", "together", number_text),
                ("confidence", "confidence", share_text),
                ("lift", "lift", number_text),
            ],
        )
    if figures.compaction:
        yield "<h2>Histories worth folding</h2>"
        yield table(
            figures.compaction[:10],
            [
                ("object", "group", group_text),
                ("messages", "messages", number_text),
                ("bytes", "bytes", bytes_text),
                ("at rest for", "idle_ns", time_text),
            ],
        )
    if figures.object_days:
        yield "<h2>People</h2>"
        days = figures.activity["retention_days"] if figures.activity else 0
        yield f"<p>Of those who agreed to it, for at most {days:g} days.</p>"
        yield _timeline("When objects were worked with", figures.object_times, "group", group_text)
        yield _timeline("When people worked", figures.person_times, "person", str)
        yield table(
            figures.object_days[:10],
            [
                ("object", "group", group_text),
                ("day", "day", lambda day: moment_text(day * 86_400_000_000_000)[:10]),
                ("people", "people", number_text),
                ("opened", "opened", number_text),
                ("edited", "edited", number_text),
            ],
        )


def _timeline(title: str, rows: Rows, key: str, words: Callable[[str], str]) -> str:
    """A line for each object or person, with a bar for each time in which it was at work."""
    lines: dict[str, list[Span]] = {}
    for row in rows:
        who = group_text(row["group"]) if key == "person" else row["person"]
        told = f"{who}, {day_and_time(row['start_ns'])}, {number_text(row['edits'])} edits"
        span = Span(row["start_ns"] / _MINUTE_NS, row["end_ns"] / _MINUTE_NS, told)
        lines.setdefault(words(row[key]), []).append(span)
    return figure(span_plot(title, list(lines.items()), place_text=clock_text))
