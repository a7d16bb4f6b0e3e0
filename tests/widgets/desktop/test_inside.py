"""Working in an object where it lies, at any zoom, with real events."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QInputMethodEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from liveobj.objects.desktop_items import Frame
from tests.widgets.desktop.conftest import LEFT, NO_KEYS, Person, move_mouse
from widgets.desktop.camera import Camera
from widgets.desktop.desktop_view import DesktopView
from widgets.desktop.scaled_room import ScaledRoom
from widgets.desktop.veil import Veil
from widgets.kinds import KINDS
from widgets.note_view import NoteView

LINES = "\n".join(f"line {n} of what is written here" for n in range(60))


@pytest.fixture
def note(ada: Person) -> str:
    return ada.put_note(LINES, 100, 100, 400, 300)


def enter(person: Person, zoom: float, x: float = 240, y: float = 240) -> NoteView:
    """Looks from there and clicks twice at a place of the plane."""
    person.stage.look(Camera(40, 40, zoom))
    person.click(x, y)
    person.click(x, y)
    view = person.canvas.inside.view
    assert isinstance(view, NoteView)
    return view


def keyboard() -> QWidget:
    """What a key press goes to."""
    focused = QApplication.focusWidget()
    assert focused is not None
    return focused


def room_of(person: Person) -> ScaledRoom | None:
    """What shows a view at another size than its own; None if nothing has to."""
    rooms = person.canvas.findChildren(ScaledRoom)
    return rooms[0] if rooms else None


def hand(person: Person, x: float, y: float) -> tuple[QWidget, QPoint]:
    """What the mouse meets at a place of the plane, and where on it."""
    window, at = person.canvas.window(), person.at(x, y)
    met = window.childAt(person.canvas.mapTo(window, at))
    assert met is not None
    return met, met.mapFrom(person.canvas, at)


def click(person: Person, x: float, y: float) -> None:
    met, at = hand(person, x, y)
    QTest.mouseClick(met, LEFT, NO_KEYS, at)


def place_of(person: Person, view: NoteView, position: int) -> tuple[float, float]:
    """Where a place of the text is seen, on the plane."""
    cursor = view.editor.textCursor()
    cursor.setPosition(position)
    middle = QPointF(view.editor.cursorRect(cursor).center())
    at = person.canvas.mapFromGlobal(view.editor.viewport().mapToGlobal(middle))
    return person.stage.camera.to_plane(at.x(), at.y())


@pytest.mark.parametrize("zoom", [0.5, 0.75, 1.0, 2.0])
def test_one_writes_where_one_clicks_at_any_zoom(ada: Person, note: str, zoom: float) -> None:
    view = enter(ada, zoom)
    assert ada.stage.camera.zoom == zoom
    assert (room_of(ada) is None) == (zoom == 1.0)
    for position in (40, 140, 75):
        click(ada, *place_of(ada, view, position))
        assert view.editor.textCursor().position() == position
    QTest.keyClicks(keyboard(), "X!")
    assert view.editor.toPlainText()[75:77] == "X!"
    QTest.keyClick(keyboard(), Qt.Key.Key_Escape)
    assert ada.stage.inside is None
    assert ada.canvas.hasFocus()
    assert not view.isVisible()
    assert view.parent() is ada.canvas


def test_the_click_that_leads_inside_says_where_to_write(ada: Person, note: str) -> None:
    ada.settle()
    shown = ada.canvas.live.view_if_open(note)
    assert isinstance(shown, NoteView)
    assert shown.editor.verticalScrollBar().value() == 0
    view = enter(ada, 0.75)
    assert view.editor.verticalScrollBar().value() == 0
    x, y = place_of(ada, view, view.editor.textCursor().position())
    assert abs(x - 240) < 12
    assert abs(y - 240) < 20


def test_what_one_works_in_lies_above_what_covers_it(ada: Person, note: str) -> None:
    above = ada.put("Above", 300, 80, 400, 200)
    ada.stage.look(Camera(40, 40, 1.0))
    at = (400.0, 116.0)
    found = ada.stage.item_at(*at)
    assert found is not None
    assert found.identity == above
    assert ada.canvas.inside.enter(ada.item(note))
    found = ada.stage.item_at(*at)
    assert found is not None
    assert found.identity == note
    ada.canvas.inside.leave()
    found = ada.stage.item_at(*at)
    assert found is not None
    assert found.identity == above


def test_entering_from_afar_comes_near_and_goes_back(ada: Person, note: str) -> None:
    ada.stage.look(Camera(-300, -200, 0.4))
    ada.click(200, 260)
    ada.click(200, 260)
    assert ada.stage.camera.zoom == 1.0
    assert ada.stage.seen.meets(ada.item(note).frame)
    ada.key(Qt.Key.Key_Escape)
    assert ada.stage.camera == Camera(-300, -200, 0.4)


def test_one_flies_near_and_back_and_writes_on_the_way(
    ada: Person, note: str, monkeypatch: pytest.MonkeyPatch, qtbot: Any
) -> None:
    monkeypatch.setattr("widgets.desktop.stage.motion_wanted", lambda: True)
    zooms: list[float] = []
    ada.stage.camera_changed.connect(lambda: zooms.append(ada.stage.camera.zoom))
    view = enter(ada, 0.2)
    zooms.clear()
    QTest.keyClicks(keyboard(), "on the way")
    assert ada.stage.camera.zoom < 0.5, "it has only just begun"
    qtbot.waitUntil(lambda: ada.stage.camera.zoom == 1.0)
    assert zooms == sorted(zooms)
    assert max(after / before for before, after in itertools.pairwise([0.2, *zooms])) < 4
    QTest.keyClicks(keyboard(), "!")
    assert "on the way!" in view.editor.toPlainText()
    zooms.clear()
    QTest.keyClick(keyboard(), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: ada.stage.camera == Camera(40, 40, 0.2))
    assert zooms == sorted(zooms, reverse=True)


def test_who_turns_around_on_the_way_is_outside_again(
    ada: Person, note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widgets.desktop.stage.motion_wanted", lambda: True)
    enter(ada, 0.2)
    ada.stage.zoom(0.9)
    assert ada.stage.inside is None
    assert ada.stage.camera.zoom < 0.5


def test_zooming_inside_zooms_the_plane_and_one_writes_on(ada: Person, note: str) -> None:
    view = enter(ada, 1.0)
    size = view.editor.font().pixelSize()
    for zoom in (0.8, 1.0, 2.0):
        wheel(ada, 240, 240, 120 if zoom > ada.stage.camera.zoom else -120)
        ada.stage.look(Camera(40, 40, zoom))
        QTest.keyClicks(keyboard(), "Z")
        assert ada.stage.inside == note
    assert view.editor.toPlainText().count("Z") == 3
    assert view.editor.font().pixelSize() == size
    ada.stage.look(Camera(40, 40, 0.3))
    assert ada.stage.inside is None
    assert ada.canvas.hasFocus()


def wheel(person: Person, x: float, y: float, turn: int) -> None:
    met, at = hand(person, x, y)
    keys = Qt.KeyboardModifier.ControlModifier
    QApplication.sendEvent(met, wheel_event(met, at, turn, keys))


def wheel_event(met: QWidget, at: QPoint, turn: int, keys: Qt.KeyboardModifier) -> QWheelEvent:
    far, none = QPointF(met.mapToGlobal(at)), Qt.MouseButton.NoButton
    phase = Qt.ScrollPhase.NoScrollPhase
    return QWheelEvent(QPointF(at), far, QPoint(), QPoint(0, turn), none, keys, phase, False)


def test_the_wheel_scrolls_the_text_and_ctrl_wheel_zooms(ada: Person, note: str) -> None:
    view = enter(ada, 0.75)
    met, at = hand(ada, 240, 240)
    QApplication.sendEvent(met, wheel_event(met, at, -120, NO_KEYS))
    assert view.editor.verticalScrollBar().value() > 0
    assert ada.stage.camera == Camera(40, 40, 0.75)
    wheel(ada, 240, 240, 120)
    assert ada.stage.camera.zoom == pytest.approx(0.9)
    assert ada.stage.inside == note


@pytest.mark.parametrize("zoom", [0.75, 1.0])
def test_the_pointers_of_others_are_seen_over_what_one_works_in(
    ada: Person, note: str, join: Callable[[str], Person], zoom: float
) -> None:
    jun = join("Jun")
    enter(ada, zoom)
    at = (300.0, 240.0)
    move_mouse(jun.canvas, jun.at(*at), Qt.MouseButton.NoButton)
    jun.company_says()
    ada.hub.run()
    ada.settle()
    place = ada.at(*at) + QPoint(2, 8)
    colour = ada.view.around.theme.person_colour("#006892")
    shot = ada.canvas.grab().toImage()
    assert shot.pixelColor(place) == colour
    assert hand(ada, *at)[0] is not ada.canvas.findChild(Veil)
    ada.view.toggle_others()
    assert ada.canvas.grab().toImage().pixelColor(place) != colour
    ada.canvas.inside.leave()
    assert not ada.canvas.findChild(Veil).isVisible()


def test_an_input_method_writes_in_a_scaled_view(ada: Person, note: str) -> None:
    view = enter(ada, 1.5)
    event = QInputMethodEvent()
    event.setCommitString("漢")
    QApplication.sendEvent(keyboard(), event)
    assert "漢" in view.editor.toPlainText()
    query = Qt.InputMethodQuery.ImCursorRectangle
    place = keyboard().inputMethodQuery(query)
    assert QPointF(place.center()).toPoint().y() > 0


@pytest.mark.parametrize("zoom", [0.75, 1.0])
def test_the_palette_gives_the_keyboard_back(ada: Person, note: str, zoom: float) -> None:
    view = enter(ada, zoom)
    click(ada, *place_of(ada, view, 40))
    palette = ada.place.window.palette_widget
    for key in (Qt.Key.Key_Escape, Qt.Key.Key_Return):
        assert ada.place.run("palette.open")
        QTest.keyClicks(keyboard(), "light theme")
        QTest.keyClick(keyboard(), key)
        assert not palette.isVisible()
        QTest.keyClicks(keyboard(), "Y")
    assert view.editor.toPlainText()[40:42] == "YY"
    assert ada.stage.inside == note


def test_menus_of_a_scaled_view_have_their_natural_size(ada: Person, note: str) -> None:
    view = enter(ada, 0.5)
    menu = QMenu(view.editor)
    menu.addAction("Cut")
    menu.popup(view.editor.mapToGlobal(QPoint(10, 10)))
    assert menu.graphicsProxyWidget() is None
    room = room_of(ada)
    assert room is not None
    assert menu.pos() == ada.canvas.mapToGlobal(room.pos() + QPoint(5, 5))
    menu.close()


def test_others_resize_and_delete_what_one_works_in(ada: Person, note: str) -> None:
    view = enter(ada, 2.0)
    frame = ada.item(note).frame
    ada.desktop.arrange({note: Frame(frame.x, frame.y, 300, 200)}, "resize")
    assert view.width() == 298
    room = room_of(ada)
    assert room is not None
    assert room.width() == 596
    ada.desktop.delete([note])
    assert ada.stage.inside is None
    assert ada.canvas.hasFocus()


def test_a_note_in_a_desktop_in_a_desktop_both_of_them_zoomed(ada: Person) -> None:
    inner = ada.view.around.make(KINDS["desktop"], "Inner")
    ada.desktop.place(inner, Frame(100, 100, 700, 500))
    ada.settle()
    ada.stage.look(Camera(40, 40, 0.8))
    ada.double_click(400, 300)
    nested = ada.canvas.inside.view
    assert isinstance(nested, DesktopView)
    there = Person(ada.place, nested, ada.hub)
    note = there.put_note(LINES, 0, 0, 400, 300)
    nested.stage.look(Camera(-20, -20, 1.25))
    assert there.canvas.inside.enter(there.item(note), (150, 150))
    view = there.canvas.inside.view
    assert isinstance(view, NoteView)
    QTest.keyClicks(keyboard(), "deep")
    assert "deep" in view.editor.toPlainText()
    QTest.keyClick(keyboard(), Qt.Key.Key_Escape)
    assert there.canvas.inside.view is None
    assert ada.canvas.inside.view is nested
    QTest.keyClick(keyboard(), Qt.Key.Key_Escape)
    QTest.keyClick(keyboard(), Qt.Key.Key_Escape)
    assert ada.canvas.inside.view is None
