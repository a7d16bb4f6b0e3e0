"""Giving an object away: rights, text, QR code, the picture, and from hand to hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QDrag, QGuiApplication, QMouseEvent
from PySide6.QtWidgets import QApplication

from liveobj.capabilities import can_edit
from liveobj.references import read_reference
from tests.app.conftest import MakePlace, Place
from tests.app.memory_network import MemoryHub
from widgets.drag import references_in
from widgets.people import Here, OfficePerson
from widgets.preview import Preview
from widgets.share_panel import SharePanel

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def open_panel(place: Place) -> SharePanel:
    assert place.run("share.open")
    return place.window.findChildren(SharePanel)[-1]


def press(panel: SharePanel, name: str) -> None:
    from PySide6.QtWidgets import QPushButton

    next(b for b in panel.findChildren(QPushButton) if b.accessibleName() == name).click()


def test_who_may_view_gets_no_key_to_edit(make_place: MakePlace) -> None:
    place = make_place("Ada")
    place.run("note.new")
    panel = open_panel(place)
    panel.view.setChecked(True)
    press(panel, "Copy as text")
    copied = read_reference(QGuiApplication.clipboard().text().encode())
    assert not can_edit(copied)
    panel = open_panel(place)
    assert can_edit(panel.chosen)
    press(panel, "Copy as text")
    assert can_edit(read_reference(QGuiApplication.clipboard().text().encode()))
    assert "Copied" in place.window.notice.text


def test_a_file_is_asked_for(make_place: MakePlace, monkeypatch: pytest.MonkeyPatch) -> None:
    place = make_place("Ada")
    place.run("note.new")
    asked: list[str] = []
    monkeypatch.setattr(
        place.window, "ask_where_to_save", lambda _title, name, _filter, _done: asked.append(name)
    )
    press(open_panel(place), "Save file…")
    assert asked == ["Note 16 November.liveobject"]


def test_the_picture_is_dragged_out_as_a_reference_and_a_file(
    make_place: MakePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make_place("Ada")
    place.run("note.new")
    given: list[Any] = []
    monkeypatch.setattr(QDrag, "exec", lambda drag, *_: given.append(drag.mimeData()))
    icon = place.window.top.object_icon
    for kind, x in ((QEvent.Type.MouseButtonPress, 3), (QEvent.Type.MouseMove, 40)):
        left = Qt.MouseButton.LeftButton
        point = QPointF(x, 5)
        keys = Qt.KeyboardModifier.NoModifier
        QApplication.sendEvent(icon, QMouseEvent(kind, point, point, left, left, keys))
    page = place.window.front
    assert page is not None
    assert references_in(given[0]) == [page.opened.opening.reference]
    assert Path(given[0].urls()[0].toLocalFile()).name == "Note 16 November.liveobject"
    place.window.drag_out(None)
    assert len(given) == 1


def test_it_is_handed_to_somebody_near_who_looks_at_it_first(
    make_place: MakePlace, hub: MemoryHub, qtbot: Any
) -> None:
    ada, jun = make_place("Ada"), make_place("Jun")

    def met() -> bool:
        hub.run()
        return bool(ada.desk.neighbours.people() and jun.desk.neighbours.people())

    qtbot.waitUntil(met)
    ada.run("note.new")
    panel = open_panel(ada)
    panel.hand_asked.emit(panel.chosen, ada.desk.neighbours.people()[0])
    assert "Jun is asked" in ada.window.notice.text
    hub.run()
    assert jun.window.notice.text == "Ada hands you “Note 16 November”."
    jun.window.notice._button.click()
    assert isinstance(jun.window.front_page, Preview)
    nobody = OfficePerson(99, "Nobody", "#006892", Here.BEHIND)
    page = ada.window.front
    assert page is not None
    ada.desk.neighbours.hand_over(page.opened.opening.reference, "x", nobody)
    assert "cannot be reached" in ada.window.notice.text


def test_people_near_are_at_the_side_although_they_share_nothing(
    make_place: MakePlace, hub: MemoryHub, qtbot: Any
) -> None:
    ada, jun = make_place("Ada"), make_place("Jun")

    def met() -> bool:
        hub.run()
        return [p.words for p in ada.desk.office.people()] == ["online"]

    qtbot.waitUntil(met)
    qtbot.waitUntil(lambda: len(ada.window.side.people.rows) == 1)
    jun.settings.change(presence_hidden=True)

    def gone() -> bool:
        hub.run()
        return ada.desk.office.people() == []

    qtbot.waitUntil(gone)
