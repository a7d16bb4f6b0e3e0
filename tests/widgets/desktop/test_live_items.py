"""Objects on a desktop come alive in sight, sleep out of it, and fail alone."""

from __future__ import annotations

import random
from typing import Any

import pytest
from PySide6.QtCore import QSize
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from liveobj.objects.desktop_items import Form, Frame
from liveobj.objects.text_note import new_note
from liveobj.references import Parameterized, Primitive, Value, write_reference
from tests.widgets.desktop.conftest import Person
from tests.widgets.gifs import gif
from widgets.desktop import live_items
from widgets.desktop.camera import Camera
from widgets.desktop.desktop_view import DesktopView
from widgets.desktop.makings import PictureSource, image_of
from widgets.kinds import KINDS
from widgets.object_view import ObjectView

GOOD = new_note("Plan", random.Random(1).randbytes)


def test_what_is_in_sight_is_live_and_pictured(ada: Person) -> None:
    near, far = ada.put("near", 100, 100), ada.put("far", 5000, 100)
    ada.settle()
    live = ada.canvas.live
    assert live.open_items == [near]
    picture = live.picture(near)
    assert picture is not None
    assert picture.deviceIndependentSize().toSize().width() == 238
    ada.stage.look(Camera(4900, 0, 1.0))
    ada.settle()
    assert set(live.open_items) == {near, far}
    assert live.asleep == {near}
    ada.stage.look(Camera())
    ada.settle()
    assert live.asleep == {far}


def test_beyond_a_bound_the_longest_unseen_is_closed_and_its_picture_stays(
    ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_items, "LIVE_MAX", 2)
    items = [ada.put(f"n{n}", 3000 * n, 100) for n in range(4)]
    for number in range(4):
        ada.stage.look(Camera(3000 * number, 0, 1.0))
        ada.settle()
    assert set(ada.canvas.live.open_items) == set(items[2:])
    assert all(ada.canvas.live.picture(identity) is not None for identity in items)


def test_from_afar_and_in_another_tab_nothing_is_awake(ada: Person) -> None:
    identity = ada.put("Plan", 100, 100)
    ada.settle()
    ada.stage.look(Camera(0, 0, 0.2))
    ada.settle()
    assert ada.canvas.live.asleep == {identity}
    ada.stage.look(Camera())
    ada.settle()
    assert ada.canvas.live.asleep == set()
    ada.place.run("note.new")
    assert ada.canvas.live.asleep == {identity}


def test_a_desktop_at_rest_is_not_painted_again(ada: Person) -> None:
    ada.put("Plan", 100, 100)
    ada.settle()
    QTest.qWait(200)
    before = ada.canvas.painted
    QTest.qWait(300)
    assert ada.canvas.painted == before


def test_nothing_is_opened_while_one_looks_around(ada: Person) -> None:
    ada.put("Plan", 100, 100)
    ada.stage.look(Camera(1, 1, 1.0))
    QApplication.processEvents()
    assert ada.canvas.live.open_items == []


def test_a_picture_has_the_size_of_its_item_and_never_too_many_pixels(ada: Person) -> None:
    identity = ada.put("Plan", 100, 100)
    ada.settle()
    ada.desktop.arrange({identity: Frame(100, 100, 500, 300)})
    ada.settle()
    assert ada.canvas.live.pictured_size(identity) == QSize(498, 260)
    ada.desktop.arrange({identity: Frame(100, 100, 20_000, 20_000)})
    ada.settle()
    picture = ada.canvas.live.picture(identity)
    assert picture is not None
    assert picture.width() * picture.height() <= 4_000_000
    assert ada.canvas.grab().width() > 0


def test_a_picture_follows_what_is_written_elsewhere(ada: Person) -> None:
    identity = ada.put_note("before", 100, 100)
    ada.settle()
    first = ada.canvas.live.picture(identity)
    view = ada.canvas.live.view_if_open(identity)
    assert view is not None
    view.opening.shared.document.text("text").insert(0, "and much more ")
    ada.settle()
    second = ada.canvas.live.picture(identity)
    assert first is not None
    assert second is not None
    assert first.toImage() != second.toImage()


def test_the_name_follows_the_object_unless_it_has_one_here(ada: Person) -> None:
    identity = ada.put("Plan", 100, 100)
    ada.settle()
    view = ada.canvas.live.view_if_open(identity)
    assert view is not None
    view.opening.shared.rename("Better plan")
    assert ada.canvas.live.name(ada.item(identity)) == "Better plan"
    ada.desktop.entitle(identity, "Ours")
    assert ada.canvas.live.name(ada.item(identity)) == "Ours"


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        (b"", "XML"),
        (b"\xff" * 5, "UTF-8"),
        (write_reference(Primitive("example.com:unheard-of")), "cannot show it"),
        (
            write_reference(
                Parameterized(Primitive("example.com:later"), {"title": Value("Later")})
            ),
            "cannot show it",
        ),
        (
            write_reference(Parameterized(GOOD.template, {"title": Value("Broken")})),
            "verify_key",
        ),
    ],
)
def test_what_cannot_be_shown_says_why_and_stays_as_it_is(
    ada: Person, reference: bytes, words: str
) -> None:
    identity = ada.desktop.place(reference, Frame(100, 100, 300, 200))
    good = ada.put("Plan", 500, 100)
    ada.settle()
    item = ada.item(identity)
    assert words in ada.canvas.live.problem(item)
    assert ada.canvas.live.open_items == [good]
    assert ada.canvas.grab().width() > 0
    ada.drag((200, 110), (300, 310))
    ada.double_click(300, 400)
    assert ada.stage.inside is None
    assert ada.item(identity).reference == reference
    assert ada.item(identity).frame.x == 200
    ada.stage.select([identity])
    ada.place.run("desktop.retry")
    ada.settle()
    assert words in ada.canvas.live.problem(item)


