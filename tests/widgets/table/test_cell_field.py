"""The line above a table follows its cell, and keeps what one is writing there."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from tests.app.conftest import MakePlace
from tests.app.memory_network import MemoryHub
from tests.widgets.pair import Pair


@pytest.fixture
def pair(make_place: MakePlace, hub: MemoryHub) -> Pair:
    pair = Pair(make_place, hub, "table")
    ada, _ = pair.views
    ada.model.write({(0, 0): "1", (1, 0): "2", (2, 0): "=SUM(A1:A2)"}, "fill")
    pair.settle()
    return pair


def write(view: Any, row: int, text: str) -> None:
    view.model.write({(row, 0): text}, "write")


def type_above(qtbot: Any, view: Any, text: str) -> None:
    """Writes in the line with the keyboard, and has not finished yet."""
    view.formula.setFocus()
    view.formula.selectAll()
    qtbot.keyClicks(view.formula, text)


def cells(view: Any) -> list[str]:
    return [row[0] for row in view.describe()["rows"]]


def test_it_shows_what_anybody_makes_of_the_cell(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    ada.grid.go(1, 0)
    assert ada.formula.text() == "2"
    write(jun, 1, "=A1*40")
    pair.hub.run()
    qtbot.waitUntil(lambda: ada.formula.text() == "=A1*40")
    qtbot.keyClick(ada.grid, Qt.Key.Key_Delete)
    assert ada.formula.text() == "", "one's own changes too"
    pair.ada.run("edit.undo")
    assert ada.formula.text() == "=A1*40"


def test_it_goes_along_when_rows_come_and_go(pair: Pair) -> None:
    ada, jun = pair.views
    ada.grid.go(2, 0)
    jun.table.insert_rows(0)
    pair.settle()
    assert (ada.address.text(), ada.formula.text()) == ("A4", "=SUM(A2:A3)")
    jun.table.delete_rows(jun.model.rows[:2])
    pair.settle()
    assert (ada.address.text(), ada.formula.text()) == ("A2", "=SUM(A1:A1)")


def test_what_one_writes_stays_while_others_change_the_cell(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    ada.grid.go(1, 0)
    type_above(qtbot, ada, "mine")
    write(jun, 1, "hers")
    jun.table.insert_rows(0)
    pair.settle()
    assert ada.formula.text() == "mine"
    qtbot.keyClick(ada.formula, Qt.Key.Key_Return)
    pair.settle()
    assert cells(jun)[:3] == ["", "1", "mine"], "it went to the cell in which it was begun"
    assert ada.address.text() == "A4"


def test_escape_drops_what_was_written(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    ada.grid.go(1, 0)
    type_above(qtbot, ada, "mine")
    write(jun, 1, "hers")
    pair.settle()
    qtbot.keyClick(ada.formula, Qt.Key.Key_Escape)
    assert ada.formula.text() == "hers"
    pair.settle()
    assert cells(ada)[1] == "hers"


def test_who_clicks_another_cell_has_finished(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    ada.grid.go(0, 0)
    type_above(qtbot, ada, "7")
    place = ada.grid.visualRect(ada.model.index(1, 0)).center()
    qtbot.mouseClick(ada.grid.viewport(), Qt.MouseButton.LeftButton, pos=place)
    pair.settle()
    assert cells(jun) == ["7", "2", "9"]
    assert (ada.address.text(), ada.formula.text()) == ("A2", "2")


def test_what_was_written_for_a_row_that_went_is_told(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    ada.grid.go(1, 0)
    type_above(qtbot, ada, "mine")
    jun.table.delete_rows(jun.model.rows[1:2])
    pair.settle()
    QApplication.processEvents()
    assert "mine" in pair.ada.window.notice.text
    assert "mine" not in cells(ada)
    assert ada.formula.text() != "mine"


def test_a_filter_takes_nothing_away_that_one_is_writing(pair: Pair, qtbot: Any) -> None:
    ada, _ = pair.views
    ada.grid.go(1, 0)
    type_above(qtbot, ada, "mine")
    qtbot.keyClicks(ada.filter, "1")
    ada.filter.setFocus()
    ada.filter.clear()
    assert cells(ada)[1] == "mine"


def test_one_writes_into_a_cell_that_is_not_there_yet(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    ada.grid.go(4, 1)
    type_above(qtbot, ada, "new")
    jun.table.insert_rows(0)
    pair.settle()
    qtbot.keyClick(ada.formula, Qt.Key.Key_Return)
    pair.settle()
    assert [row[1] for row in jun.describe()["rows"]] == ["", "", "", "", "new"]
