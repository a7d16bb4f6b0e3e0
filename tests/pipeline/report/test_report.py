"""The report and the feed: well-formed, escaped, readable in light and dark."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import PipelineProblem
from pipeline.report.feed import CHARTS, TABLES, write_feed
from pipeline.report.figures import Figures
from pipeline.report.page import STYLE, page
from pipeline.report.spans import Span, span_plot
from pipeline.report.svg import POINTS_MAX, WIDTH, Series, bar_plot, line_plot, time_ticks
from pipeline.report.words import (
    bytes_text,
    clock_text,
    evidence_text,
    node_text,
    number_text,
    share_text,
    time_text,
)

EVIL = "<script>alert('&')</script>"
COST = {"regions": 3, "regions_mean": 2.0, "datagrams": 1.0, "waste": 0.02, "top_two": 0.97}


def figures(**changes: Any) -> Figures:
    facts = {"rows": {"DELIVERY": 12}, "set_aside": {}, "refused_files": 0, "lost_by_writers": 0}
    return Figures(**{"facts": facts, **changes})


def full() -> Figures:
    network = [
        {
            "minute": 29_900_000 + minute,
            "messages_delivered": 600 * minute,
            "data_received": 100,
            "packets_lost": minute,
            "repairs_sent": 2 * minute,
            "bytes_received": 1000,
            "pool_bytes_max": 10**6,
        }
        for minute in range(30)
    ]
    trouble = {
        "what": "storm",
        "region": -1,
        "start_ns": 1_794_470_400_000_000_000,
        "seconds": 30.0,
        "repairs_max": 900,
        "cause": EVIL,
    }
    facts = {
        "rows": {"DELIVERY": 12},
        "set_aside": {EVIL: 3},
        "refused_files": 1,
        "lost_by_writers": 4,
    }
    time_ns = 1_794_470_400_000_000_000
    times = [
        {
            "group": "0f" * 16,
            "person": EVIL,
            "start_ns": time_ns + start * 60 * 10**9,
            "end_ns": time_ns + end * 60 * 10**9,
            "edits": 3,
        }
        for start, end in ((0, 20), (40, 40))
    ]
    day = {"group": "0f" * 16, "day": 20_000, "people": 1, "opened": 2, "edited": 3}
    group = {"group": "0f" * 16, "messages": 9, "bytes": 900, "own_messages": 3}
    unseen = {"members_max": None, "views": None, "views_per_hour": None}
    return figures(
        facts=facts,
        groups=[group | unseen],
        activity={"retention_days": 30.0},
        object_days=[day],
        object_times=times,
        person_times=times,
        sets=[{"name": "c-1", "kind": "cluster", "groups": 1, "nodes": 2, "bytes": 9.0}],
        network_minutes=network,
        trouble=[trouble],
        refused=[{"path": f"file:/x/{EVIL}", "why": "it is damaged"}],
        planning={
            "nodes": 5,
            "known_groups": 7,
            "plan": {**COST, "kept_last_plan": True},
            "exact": COST,
        },
    )


def parsed(html: str) -> ET.Element:
    """The page as XML, which it is but for its doctype and the elements that need no end."""
    body = re.sub(r"<!doctype html>|<meta [^>]*>", "", html)
    return ET.fromstring(body)


@pytest.mark.parametrize("made", [figures(), full()])
def test_page_is_well_formed_and_says_what_is_missing(made: Figures) -> None:
    html = page(made, "from <here>")
    root = parsed(html)
    assert root.find("body") is not None
    assert EVIL not in html
    assert "<script" not in html
    assert "http" not in html
    if made.trouble:
        assert "&lt;script&gt;" in html
    else:
        assert "Nothing was logged of this." in html


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    brighter, darker = sorted((light(one), light(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def test_text_and_lines_are_readable_in_both_themes() -> None:
    style = STYLE.read_text(encoding="utf-8")
    bright, dark = style.split("@media", 1)
    for theme in (bright, dark.split("}", 2)[0]):
        colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", theme))
        for ground in ("page", "card"):
            for text in ("ink", "quiet", "bad"):
                assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
            for line in ("s0", "s1", "s2", "s3"):
                assert contrast(colours[line], colours[ground]) >= 3, (line, ground)


def test_timelines_have_a_line_for_each_and_a_bar_for_each_time() -> None:
    spans = [Span(60, 90, EVIL), Span(120, 120, "short")]
    root = ET.fromstring(
        span_plot("t", [("ada", spans), ("jun", spans[:1])], place_text=clock_text)
    )
    bars = root.findall("rect")
    assert [float(bar.attrib["width"]) for bar in bars] == [289.0, 2.0, 289.0]
    assert {bar.attrib["y"] for bar in bars} == {"34", "56"}
    right = [float(bar.attrib["x"]) + float(bar.attrib["width"]) for bar in bars]
    assert max(right) <= WIDTH
    assert [text.text for text in root.findall("text[@class='name']")] == ["ada", "jun"]
    assert "Nothing was logged" in span_plot("t", [], place_text=clock_text)


def test_line_of_one_minute_is_seen() -> None:
    plot = line_plot(
        "t", [7.0], [Series("one", [5.0])], place_text=clock_text, value_text=number_text
    )
    (line,) = ET.fromstring(plot).findall("polyline")
    ends = [float(point.split(",")[0]) for point in line.attrib["points"].split()]
    assert ends[1] - ends[0] == 8
    assert "00:07" in plot


def test_evidence_names_what_was_counted() -> None:
    told = evidence_text({"packets_lost": 5440, "data_duplicate": 0, "regions_installed": None})
    assert told == "5440 packets lost"
    assert evidence_text({}) == "nothing unusual"


def test_thinned_line_keeps_its_peak() -> None:
    values: list[float | None] = [1.0] * (10 * POINTS_MAX)
    values[5003] = 777.0
    values[100] = None
    plot = line_plot(
        EVIL,
        [float(place) for place in range(len(values))],
        [Series("one", values), Series("two", values)],
        place_text=str,
        value_text=number_text,
    )
    root = ET.fromstring(plot)
    (first, _) = root.findall("polyline")
    assert len(first.attrib["points"].split()) <= POINTS_MAX
    assert "at most 777" in plot


@pytest.mark.parametrize("values", [[], [None], [0.0], [0.0, 0.0], [None, 5.0]])
def test_plots_of_next_to_nothing_are_plots(values: list[float | None]) -> None:
    places = [float(place) for place in range(len(values))]
    series = [Series("one", values)]
    ET.fromstring(line_plot("t", places, series, place_text=str, value_text=number_text))
    ET.fromstring(bar_plot("t", [("a", 0.0)], value_text=number_text))
    ET.fromstring(bar_plot("t", [], value_text=number_text))


def test_feed_describes_what_is_in_it(tmp_path: Path) -> None:
    write_feed(full(), tmp_path / "feed")
    feed = json.loads((tmp_path / "feed" / "feed.json").read_text())
    assert feed["form"] == 2
    tables = {table["name"]: table for table in feed["tables"]}
    assert {name for name, table in tables.items() if table["rows"]} == {
        *("network_minutes", "groups", "trouble"),
    }
    for table in tables.values():
        with (tmp_path / "feed" / table["file"]).open(newline="") as file:
            head, *rows = csv.reader(file)
        assert head == [column["name"] for column in table["columns"]]
        assert len(rows) == table["rows"]
        assert all(column["unit"] for column in table["columns"])
    for chart in feed["charts"]:
        names = [column["name"] for column in tables[chart["table"]]["columns"]]
        assert {chart["x"], *chart["y"]} <= set(names)
    files = {path.name for path in (tmp_path / "feed").iterdir()}
    assert files == {"feed.json", *(f"{name}.csv" for name in TABLES)}

    # What was there before is not shown any more.
    write_feed(figures(), tmp_path / "feed")
    assert (tmp_path / "feed" / "trouble.csv").read_text().count("\n") == 1


def test_every_chart_and_table_is_of_a_figure() -> None:
    assert set(TABLES) <= set(Figures.__slots__)
    assert {table for _, _, table, _ in CHARTS} <= set(TABLES)


def test_feed_is_written_for_people() -> None:
    written = {
        (name, column.name): column.written
        for name, (_, columns) in TABLES.items()
        for column in columns
    }
    assert written["network_minutes", "time (UTC)"](29_907_840) == "12 Nov 08:00"
    assert written["network_minutes", "in (MB)"](126_053_100) == 126.05
    assert written["region_minutes", "token 95 % (ms)"](21_476_625) == 21.477
    assert written["trouble", "region"](10) == "0000000a"
    assert written["trouble", "cause"]("loss: packets went missing") == "loss"
    assert written["together", "confidence (%)"](0.0335) == 3.4
    assert written["compaction", "at rest (h)"](5_110_729_869_099) == 1.4


def test_day_is_named_where_there_are_two(tmp_path: Path) -> None:
    one = full()
    write_feed(one, tmp_path)
    assert "\n21:20," in (tmp_path / "network_minutes.csv").read_text()
    one.network_minutes.append(one.network_minutes[0] | {"minute": 29_900_000 + 1440})
    write_feed(one, tmp_path)
    assert " Nov 21:20," in (tmp_path / "network_minutes.csv").read_text()


def test_feed_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(PipelineProblem, match="cannot be written"):
        write_feed(full(), tmp_path / "file")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (number_text(12), "12"),
        (number_text(3456), "3456"),
        (number_text(34_560), "34.6 k"),
        (number_text(1234.5), "1.23 k"),
        (number_text(0.25), "0.25"),
        (number_text(2e15), "2e+03 T"),
        (bytes_text(999), "999 B"),
        (bytes_text(2_500_000), "2.5 MB"),
        (time_text(1500), "1.5 µs"),
        (time_text(2_000_000), "2 ms"),
        (time_text(3e9), "3 s"),
        (time_text(180e9), "3 min"),
        (time_text(4 * 3600e9), "4 h"),
        (share_text(0), "0 %"),
        (share_text(1), "100 %"),
        (share_text(0.0312), "3.1 %"),
        (share_text(0.00006), "< 0.1 %"),
        (clock_text(1440 * 20_000), "4 Oct"),
        (clock_text(61), "01:01"),
        (node_text(-1), "f" * 16),
    ],
)
def test_numbers_read_as_people_write_them(text: str, expected: str) -> None:
    assert text == expected


@pytest.mark.parametrize(
    ("first", "last", "ticks"),
    [
        (0, 8, [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        (481, 960, [540, 600, 660, 720, 780, 840, 900, 960]),
        (0, 30 * 1440, [0, 5760, 11520, 17280, 23040, 28800, 34560, 40320]),
        (7.2, 7.9, [7.2]),
    ],
)
def test_ticks_of_time_are_round(first: float, last: float, ticks: list[float]) -> None:
    assert time_ticks(first, last) == ticks
