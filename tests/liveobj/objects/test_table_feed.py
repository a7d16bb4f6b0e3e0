"""A table that follows rows: only what differs is written, and nothing is worked out."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liveobj.objects import table_feed
from liveobj.objects.table import Table, new_table, open_table
from liveobj.objects.table_feed import TableFeed
from tests.liveobj.support import Clock, LocalNetwork, make_host

TABLE = new_table("Figures", random.Random(6).randbytes)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return open_table(TABLE, make_host(LocalNetwork(), 1, tmp_path, Clock()))


def shown(table: Table) -> list[list[str]]:
    content = table.content
    return [[content.text(row, column) for column in content.columns] for row in content.rows]


def test_table_follows_rows_that_change_grow_and_go(table: Table) -> None:
    feed = TableFeed(table)
    feed.take(["minute", "lost"], [["1", "5"], ["2", "7"], ["3", "1"]])
    assert not feed.step()
    content = table.content
    assert [content.column_name(column) for column in content.columns] == ["minute", "lost"]
    assert [content.column_type(column) for column in content.columns] == ["number", "number"]
    written: list[int] = []
    content.observe(lambda change: written.append(len(change.cells)))
    feed.take(["minute", "lost"], [["1", "5"], ["2", "8"], ["3", "1"]])
    feed.step()
    assert written == [1], "only what differs"
    feed.take(["minute", "lost", "note"], [["2", "8"], ["3"]])
    feed.step()
    assert shown(table) == [["2", "8", ""], ["3", "", ""]]


def test_what_a_feed_says_is_no_formula(table: Table) -> None:
    feed = TableFeed(table)
    feed.take(["x"], [["=1+1"]])
    feed.step()
    assert shown(table) == [[" =1+1"]]
    assert not list(table.content.formulas())


def test_much_is_written_in_parts(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_feed, "CELLS_PER_TURN", 10)
    feed = TableFeed(table)
    rows = [[str(number), "x"] for number in range(12)]
    feed.take(["a", "b"], rows)
    steps = 1
    while feed.step():
        steps += 1
    assert steps == 3
    assert shown(table) == rows


_ROWS = st.lists(st.lists(st.text(max_size=3), max_size=4), max_size=5)


@given(_ROWS, _ROWS)
def test_any_rows_after_any_others(
    tmp_path_factory: pytest.TempPathFactory, first: list[list[str]], then: list[list[str]]
) -> None:
    folder = tmp_path_factory.mktemp("feed")
    table = open_table(TABLE, make_host(LocalNetwork(), 1, folder, Clock()))
    feed = TableFeed(table)
    for rows in (first, then):
        feed.take(["a", "b", "c"], rows)
        feed.step()
    expected = [
        [f" {text}" if text.startswith("=") else text for text in [*row, "", "", ""][:3]]
        for row in then
    ]
    assert shown(table) == expected
