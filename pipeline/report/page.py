"""The report as one HTML page that needs nothing else: no network, no script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path

from pipeline.report.activity import activity
from pipeline.report.details import engines, objects
from pipeline.report.figures import ROWS_MAX, Figures
from pipeline.report.parts import lines_over_time, table
from pipeline.report.words import (
    bytes_text,
    evidence_text,
    moment_text,
    node_text,
    number_text,
    share_text,
    time_text,
)

STYLE = Path(__file__).with_name("page.css")


def page(figures: Figures, made: str) -> str:
    """The whole page. `made` says when and from what, for people."""
    body = "\n".join(_body(figures))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<title>What the network did</title>\n"
        f"<style>\n{STYLE.read_text(encoding='utf-8')}</style>\n</head>\n<body>\n"
        f'<h1>What the network did</h1>\n<p class="quiet">{escape(made)}</p>\n'
        f"{body}\n</body>\n</html>\n"
    )


def _body(figures: Figures) -> Iterator[str]:
    yield _tiles(figures)
    yield from _quality(figures)
    yield from _time(figures)
    yield from _trouble(figures)
    yield from objects(figures)
    yield from engines(figures)
    yield from _plan(figures)
    yield from activity(figures)


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
        yield table(rows, [("records set aside, because", "why", str), ("count", "count", str)])
    if figures.refused:
        rows = [
            {"file": row["path"].rsplit("/", 1)[-1], "why": row["why"]} for row in figures.refused
        ]
        yield table(rows, [("file refused", "file", str), ("because", "why", str)], text=("why",))


def _time(figures: Figures) -> Iterator[str]:
    yield "<h2>Over time</h2>"
    # What engines counted is all that there was; single deliveries are known of few.
    by_minute = [
        {"minute": row["minute"], "messages": row["messages_delivered"]}
        for row in figures.network_minutes
    ] or figures.object_minutes
    yield lines_over_time(
        "Messages delivered, a second",
        by_minute,
        [("messages", "messages", 1 / 60)],
        number_text,
    )
    yield lines_over_time(
        "Packets lost and repairs sent, a second",
        figures.network_minutes,
        [("lost", "packets_lost", 1 / 60), ("repairs", "repairs_sent", 1 / 60)],
        number_text,
    )
    yield lines_over_time(
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
    yield lines_over_time(
        "Packets not yet acknowledged, mean over regions",
        figures.region_minutes,
        [("pending", "pending_mean", 1.0)],
        number_text,
    )
    yield lines_over_time(
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
    shown = [row | {"evidence": row} for row in figures.trouble[:ROWS_MAX]]
    yield table(
        shown,
        [
            ("what", "what", str),
            ("region", "region", node_text),
            ("from (UTC)", "start_ns", moment_text),
            ("seconds", "seconds", number_text),
            ("repairs in 10 s", "repairs_max", number_text),
            ("cause", "cause", str),
            ("what was counted", "evidence", evidence_text),
        ],
        text=("cause", "evidence"),
    )
    if len(figures.trouble) > ROWS_MAX:
        yield f"<p>These are the newest; there were {len(figures.trouble)} in all.</p>"


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
    yield table(rows, [("", "what", str), ("plan", "plan", str), ("exact policy", "exact", str)])
    if figures.sets:
        yield "<p>The sets of groups that carry most:</p>"
        yield table(
            figures.sets[:10],
            [
                ("set", "name", str),
                ("kind", "kind", str),
                ("groups", "groups", number_text),
                ("nodes", "nodes", number_text),
                ("bytes", "bytes", bytes_text),
            ],
        )
