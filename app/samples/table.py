"""A table that two people fill: a small budget with its sums."""

from __future__ import annotations

from app.samples.sample import Sample, Shown
from liveobj.objects.table import ColumnType, Table
from widgets.object_view import ObjectView
from widgets.table.table_view import TableView

TITLE = "Lunch budget"
_COLUMNS = (
    ("What", ColumnType.TEXT, 190),
    ("Who", ColumnType.TEXT, 130),
    ("Planned", ColumnType.NUMBER, 110),
    ("Spent", ColumnType.NUMBER, 110),
    ("Bought", ColumnType.CHECK, 100),
)
ROWS = (
    ("Bread and cheese", "Ada", "48", "45.5", "true"),
    ("Fruit", "Jun", "30", "34.2", "true"),
    ("Pasta salad", "Jun", "36", "31", "true"),
    ("Lemon cake", "Ada", "22", "18.75", "true"),
    ("Lemonade, water", "Mia", "40", "", "false"),
    ("Plates and cups", "Mia", "25", "27.9", "true"),
)
_SPENT = "38.4"
_MISSING_ROW, _SPENT_COLUMN = 4, 3


def fill(table: Table) -> None:
    """All rows, and the sums below them."""
    total = len(ROWS) + 1
    table.grow(total, len(_COLUMNS))
    content = table.content
    for column, (name, kind, width) in zip(content.columns, _COLUMNS, strict=True):
        table.name_column(column, name)
        table.set_column_type(column, kind)
        table.set_column_width(column, width)
    sums = ("Total", "", f"=SUM(C1:C{len(ROWS)})", f"=SUM(D1:D{len(ROWS)})", "")
    table.write(
        {
            (row, column): text
            for row, texts in zip(content.rows, (*ROWS, sums), strict=True)
            for column, text in zip(content.columns, texts, strict=True)
        }
    )


def fill_plan(table: Table) -> None:
    """What was planned and spent, without sums: for a chart, which would draw them, too."""
    fill(table)
    content = table.content
    table.delete_rows([content.rows[len(ROWS)]])
    spend(table)


def spend(table: Table) -> None:
    """What was still to be bought."""
    content = table.content
    row = content.rows[_MISSING_ROW]
    bought = content.columns[_SPENT_COLUMN + 1]
    table.write({(row, content.columns[_SPENT_COLUMN]): _SPENT, (row, bought): "true"})


def _table(view: ObjectView) -> Table:
    table = view.opening.shared
    assert isinstance(table, Table), "a table holds one"
    return table


def _spend(view: ObjectView) -> None:
    """The second person fills in what is missing, and stays in that row."""
    assert isinstance(view, TableView), "a table is shown by one"
    spend(_table(view))
    view.show_newest()
    view.grid.setCurrentIndex(view.model.index(_MISSING_ROW, _SPENT_COLUMN))


def _is_whole(shown: Shown) -> bool:
    total = ["Total", "", "201", "195.75", ""]
    return any(row[: len(total)] == total for row in shown["rows"])


SAMPLE = Sample(TITLE, (lambda view: fill(_table(view)), _spend), _is_whole)
