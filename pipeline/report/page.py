"""The report as one HTML page that needs nothing else: no network, no script."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from pipeline.report.figures import Figures, Rows
from pipeline.report.svg import Series, bar_plot, line_plot
from pipeline.report.words import (
    bytes_text,
    clock_text,
    group_text,
    moment_text,
    node_text,
    number_text,
    share_text,
    time_text,
)

Column = tuple[str, str, Callable[[Any], str]]
# What nobody can read at a glance: written so that single letters stand out.
_IDS = frozenset({"region", "node", "group", "other"})
STYLE = Path(__file__).with_name("page.css")


def page(figures: Figures, made: str, ui: str | None = None) -> str:
    """The whole page. `made` says when and from what, for people."""
    body = "\n".join(_body(figures))
    link = f' · <a href="{escape(ui, quote=True)}">Spark’s own page of this run</a>' if ui else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<title>What the network did</title>\n"
        f"<style>\n{STYLE.read_text(encoding='utf-8')}</style>\n</head>\n<body>\n"
        f'<h1>What the network did</h1>\n<p class="quiet">{escape(made)}{link}</p>\n'
        f"{body}\n</body>\n</html>\n"
    )


def _body(figures: Figures) -> Iterator[str]:
    yield _tiles(figures)
    yield from _quality(figures)
    yield from _time(figures)
    yield from _trouble(figures)
    yield from _objects(figures)
    yield from _engines(figures)
    yield from _plan(figures)
    yield from _activity(figures)


def _tiles(figures: Figures) -> str:
    rows = sum(figures.facts["rows"].values())
    delivered = sum(row["messages_delivered"] for row in figures.network_minutes)
    lost = sum(row["packets_lost"] for row in figures.network_minutes)
    received = sum(row["data_received"] for row in figures.network_minutes)
    tiles = [
        (number_text(rows), "events"),
        (number_text(delivered), "messages delivered"),
        (share_text(lost / (lost + received) if lost + received else 0.0), "packets lost"),
        (str(len(figures.trouble)), "storms and swings"),
        (number_text(sum(figures.facts["set_aside"].values())), "records set aside"),
    ]
    inside = "".join(
        f'<div class="tile"><b>{escape(value)}</b><span>{escape(name)}</span></div>'
        for value, name in tiles
    )
    return f'<div class="tiles">{inside}</div>'


def _quality(figures: Figures) -> Iterator[str]:
    aside = figures.facts["set_aside"]
    lost = figures.facts["lost_by_writers"]
    if not aside and not figures.refused and not lost:
        return
    yield "<h2>What could not be used</h2>"
    if lost:
        yield f"<p>Writers told of {number_text(lost)} records that their disks did not take.</p>"
    if aside:
        rows = [{"why": why, "count": count} for why, count in aside.items()]
        yield _table(rows, [("records set aside, because", "why", str), ("count", "count", str)])
    if figures.refused:
        rows = [
            {"file": row["path"].rsplit("/", 1)[-1], "why": row["why"]} for row in figures.refused
        ]
        yield _table(rows, [("file refused", "file", str), ("because", "why", str)], text=("why",))


def _time(figures: Figures) -> Iterator[str]:
    yield "<h2>Over time</h2>"
    by_minute = figures.object_minutes or [
        {"minute": row["minute"], "messages": row["messages_delivered"]}
        for row in figures.network_minutes
    ]
    yield _lines(
        "Messages delivered, a second",
        by_minute,
        [("messages", "messages", 1 / 60)],
        number_text,
    )
    yield _lines(
        "Packets lost and repairs sent, a second",
        figures.network_minutes,
        [("lost", "packets_lost", 1 / 60), ("repairs", "repairs_sent", 1 / 60)],
        number_text,
    )
    yield _lines(
        "Token round-trip and acknowledgement",
        figures.region_minutes,
        [
            ("token, median", "token_round_ns_p50", 1.0),
            ("token, 95 %", "token_round_ns_p95", 1.0),
            ("acknowledgement, median", "acknowledgement_ns_p50", 1.0),
            ("acknowledgement, 95 %", "acknowledgement_ns_p95", 1.0),
        ],
        time_text,
    )
    yield _lines(
        "Packets not yet acknowledged, mean over regions",
        figures.region_minutes,
        [("pending", "pending_mean", 1.0)],
        number_text,
    )
    yield _lines(
        "Memory in buffers, of the node with most",
        figures.network_minutes,
        [("memory", "pool_bytes_max", 1.0)],
        bytes_text,
    )


def _trouble(figures: Figures) -> Iterator[str]:
    yield "<h2>Storms and swings</h2>"
    if not figures.trouble:
        yield "<p>None: repairs stayed near what is usual, and rates did not swing.</p>"
        return
    yield (
        "<p>A storm is a time in which repairs outgrew what is usual eight times; a swing is a rate"
        " that went well above and below its median in turn.</p>"
    )
    yield _table(
        figures.trouble,
        [
            ("what", "what", str),
            ("region", "region", node_text),
            ("from (UTC)", "start_ns", moment_text),
            ("seconds", "seconds", number_text),
            ("repairs in 10 s", "repairs_max", number_text),
            ("cause", "cause", str),
        ],
        text=("cause",),
    )


def _objects(figures: Figures) -> Iterator[str]:
    if not figures.objects:
        return
    yield "<h2>Objects</h2>"
    bars = [(group_text(row["group"]), float(row["messages"])) for row in figures.objects[:10]]
    yield _figure(bar_plot("Deliveries of the busiest objects", bars, value_text=number_text))
    yield _table(
        figures.objects,
        [
            ("object", "group", group_text),
            ("deliveries", "messages", number_text),
            ("bytes", "bytes", bytes_text),
            ("latency, median", "latency_ns_p50", time_text),
            ("95 %", "latency_ns_p95", time_text),
            ("99 %", "latency_ns_p99", time_text),
        ],
    )


def _engines(figures: Figures) -> Iterator[str]:
    if figures.regions:
        yield "<h2>Regions with the slowest tokens</h2>"
        yield _table(
            figures.regions,
            [
                ("region", "region", node_text),
                ("members", "members_max", number_text),
                ("token, median", "token_round_ns_p50", time_text),
                ("95 %", "token_round_ns_p95", time_text),
                ("acknowledged, median", "acknowledgement_ns_p50", time_text),
                ("95 %", "acknowledgement_ns_p95", time_text),
                ("pending, most", "pending_max", number_text),
            ],
        )
    if figures.nodes:
        yield "<h2>Nodes that lost most</h2>"
        yield _table(
            figures.nodes[:10],
            [
                ("node", "node", node_text),
                ("lost", "loss", share_text),
                ("repairs sent", "repairs_sent", number_text),
                ("datagrams in", "datagrams_received", number_text),
                ("not wanted", "messages_not_joined", number_text),
                ("memory, most", "pool_bytes_max", bytes_text),
            ],
        )
    if figures.bursts:
        yield "<h2>Bursts of losses</h2>"
        yield _table(
            figures.bursts[:10],
            [
                ("node", "node", node_text),
                ("from (UTC)", "start_ns", moment_text),
                ("seconds", "seconds", number_text),
                ("packets", "packets_lost", number_text),
                ("worst", "loss_max", share_text),
            ],
        )


def _plan(figures: Figures) -> Iterator[str]:
    if figures.planning is None:
        return
    plan, exact = figures.planning["plan"], figures.planning["exact"]
    names: list[tuple[str, str, Callable[[float], str]]] = [
        ("regions", "regions", number_text),
        ("regions of a node, mean", "regions_mean", number_text),
        ("datagrams for a message", "datagrams", number_text),
        ("unwanted traffic", "waste", share_text),
        ("of a node’s traffic in its two largest regions", "top_two", share_text),
    ]
    rows = [
        {"what": name, "plan": text(plan[key]), "exact": text(exact[key])}
        for name, key, text in names
    ]
    yield "<h2>Plan of regions</h2>"
    kept = "The last plan is kept. " if plan["kept_last_plan"] else ""
    yield (
        f"<p>{kept}{figures.planning['nodes']} nodes, {figures.planning['known_groups']} groups;"
        " predicted from the same traffic.</p>"
    )
    yield _table(rows, [("", "what", str), ("plan", "plan", str), ("exact policy", "exact", str)])


def _activity(figures: Figures) -> Iterator[str]:
    if figures.together:
        yield "<h2>Opened together</h2>"
        yield (
            "<p>Confidence: of the times when the object was in use, the part in which the other"
            " was. Lift: how many times more often than by chance.</p>"
        )
        yield _table(
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
        yield _table(
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
        yield _table(
            figures.object_days[:10],
            [
                ("object", "group", group_text),
                ("day", "day", lambda day: moment_text(day * 86_400_000_000_000)[:10]),
                ("people", "people", number_text),
                ("opened", "opened", number_text),
                ("edited", "edited", number_text),
            ],
        )


# Parts


def _lines(
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
    return _figure(line_plot(title, places, series, place_text=clock_text, value_text=value_text))


def _figure(plot: str) -> str:
    return f"<figure>{plot}</figure>"


def _table(rows: Rows, columns: Sequence[Column], text: Sequence[str] = ()) -> str:
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
