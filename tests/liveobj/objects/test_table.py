"""Tables: rows, columns and cells that merge; formulas that follow what they mean; junk."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liveobj.capabilities import view_only
from liveobj.declare import Dual
from liveobj.documents import Document, DocumentError
from liveobj.objects.table import (
    COLUMNS_MAX,
    ROWS_MAX,
    ColumnType,
    Table,
    TableEndpoint,
    new_table,
    open_table,
)
from liveobj.objects.table_content import CELL_CHARACTERS_MAX, TableContent
from liveobj.runtime import Runtime
from tests.liveobj.objects.replicas import User
from tests.liveobj.support import LocalOffice, make_host

TABLE = new_table("Plan", random.Random(5).randbytes)


Office = LocalOffice[Table]


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return LocalOffice(tmp_path, TABLE, open_table)


@pytest.fixture
def table(office: Office) -> Table:
    return office.open(1)


def fill(table: Table, rows: list[list[str]]) -> None:
    table.grow(len(rows), max(map(len, rows)))
    content = table.content
    table.write(
        {
            (content.rows[r], content.columns[c]): text
            for r, row in enumerate(rows)
            for c, text in enumerate(row)
        }
    )


def typed(table: Table) -> list[list[str]]:
    content = table.content
    return [[table.as_typed(row, column) for column in content.columns] for row in content.rows]


def values(table: Table) -> list[list[object]]:
    content = table.content
    return [[content.value(row, column) for column in content.columns] for row in content.rows]


def test_formulas_follow_the_cells_they_mean(table: Table) -> None:
    fill(table, [["1", "=A1*10"], ["2", "=SUM(A1:A3)"], ["3", "=$A$1&A:A"]])
    content = table.content
    assert values(table)[1][1] == 6.0
    table.insert_rows(0)
    assert typed(table)[1] == ["1", "=A2*10"]
    assert typed(table)[2] == ["2", "=SUM(A2:A4)"]
    assert typed(table)[3][1] == "=$A$2&A:A"
    table.move_rows([content.rows[1]], 4)
    assert [row[0] for row in typed(table)] == ["", "2", "3", "1"]
    assert typed(table)[3][1] == "=A4*10"
    table.insert_columns(0)
    assert typed(table)[3][2] == "=B4*10"


def test_a_range_that_loses_its_end_gets_the_nearest(table: Table) -> None:
    fill(table, [["1"], ["2"], ["3"], ["=SUM(A1:A3)"], ["=A3"]])
    table.delete_rows([table.content.rows[2]])
    assert typed(table)[2] == ["=SUM(A1:A2)"]
    assert values(table)[2] == [3.0]
    assert typed(table)[3] == ["=#REF!"]
    table.document.undo()
    assert typed(table) == [["1"], ["2"], ["3"], ["=SUM(A1:A3)"], ["=A3"]]


def test_a_copied_formula_means_the_neighbours_of_its_new_place(table: Table) -> None:
    fill(table, [["1", "=A1*$A$1"], ["2", ""], ["3", ""]])
    content = table.content
    kept = content.text(content.rows[0], content.columns[1])
    table.keep(content.rows[2], content.columns[1], table.shifted(kept, 2, 0))
    assert typed(table)[2] == ["3", "=A3*$A$1"]
    assert table.shown_formula(table.shifted(kept, -1, 0)) == "=#REF!*$A$1"


def test_two_who_write_below_the_last_row_share_it(office: Office) -> None:
    ada, jun = office.open(1), office.open(2)
    office.settle()
    fill(ada, [["name"]])
    fill(jun, [["", "price"]])
    office.settle()
    assert typed(ada) == typed(jun) == [["name", "price"]]


def test_insert_move_and_write_at_once_all_stay(office: Office) -> None:
    ada, jun = office.open(1), office.open(2)
    fill(ada, [["a", "1"], ["b", "2"], ["c", "3"]])
    office.settle()
    first, second, third = ada.content.rows
    ada.move_rows([third], 0)
    ada.insert_rows(1)
    jun.write({(third, jun.content.columns[1]): "33"})
    jun.move_columns([jun.content.columns[1]], 0)
    jun.delete_rows([second])
    office.settle()
    assert typed(ada) == typed(jun) == [["33", "c"], ["", ""], ["1", "a"]]
    assert first in ada.content.rows


def test_columns_have_names_types_and_widths(table: Table) -> None:
    fill(table, [["x"]])
    column = table.content.columns[0]
    table.name_column(column, "  The \n name ")
    table.set_column_type(column, ColumnType.DATE)
    table.set_column_width(column, 5000)
    content = table.content
    assert content.column_name(column) == "The name"
    assert content.column_type(column) == "date"
    assert content.column_width(column) == 1200
    table.delete_columns([column])
    assert content.columns == []
    assert content.column_name(column) == ""


def test_bounds_and_rights(office: Office, table: Table) -> None:
    with pytest.raises(DocumentError, match="rows"):
        table.grow(ROWS_MAX + 1, 1)
    with pytest.raises(DocumentError, match="columns"):
        table.insert_columns(0, COLUMNS_MAX + 1)
    fill(table, [["x"]])
    cell = (table.content.rows[0], table.content.columns[0])
    with pytest.raises(DocumentError, match="characters"):
        table.write({cell: "y" * (CELL_CHARACTERS_MAX + 1)})
    table.write({cell: "=A9999999"})
    assert typed(table) == [["=#REF!"]]
    viewer = office.open(2, view_only(TABLE))
    with pytest.raises(DocumentError):
        viewer.grow(3, 3)


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats()
    | st.text(max_size=9)
    | st.binary(max_size=9)
    | st.sampled_from(["n0", "n1", "n0/n0", "=A1", "={n0/n0}", "=}{/", "="]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=4,
)
KEYS = st.sampled_from(["n0/n0", "n0/name", "n0/type", "n0/width", "n1/n0", "", "/", "x"])


@settings(max_examples=60)
@given(
    st.lists(JUNK, max_size=5),
    st.lists(JUNK, max_size=5),
    st.dictionaries(KEYS, JUNK, max_size=5),
    st.dictionaries(KEYS, JUNK, max_size=5),
)
def test_whatever_is_in_the_document_can_be_read(
    rows: list[Any], columns: list[Any], about: dict[str, Any], cells: dict[str, Any]
) -> None:
    document = Document(1)
    content = TableContent(
        document,
        document.movable_list("rows"),
        document.movable_list("columns"),
        document.map("column"),
        document.map("cells"),
    )
    with document.transaction():
        document.movable_list("rows").append("n0", *rows)
        document.movable_list("columns").append("n0", *columns)
        for key, value in about.items():
            document.map("column").set(key, value)
        for key, value in cells.items():
            document.map("cells").set(key, value)
    assert len(set(content.rows)) == len(content.rows)
    for row in content.rows:
        for column in content.columns:
            assert isinstance(content.text(row, column), str)
            content.value(row, column)
    for column in content.columns:
        assert content.column_type(column) in {each.value for each in ColumnType}
        content.column_name(column)
        content.column_width(column)


EDITS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(["write", "insert", "delete", "move", "column", "undo", "sync", "grow"]),
        st.integers(0, 5),
        st.integers(0, 5),
    ),
    max_size=25,
)


@settings(max_examples=40)
@given(EDITS, st.integers(0, 1000))
def test_three_people_who_do_anything_end_with_the_same_table(
    tmp_path_factory: Any, edits: list[tuple[int, str, int, int]], seed: int
) -> None:
    office = LocalOffice(tmp_path_factory.mktemp("table"), TABLE, open_table)
    tables = [office.open(node) for node in (1, 2, 3)]
    for who, what, first, second in edits:
        do(office, tables[who], what, first, second)
    office.settle()
    assert typed(tables[0]) == typed(tables[1]) == typed(tables[2])
    for table in tables:
        content = table.content
        again = TableContent(
            table.document, table._rows, table._columns, table._about_columns, table._cells
        )
        assert again.rows == content.rows
        assert again.columns == content.columns
        table.close()


def do(office: Office, table: Table, what: str, first: int, second: int) -> None:
    content = table.content
    row = content.rows[first % len(content.rows)] if content.rows else None
    column = content.columns[second % len(content.columns)] if content.columns else None
    if what == "sync":
        office.settle()
    elif what == "undo":
        table.document.undo()
    elif what == "grow":
        table.grow(first, second)
    elif what == "insert":
        table.insert_rows(first)
    elif what == "column":
        table.insert_columns(second)
    elif row is not None and column is not None:
        if what == "write":
            text = ["x", "5", "=A1+1", "=SUM(A1:B2)", "", "=C3"][first]
            table.write({(row, column): text})
        elif what == "delete":
            table.delete_rows([row])
        else:
            table.move_rows([row], second)


def test_objects_fill_a_table_through_the_endpoint(office: Office, tmp_path: Path) -> None:
    runtime = Runtime(make_host(office.network, 1, tmp_path, office.clock))
    proxy = runtime.dereference(TABLE)
    user = User(runtime, proxy, "table", Dual[TableEndpoint])
    user.send("write", row=1, column=1, text="=1+1")
    office.settle()
    assert user.last("changed") == {"rows": 2, "columns": 2}
    assert values(proxy.instance.shared) == [[None, None], [None, 2.0]]
    user.send("write", row=-1, column=0, text="x")
    office.settle()
    assert len(user.all("changed")) == 1
    proxy.close()