def test_a_view_that_fails_harms_no_other(ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    bad, good = ada.put("bad", 100, 100), ada.put("good", 500, 100)
    make = ada.view.around.kinds["note"].view

    def view(around: object, opening: object) -> ObjectView:
        if opening.title == "bad":  # type: ignore[attr-defined]
            raise RuntimeError("a mistake in a view")
        return make(around, opening)  # type: ignore[arg-type]

    kind = ada.view.around.kinds["note"]
    object.__setattr__(kind, "view", view)
    try:
        ada.settle()
    finally:
        object.__setattr__(kind, "view", make)
    assert ada.canvas.live.open_items == [good]
    assert "failed" in ada.canvas.live.problem(ada.item(bad))
    ada.stage.select([bad])
    ada.place.run("desktop.retry")
    ada.settle()
    assert set(ada.canvas.live.open_items) == {bad, good}


def test_an_object_that_stops_by_itself_shows_why(ada: Person) -> None:
    identity = ada.put("Plan", 100, 100)
    ada.settle()
    view = ada.canvas.live.view_if_open(identity)
    assert view is not None
    view.opening._proxy.proxy.fail("The disk is on fire.")
    QApplication.processEvents()
    assert ada.canvas.live.open_items == []
    assert ada.canvas.live.problem(ada.item(identity)) == "The disk is on fire."


def test_a_desktop_is_not_shown_inside_itself(ada: Person) -> None:
    outer = ada.view.opening.reference
    itself = ada.desktop.place(outer, Frame(100, 100, 300, 200))
    inner = ada.view.around.make(KINDS["desktop"], "Inner")
    nested = ada.desktop.place(inner, Frame(500, 100, 500, 400))
    ada.settle()
    assert ada.canvas.live.problem(ada.item(itself)) == "It cannot lie inside itself."
    view = ada.canvas.live.view_if_open(nested)
    assert isinstance(view, DesktopView)
    view.stage.desktop.place(outer, Frame(0, 0, 300, 200))
    ada.canvas.inside.enter(ada.item(nested))
    view.show_newest()
    (item,) = view.stage.desktop.items.values()
    assert "would show itself" in view.canvas.live.problem(item)
    assert view.canvas.live.open_items == []


def test_a_desktop_in_a_desktop_can_be_worked_in(ada: Person) -> None:
    inner = ada.view.around.make(KINDS["desktop"], "Inner")
    nested = ada.desktop.place(inner, Frame(100, 100, 700, 500))
    ada.settle()
    ada.double_click(400, 300)
    view = ada.canvas.inside.view
    assert isinstance(view, DesktopView)
    assert view.place_new(view.around.kinds["note"])
    assert len(view.stage.desktop.items) == 1
    ada.view.changed.emit()
    assert ada.place.run("edit.undo")
    assert view.stage.desktop.items == {}
    assert set(ada.desktop.items) == {nested}


def test_links_are_followed_and_never_opened_in_place(ada: Person) -> None:
    known = ada.view.around.make(KINDS["note"], "Plan")
    ada.desktop.place(known, Frame(100, 100, 260, 64), Form.LINK)
    ada.settle()
    assert ada.canvas.live.open_items == []
    ada.click(250, 130)
    ada.click(250, 130)
    front = ada.place.window.front
    assert front is not None
    assert front.title == "Plan"


def test_dark_and_light_are_both_painted(ada: Person) -> None:
    identity = ada.put("Plan", 100, 100)
    ada.settle()
    light = ada.canvas.grab().toImage()
    ada.place.run("theme.dark")
    assert ada.canvas.live.picture(identity) is None
    ada.settle()
    assert ada.canvas.grab().toImage() != light


@pytest.mark.parametrize("zoom", [0.02, 0.1, 0.2, 0.3, 0.45, 0.7, 1.0, 3.0])
def test_every_distance_is_painted(ada: Person, zoom: float) -> None:
    for number in range(6):
        ada.put(f"n{number}", 300 * number, 100)
    ada.desktop.place(GOOD, Frame(0, 400, 260, 64), Form.LINK)
    ada.desktop.place(b"unreadable", Frame(300, 400, 300, 200))
    ada.desktop.place(GOOD, Frame(0, 700, 9000, 5000))
    ada.stage.look(Camera(-50, -50, zoom))
    ada.settle()
    ada.stage.select(ada.desktop.items)
    empty = ada.canvas.grab().toImage().pixelColor(2, 2)
    image = ada.canvas.grab().toImage()
    x, y = (round(part) for part in ada.stage.camera.to_window(4000, 2000))
    if 0 <= x < image.width() and 0 <= y < image.height():
        assert image.pixelColor(x, y) != empty


def test_an_animated_image_moves_on_the_desktop_and_stands_still_out_of_sight(
    ada: Person, qtbot: Any
) -> None:
    made, _ = image_of(ada.view.around, PictureSource("a.gif", data=gif([1, 2, 3], delay_cs=2)))
    identity = ada.desktop.place(made, Frame(100, 100, 300, 200))
    ada.settle()
    taken: list[str] = []
    ada.canvas.live.renewed.connect(taken.append)
    qtbot.waitUntil(lambda: taken.count(identity) >= 3)
    ada.stage.look(Camera(5000, 5000, 1.0))
    ada.settle()
    taken.clear()
    qtbot.wait(150)
    assert len(taken) <= 1
