"""What one can do with a table, as the menus, the palette and the keys offer it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from liveobj.objects.table import ColumnType
from widgets.action import Action, always
from widgets.language import tr

if TYPE_CHECKING:
    from widgets.table.table_view import TableView


def type_words(kind_of: ColumnType) -> str:
    """The name of a type of column."""
    return {
        ColumnType.TEXT: tr("Text"),
        ColumnType.NUMBER: tr("Number"),
        ColumnType.DATE: tr("Date"),
        ColumnType.CHECK: tr("Check"),
    }[kind_of]


def table_actions(view: TableView) -> tuple[Action, ...]:
    """In the order in which menus show them."""

    def why_no_edit() -> str:
        return "" if view.table.document.editable else tr("you can only view this table")

    def why_sorted() -> str:
        return why_no_edit() or (tr("rows are sorted") if view.own.sort_column else "")

    def why_no_stop() -> str:
        return "" if view.csv.is_busy else tr("nothing is imported or exported")

    def act(
        name: str,
        title: str,
        run: Callable[[], None],
        keys: str = "",
        why_not: Callable[[], str] = why_no_edit,
    ) -> Action:
        return Action(f"table.{name}", title, lambda: view.attempt(run), keys, why_not)

    edit, ordered = view.edit, why_sorted
    types = (
        act(
            f"column.type.{each.value}",
            tr("Column is for: {type}", type=type_words(each)),
            partial(edit.set_type, each),
        )
        for each in ColumnType
    )
    return (
        act("row.insert", tr("Insert row above"), edit.insert_row, "Ctrl+Shift++"),
        act("row.delete", tr("Delete rows"), edit.delete_rows, "Ctrl+Shift+-"),
        act("row.up", tr("Move rows up"), partial(edit.move_rows, -1), "Alt+Up", ordered),
        act("row.down", tr("Move rows down"), partial(edit.move_rows, 1), "Alt+Down", ordered),
        act("column.insert", tr("Insert column before"), edit.insert_column),
        act("column.delete", tr("Delete columns"), edit.delete_columns),
        act("column.left", tr("Move columns left"), partial(edit.move_columns, -1), "Alt+Left"),
        act("column.right", tr("Move columns right"), partial(edit.move_columns, 1), "Alt+Right"),
        act("column.name", tr("Name column…"), view.name_column),
        *types,
        act("column.sort", tr("Sort by this column"), view.sort_here, "", always),
        act("fill.down", tr("Fill down"), edit.fill_down, "Ctrl+Shift+D"),
        act("fill.right", tr("Fill right"), edit.fill_right, "Ctrl+R"),
        act("sum", tr("Sum of the column"), edit.sum_here, "Alt+="),
        act("import", tr("Import CSV…"), view.ask_import),
        act("export", tr("Export CSV…"), view.ask_export, "", always),
        act("stop", tr("Stop importing or exporting"), view.csv.cancel, "", why_no_stop),
    )
