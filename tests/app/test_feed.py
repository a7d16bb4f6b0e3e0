"""`live-objects feed` as the real process: a table that follows a file, and files that are none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.feed_folder import FeedProblem, read_feed
from app.main import main
from app.paths import find_paths
from liveobj.objects.chart import Shape, open_chart
from liveobj.objects.table import open_table
from liveobj.references import fingerprint, read_reference_file
from tests.app.test_network_commands import run
from tests.liveobj.support import Clock, LocalNetwork, make_host


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "figures.liveobject"
    assert main(["new", "--kind", "table", str(file)]) == 0
    return file


def feed(tmp_path: Path, csv: Path, table: Path) -> tuple[int, str, str]:
    profile = ("--state-dir", str(tmp_path / "state"), "--interface", "127.0.0.1")
    return run("feed", str(csv), str(table), "--once", *profile)


def test_table_is_filled_from_a_file(tmp_path: Path, table: Path) -> None:
    csv = tmp_path / "loss.csv"
    csv.write_text("minute,lost\n1,5\n2,7\n")
    assert feed(tmp_path, csv, table) == (0, "figures: 2 rows\n", "")
    csv.write_text("minute,lost\n1,5\n2,7\n3,9\n")
    assert feed(tmp_path, csv, table) == (0, "figures: 3 rows\n", "")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(None, "cannot be read"), (b"", "is empty"), (b"\x80\x00\x81\x82" * 9, "not a text")],
)
def test_what_is_no_feed_is_one_sentence(
    tmp_path: Path, table: Path, content: bytes | None, sentence: str
) -> None:
    csv = tmp_path / "loss.csv"
    if content is not None:
        csv.write_bytes(content)
    code, said, problems = feed(tmp_path, csv, table)
    assert (code, said) == (2, "")
    assert problems.count("\n") == 1
    assert sentence in problems


def test_what_is_no_table_is_one_sentence(tmp_path: Path) -> None:
    csv = tmp_path / "loss.csv"
    csv.write_text("minute\n1\n")
    note = tmp_path / "note.liveobject"
    assert main(["new", str(note)]) == 0
    for wrong in (note, csv, tmp_path / "none.liveobject"):
        code, said, problems = feed(tmp_path, csv, wrong)
        assert (code, said) == (2, "")
        assert problems.count("\n") == 1


FEED: dict[str, Any] = {
    "form": 2,
    "tables": [{"name": "minutes", "title": "By the minute"}, {"name": "none", "title": "a/b"}],
    "charts": [
        {
            "name": "loss",
            "title": "Losses",
            "kind": "bar",
            "table": "minutes",
            "x": "time",
            "y": ["lost", "not there"],
        }
    ],
}


def put_feed(folder: Path, **changes: Any) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "feed.json").write_text(json.dumps({**FEED, **changes}))
    (folder / "minutes.csv").write_text("time,sent,lost\n08:00,5,1\n08:01,6,2\n")


def test_folder_becomes_tables_and_charts_that_stay_the_same(tmp_path: Path) -> None:
    put_feed(tmp_path / "feed")
    objects = tmp_path / "objects"
    code, said, problems = feed(tmp_path, tmp_path / "feed", objects)
    assert (code, said) == (0, "By the minute: 2 rows\n")
    assert "none.csv is not taken over" in problems
    names = {"By the minute.liveobject", "a_b.liveobject", "Losses (chart).liveobject"}
    assert {path.name for path in objects.iterdir()} == names
    before = {path: path.read_bytes() for path in objects.iterdir()}
    assert feed(tmp_path, tmp_path / "feed", objects)[0] == 0
    assert {path: path.read_bytes() for path in objects.iterdir()} == before

    made = make_host(LocalNetwork(), 1, tmp_path, Clock())
    host = replace(made, folder=find_paths({}, tmp_path / "state").objects)
    table = open_table(read_reference_file(objects / "By the minute.liveobject"), host)
    chart = open_chart(read_reference_file(objects / "Losses (chart).liveobject"), host)
    assert chart.source is not None
    assert fingerprint(chart.source) == table.fingerprint
    labels, _, lost = table.content.columns
    assert (chart.shape, chart.labels, chart.chosen) == (Shape.BAR, labels, [lost])
    assert [table.content.text(row, lost) for row in table.content.rows] == ["1", "2"]
    chart.close()
    table.close()


@pytest.mark.parametrize(
    "changes",
    [
        {"form": 1},
        {"tables": None},
        {"tables": [{"name": "../secret", "title": "x"}]},
        {"tables": [{"name": "x", "title": 5}]},
        {"tables": [3]},
        {"charts": {}},
        {"charts": [{"name": "x", "title": "x", "kind": "line", "table": "y", "x": "", "y": []}]},
        {"charts": [FEED["charts"][0] | {"kind": "cake"}]},
        {"charts": FEED["charts"] * 200},
    ],
)
def test_folder_that_is_no_feed_is_one_sentence(tmp_path: Path, changes: dict[str, Any]) -> None:
    put_feed(tmp_path / "feed", **changes)
    with pytest.raises(FeedProblem, match=r"no feed|damaged"):
        read_feed(tmp_path / "feed")


def test_folder_without_a_feed_is_one_sentence(tmp_path: Path) -> None:
    code, said, problems = feed(tmp_path, tmp_path, tmp_path / "objects")
    assert (code, said, problems.count("\n")) == (2, "", 1)
    assert "is no feed" in problems
    assert not (tmp_path / "objects").exists()
