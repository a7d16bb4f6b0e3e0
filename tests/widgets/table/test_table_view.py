"""The view of a table, with two people and real keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QInputDialog

from tests.app.conftest import MakePlace
from tests.app.memory_network import MemoryHub
from tests.widgets.pair import Pair, show_view_only, view_of
from tests.widgets.table.cells import editor_in, fill, rows, type_in
from widgets.roles import Mode
from widgets.table.cells_clipboard import CELLS_MIME, cells_in


def test_enter_after_tab_goes_on_below_the_beginning_of_the_row(pair: Pair, qtbot: Any) -> None:
    ada = pair.views[0]
    ada.grid.go(0, 1)
    for row in (("Desk", "1200"), ("Lamp", "340")):
        for words, key in zip(row, (Qt.Key.Key_Tab, Qt.Key.Key_Return), strict=True):
            editor = editor_in(ada)
            typed = 0
            if editor is None:
                qtbot.keyClick(ada.grid.viewport(), words[0])
                editor, typed = editor_in(ada), 1
            qtbot.keyClicks(editor, words[typed:])
            qtbot.keyClick(editor, key)
            QApplication.processEvents()
    assert rows(ada)[:2] == [["", "Desk", "1200"], ["", "Lamp", "340"]]
    assert (ada.grid.currentIndex().row(), ada.grid.currentIndex().column()) == (2, 1)
    # Without Tab the cell below is next.
    qtbot.keyClick(ada.grid, Qt.Key.Key_Return)
    assert (ada.grid.currentIndex().row(), ada.grid.currentIndex().column()) == (3, 1)


def choose(view: Any, top: int, left: int, bottom: int, right: int) -> None:
    view.grid.choose(top, left, bottom, right)


def test_two_people_fill_one_table_with_the_keyboard(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    assert rows(ada) == []
    type_in(qtbot, ada, 0, 0, "2")
    assert ada.grid.currentIndex().row() == 1, "Enter goes down"
    type_in(qtbot, ada, 1, 0, "3")
    pair.settle()
    type_in(qtbot, jun, 0, 1, "=SUM(A1:A2)")
    pair.settle()
    assert rows(ada) == rows(jun) == [["2", "5"], ["3", ""]]
    type_in(qtbot, ada, 1, 0, "40")
    pair.settle()
    assert rows(jun)[0] == ["2", "42"]
    pair.ada.run("edit.undo")
    pair.settle()
    assert rows(jun)[0] == ["2", "5"], "undo takes back one's own last cell"


def test_one_sees_where_the_other_is(pair: Pair) -> None:
    ada, jun = pair.views
    fill(ada, [["a", "b"], ["c", "d"]])
    pair.settle()
    choose(jun, 0, 1, 1, 1)
    pair.settle()
    assert ada.describe()["others"] == {"Jun": "B1"}
    assert not ada.grab().isNull()
    ada.show_person(next(iter(ada.table.presence.others)))
    other = ada.grid.others[0]
    assert (other.first, other.last) == (
        (ada.model.rows[0], ada.model.columns[1]),
        (ada.model.rows[1], ada.model.columns[1]),
    )


def test_one_sees_the_other_in_a_cell_that_is_not_there_yet(pair: Pair) -> None:
    ada, jun = pair.views
    fill(ada, [["a"], ["b"]])
    jun.grid.go(4, 2)
    pair.settle()
    assert ada.describe()["others"] == {"Jun": "C5"}
    node = next(iter(ada.table.presence.others))
    ada.show_person(node)
    assert not ada.grab().isNull()
    for spot in ({"spare": [-5, 99999]}, {"spare": [10**9, 0]}, {"cells": ["x"] * 4}, {"cells": 1}):
        jun.table.presence.set_spot(spot)
        pair.settle()
        ada.show_person(node)
        assert not ada.grab().isNull()


def test_the_line_above_shows_and_takes_formulas(pair: Pair, qtbot: Any) -> None:
    ada, _ = pair.views
    fill(ada, [["1"], ["=A1*2"]])
    ada.grid.go(1, 0)
    assert ada.formula.text() == "=A1*2"
    ada.formula.setFocus()
    ada.formula.selectAll()
    qtbot.keyClicks(ada.formula, "=A1*3")
    qtbot.keyClick(ada.formula, Qt.Key.Key_Return)
    assert rows(ada) == [["1"], ["3"]]
    assert ada.describe()["current"] == "A3"


def test_copy_paste_cut_clear_and_fill(pair: Pair, qtbot: Any) -> None:
    ada, _ = pair.views
    fill(ada, [["1", "=A1*10"], ["2", ""], ["3", ""]])
    choose(ada, 0, 1, 2, 1)
    assert pair.ada.run("table.fill.down")
    assert rows(ada) == [["1", "10"], ["2", "20"], ["3", "30"]]
    choose(ada, 0, 0, 1, 1)
    qtbot.keyClick(ada.grid, "c", Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "1\t10\n2\t20\n"
    ada.grid.go(3, 0)
    qtbot.keyClick(ada.grid, "v", Qt.KeyboardModifier.ControlModifier)
    assert rows(ada)[3:] == [["1", "10"], ["2", "20"]]
    assert ada.table.as_typed(ada.model.rows[4], ada.model.columns[1]) == "=A5*10"
    choose(ada, 0, 0, 0, 0)
    qtbot.keyClick(ada.grid, "x", Qt.KeyboardModifier.ControlModifier)
    assert rows(ada)[0] == ["", "0"]
    choose(ada, 3, 0, 4, 1)
    qtbot.keyClick(ada.grid, Qt.Key.Key_Delete)
    assert rows(ada)[3:] == [["", ""], ["", ""]]


def test_text_of_other_programs_is_pasted_and_one_value_fills_all(pair: Pair) -> None:
    ada, _ = pair.views
    clipboard = QGuiApplication.clipboard()
    clipboard.setText('a\t"two\nlines"\r\nc\td\r\n')
    ada.grid.go(0, 0)
    ada.edit.paste()
    assert rows(ada) == [["a", "two\nlines"], ["c", "d"]]
    clipboard.setText("x")
    choose(ada, 0, 0, 1, 1)
    ada.edit.paste()
    assert rows(ada) == [["x", "x"], ["x", "x"]]


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"table":1}', b"[" * 100_000])
def test_cells_that_nobody_copied_are_not_believed(data: bytes) -> None:
    mime = QMimeData()
    mime.setData(CELLS_MIME, data)
    assert cells_in(mime) is None


def test_rows_and_columns_are_inserted_moved_and_deleted(pair: Pair) -> None:
    ada, jun = pair.views
    fill(ada, [["a", "1"], ["b", "2"], ["c", "3"]])
    ada.grid.go(1, 0)
    assert pair.ada.run("table.row.insert")
    assert rows(ada) == [["a", "1"], ["", ""], ["b", "2"], ["c", "3"]]
    assert pair.ada.run("table.row.delete"), "what was chosen has moved down"
    ada.grid.go(0, 0)
    assert pair.ada.run("table.row.down")
    assert pair.ada.run("table.column.right")
    pair.settle()
    assert rows(jun) == rows(ada) == [["", ""], ["1", "a"], ["3", "c"]]
    assert pair.ada.run("table.column.insert")
    assert ada.describe()["size"][1] == 3
    assert pair.ada.run("table.column.delete")
    assert ada.describe()["size"][1] == 2


def test_sorting_and_filtering_are_ones_own(pair: Pair) -> None:
    ada, jun = pair.views
    fill(ada, [["pear", "3"], ["Apple", "20"], ["fig", ""], ["date", "100"]])
    pair.settle()
    ada.grid.go(0, 1)
    assert pair.ada.run("table.column.sort")
    assert [row[0] for row in rows(ada)] == ["pear", "Apple", "date", "fig"]
    assert pair.ada.run("table.column.sort")
    assert [row[0] for row in rows(ada)] == ["date", "Apple", "pear", "fig"]
    assert [row[0] for row in rows(jun)] == ["pear", "Apple", "fig", "date"]
    assert ada.model.headerData(0, Qt.Orientation.Vertical) == "4"
    assert not pair.ada.run("table.row.up")
    ada.filter.setText(">5")
    assert [row[0] for row in rows(ada)] == ["date", "Apple"]
    ada.filter.setText("APP")
    assert [row[0] for row in rows(ada)] == ["Apple"]
    fill(jun, [["apple pie", "1"]])
    pair.settle()
    assert [row[0] for row in rows(ada)] == ["Apple", "apple pie"]
    ada.filter.clear()
    assert pair.ada.run("table.column.sort")
    assert [row[0] for row in rows(ada)] == ["apple pie", "Apple", "fig", "date"]


def test_types_of_columns(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    fill(ada, [["2026-11-16", "TRUE", "1234.5"], ["soon", "", "x"]])
    for number, word in enumerate(["date", "check", "number"]):
        ada.grid.go(0, number)
        assert pair.ada.run(f"table.column.type.{word}")
    ada.grid.go(1, 1)
    qtbot.keyClick(ada.grid, Qt.Key.Key_Space)
    assert rows(ada)[1][1] == "TRUE"
    box = ada.grid.visualRect(ada.model.index(0, 1)).center()
    qtbot.mouseClick(ada.grid.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(box))
    assert rows(ada)[0][1] == "FALSE"
    pair.settle()
    assert [column["type"] for column in jun.describe()["columns"]] == ["date", "check", "number"]
    assert not jun.grab().isNull()


def test_a_column_gets_a_name(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    ada.grid.go(0, 1)
    pair.ada.run("table.column.name")
    dialog = ada.findChild(QInputDialog)
    dialog.setTextValue("Price")
    dialog.accept()
    pair.settle()
    assert [column["name"] for column in jun.describe()["columns"]] == ["A", "Price"]


JUNK: list[Any] = [None, 3, 2.5, True, b"\xff", [1], {"a": "b"}, "", "/", "a/b", "{", "x" * 99]


@pytest.mark.parametrize("mode", [Mode.LIGHT, Mode.DARK])
def test_junk_in_the_document_is_passed_over_and_stays(pair: Pair, qtbot: Any, mode: Mode) -> None:
    ada, jun = pair.views
    pair.ada.window.theme.set_mode(mode)
    fill(jun, [["kept", "1"]])
    document = jun.table.document
    row, column = jun.model.rows[0], jun.model.columns[1]
    with document.transaction():
        for number, value in enumerate(JUNK):
            document.movable_list("rows").append(value)
            document.movable_list("columns").append(value)
            document.map("column").set(f"{column}/{['name', 'type', 'width'][number % 3]}", value)
            document.map("cells").set(f"junk{number}", value)
        document.map("cells").set(f"{row}/{column}", {"not": "a text"})
    jun.table.presence.set_spot({"cells": ["no", "such", "cell", "here"]})
    pair.settle()
    assert rows(ada)[0][0] == "kept"
    assert not pair.ada.window.grab().isNull()
    fill(ada, [["still works"]])
    pair.settle()
    assert rows(jun)[0][0] == "still works"
    assert len(ada.table.document.map("cells")) == len(JUNK) + 2


def test_who_may_only_look_can_sort_and_export_but_not_write(
    make_place: MakePlace, hub: MemoryHub, qtbot: Any, tmp_path: Path
) -> None:
    pair = Pair(make_place, hub, "table")
    fill(pair.views[0], [["b"], ["a"]])
    page = pair.ada.window.front
    assert page is not None
    mia = make_place("Mia")
    show_view_only(mia, page.opened.opening.reference)
    pair.settle()
    view = view_of(mia)
    view.show_newest()
    assert rows(view) == [["b"], ["a"]]
    qtbot.keyClick(view.grid, Qt.Key.Key_Delete)
    assert not mia.run("table.row.insert")
    assert mia.run("table.column.sort")
    assert rows(view) == [["a"], ["b"]]
    view.export_file(tmp_path / "x.csv")
    qtbot.waitUntil(lambda: not view.csv.is_busy)
    assert (tmp_path / "x.csv").exists()


def test_ten_thousand_rows_are_painted_a_screen_at_a_time(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, _ = pair.views
    table = ada.table
    count, width = 10_000, 20
    table.grow(count, width)
    content = table.content
    with table.document.transaction("much"):
        for number in range(0, count, 10):
            for column in content.columns:
                table.keep(content.rows[number], column, str(number))
        table.write({(content.rows[0], content.columns[1]): "=SUM(A1:A10000)"})
    QApplication.processEvents()
    bar = ada.grid.verticalScrollBar()
    asked = 0
    look = ada.model.look

    def counted(row: str, column: str) -> Any:
        nonlocal asked
        asked += 1
        return look(row, column)

    monkeypatch.setattr(ada.model, "look", counted)
    for step in range(20):
        bar.setValue(step * bar.maximum() // 20)
        ada.grid.viewport().repaint()
    assert 0 < asked < count * width, "a frame does not depend on the number of rows"
    assert ada.model.rowCount() > count
