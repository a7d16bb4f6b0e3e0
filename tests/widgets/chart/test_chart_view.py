"""The view of a chart: bound to a table and to a sensor, live; drawn, pointed at, exported."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from liveobj.declare import Dual
from liveobj.objects.chart import Shape
from liveobj.objects.group_objects import SENSOR_ID, SensorEndpoint, new_group_object
from liveobj.objects.text_note import new_note
from tests.app.conftest import MakePlace
from tests.app.memory_network import MemoryHub
from tests.liveobj.objects.replicas import User
from tests.widgets.pair import Pair, drop_on, show_view_only, view_of
from widgets import drag
from widgets.roles import Mode

ROWS = [["Mon", "3", "x"], ["Tue", "5", "7"], ["Wed", "", "9"]]


@pytest.fixture
def pair(make_place: MakePlace, hub: MemoryHub) -> Pair:
    return Pair(make_place, hub, "chart")


def make_table(pair: Pair) -> Any:
    """A table of Ada's with some numbers; gives its view, and leaves the chart in front."""
    chart = pair.ada.window.front
    assert chart is not None
    pair.ada.run("table.new")
    view = view_of(pair.ada)
    view.model.write({(r, c): t for r, row in enumerate(ROWS) for c, t in enumerate(row)}, "fill")
    pair.ada.window.tabs.setCurrentWidget(chart)
    return view


def bind(pair: Pair) -> Any:
    table = make_table(pair)
    ada, _ = pair.views
    ada.set_source(table.opening.reference)
    for _ in range(3):
        QApplication.processEvents()
        pair.settle()
    return table


def test_numbers_of_a_table_are_drawn_live_for_both(pair: Pair) -> None:
    table = bind(pair)
    ada, jun = pair.views
    expected = {"B": [3.0, 5.0, None], "C": [None, 7.0, 9.0]}
    assert ada.describe()["series"] == expected
    assert ada.describe()["labels"] == ["Mon", "Tue", "Wed"]
    assert jun.describe()["series"] == expected
    table.model.write({(0, 1): "=C2*2"}, "write")
    table.table.name_column(table.model.columns[1], "Cakes")
    pair.settle()
    pair.settle()
    assert jun.describe()["series"]["Cakes"] == [14.0, 5.0, None]


@pytest.mark.parametrize("mode", [Mode.LIGHT, Mode.DARK])
def test_every_shape_is_drawn(pair: Pair, mode: Mode) -> None:
    bind(pair)
    ada, jun = pair.views
    pair.ada.window.theme.set_mode(mode)
    pictures = set()
    for shape in Shape:
        assert pair.ada.run(f"chart.{shape.value}")
        pair.settle()
        assert jun.describe()["shape"] == shape.value
        pictures.add(bytes(ada.plot.grab().toImage().constBits()))
    assert len(pictures) == len(Shape)
    pair.ada.run("edit.undo")
    assert ada.describe()["shape"] != "pie"


def test_pointing_shows_values_with_mouse_and_keys(pair: Pair, qtbot: Any) -> None:
    bind(pair)
    ada, _ = pair.views
    ada.plot.grab()
    middle = QPoint(ada.plot.width() // 2, ada.plot.height() // 2)
    qtbot.mouseMove(ada.plot, middle)
    ada.plot._point_at(ada.plot._frame.row_at(middle.x()))
    assert ada.describe()["pointed"] == ["Tue", "B: 5", "C: 7"]
    qtbot.keyClick(ada.plot, Qt.Key.Key_Right)
    assert ada.describe()["pointed"] == ["Wed", "C: 9"]
    assert not ada.plot.grab().isNull()


def test_columns_are_chosen_and_exported(pair: Pair, tmp_path: Path) -> None:
    bind(pair)
    ada, jun = pair.views
    ada.toggle_column(ada.data.series[0].key)
    pair.settle()
    assert list(jun.describe()["series"]) == ["C"]
    for name in ("chart.png", "chart.svg", "chart.csv"):
        jun.export_file(tmp_path / name)
    assert QImage(str(tmp_path / "chart.png")).width() == 2400
    assert QSvgRenderer(str(tmp_path / "chart.svg")).isValid()
    text = (tmp_path / "chart.csv").read_bytes().decode("utf-8-sig")
    assert text.splitlines() == [",C", "Tue,7", "Wed,9"]
    jun.export_file(tmp_path / "missing" / "x.png")
    assert "was not written" in pair.jun.window.notice.text


def test_a_sensor_is_drawn_as_it_measures(pair: Pair) -> None:
    ada, _ = pair.views
    sensor = new_group_object(SENSOR_ID, "Thermometer", os.urandom)
    drop_on(ada, drag.mime_of(sensor, "Thermometer"))
    QApplication.processEvents()
    runtime = pair.jun.session.runtime
    proxy = runtime.dereference(sensor)
    user = User(runtime, proxy, "sensor", Dual[SensorEndpoint])
    pair.settle()
    QApplication.processEvents()
    for value in (20.5, 21.0):
        user.send("measure", value=value)
        QApplication.processEvents()
        pair.settle()
        QApplication.processEvents()
    ada.show_newest()
    assert ada.describe()["series"] == {"Sensor 1": [20.5, 21.0]}
    proxy.close()


def test_what_cannot_be_drawn_is_refused(pair: Pair) -> None:
    ada, _ = pair.views
    drop_on(ada, drag.mime_of(new_note("x", os.urandom), "x"))
    assert "something else" in pair.ada.window.notice.text
    assert ada.chart.source is None
    ada.chart.document.map("settings").set("source", b"<junk/>")
    ada.show_newest()
    assert ada.describe()["series"] == {}
    assert not ada.grab().isNull()


JUNK: list[Any] = [None, 5, "x", b"\xff", [1, "n0"], {"a": 1}]


@pytest.mark.parametrize("value", JUNK)
def test_junk_in_the_document_is_passed_over(pair: Pair, value: Any) -> None:
    bind(pair)
    ada, jun = pair.views
    for name in ("shape", "columns", "labels"):
        jun.chart.document.map("settings").set(name, value)
    pair.settle()
    assert ada.describe()["shape"] == "line"
    assert not ada.grab().isNull()
    jun.chart.document.map("settings").set("source", value)
    pair.settle()
    assert ada.describe()["series"] == {}
    assert not ada.grab().isNull()


def test_a_chart_of_itself_is_nothing(pair: Pair) -> None:
    ada, _ = pair.views
    ada.chart.set_source(ada.opening.reference)
    assert ada.chart.source is None
    assert ada.describe()["series"] == {}


def test_who_may_only_look_can_export(
    make_place: MakePlace, hub: MemoryHub, tmp_path: Path
) -> None:
    pair = Pair(make_place, hub, "chart")
    bind(pair)
    page = pair.ada.window.front
    assert page is not None
    mia = make_place("Mia")
    show_view_only(mia, page.opened.opening.reference)
    for _ in range(3):
        pair.settle()
        QApplication.processEvents()
    view = view_of(mia)
    view.show_newest()
    assert not mia.run("chart.bar")
    view.export_file(tmp_path / "x.csv")
    assert (tmp_path / "x.csv").exists()
