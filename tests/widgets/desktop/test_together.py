"""Two people at one desktop: what one does the other sees, and each undoes their own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from liveobj.capabilities import view_only
from liveobj.objects.desktop_items import Frame
from liveobj.references import read_reference_file, write_reference_file
from tests.app.conftest import MakePlace
from tests.widgets.desktop.conftest import Person, move_mouse
from widgets.desktop import motion
from widgets.desktop.camera import Camera
from widgets.desktop.desktop_view import DesktopView

Join = Callable[[str], Person]


@pytest.fixture
def jun(join: Join) -> Person:
    return join("Jun")


def settle(*people: Person) -> None:
    for person in people:
        person.company_says()
    people[0].hub.run()


def test_what_one_places_and_moves_the_other_sees(ada: Person, jun: Person) -> None:
    identity = ada.put("Plan", 100, 100)
    settle(ada, jun)
    assert jun.item(identity).frame == Frame(100, 100, 240, 160)
    jun.drag((200, 120), (500, 420))
    settle(ada, jun)
    assert ada.item(identity).frame == Frame(400, 400, 240, 160)


def test_both_write_in_one_note_in_place_and_undo_their_own(ada: Person, jun: Person) -> None:
    ada.put("Plan", 100, 100)
    settle(ada, jun)
    for person, words in ((ada, "from Ada "), (jun, "from Jun ")):
        person.place.window.activateWindow()
        person.double_click(200, 200)
        view = person.canvas.inside.view
        assert view is not None
        QTest.keyClicks(view.focusProxy() or view, words)
        settle(ada, jun)
    inner = [person.canvas.inside.view for person in (ada, jun)]
    for view in inner:
        assert view is not None
        view.show_newest()
    texts = {view.describe()["text"] for view in inner if view is not None}
    assert len(texts) == 1
    assert sorted("".join(texts).split()) == ["Ada", "Jun", "from", "from"]
    while jun.place.run("edit.undo"):
        pass
    settle(ada, jun)
    view = inner[0]
    assert view is not None
    view.show_newest()
    assert view.describe()["text"] == "from Ada "


def test_a_caret_is_told_only_by_who_works_inside(ada: Person, jun: Person) -> None:
    identity = ada.put("Plan", 100, 100)
    settle(ada, jun)
    for person in (ada, jun, ada):
        person.settle()
    seen = ada.canvas.live.view_if_open(identity)
    assert seen is not None
    assert seen.describe()["carets"] == {}
    jun.double_click(200, 200)
    inner = jun.canvas.inside.view
    assert inner is not None
    inner.show_newest()
    jun.hub.run()
    seen.show_newest()
    assert seen.describe()["carets"] == {"Jun": 0}
    jun.canvas.inside.leave()
    inner.show_newest()
    jun.hub.run()
    seen.show_newest()
    assert seen.describe()["carets"] == {}


def test_undo_on_the_desktop_is_ones_own(ada: Person, jun: Person) -> None:
    mine = ada.put("Mine", 100, 100)
    settle(ada, jun)
    theirs = jun.put("Theirs", 500, 100)
    settle(ada, jun)
    assert ada.place.run("edit.undo")
    settle(ada, jun)
    assert set(jun.desktop.items) == {theirs}
    assert not ada.place.run("edit.undo")
    assert ada.place.run("edit.redo")
    settle(ada, jun)
    assert set(jun.desktop.items) == {mine, theirs}


def test_a_drag_is_seen_while_it_lasts(ada: Person, jun: Person) -> None:
    identity = ada.put("Plan", 100, 100)
    settle(ada, jun)
    ada.drag((200, 120), (300, 320), release=False)
    settle(ada, jun)
    assert jun.item(identity).frame == Frame(100, 100, 240, 160)
    assert jun.stage.frame_of(identity) == Frame(200, 300, 240, 160)
    ada.canvas.cancel_gesture()
    settle(ada, jun)
    assert jun.stage.frame_of(identity) == Frame(100, 100, 240, 160)
    ada.drag((200, 120), (300, 320))
    settle(ada, jun)
    assert jun.stage.frame_of(identity) == jun.item(identity).frame == Frame(200, 300, 240, 160)


def test_resizing_is_seen_while_it_lasts_and_is_one_step_of_undo(ada: Person, jun: Person) -> None:
    identity = ada.put("Plan", 100, 100)
    settle(ada, jun)
    before, bigger = Frame(100, 100, 240, 160), Frame(100, 100, 340, 260)
    ada.stage.select([identity])
    ada.drag((340, 260), (440, 360), release=False)
    settle(ada, jun)
    assert jun.item(identity).frame == before
    assert jun.stage.frame_of(identity) == bigger
    ada.canvas.cancel_gesture()
    settle(ada, jun)
    assert jun.stage.frame_of(identity) == before
    # By the upper left corner, which moves it, too.
    ada.drag((100, 100), (60, 40))
    settle(ada, jun)
    assert jun.stage.frame_of(identity) == jun.item(identity).frame == Frame(60, 40, 280, 220)
    assert ada.place.run("edit.undo")
    settle(ada, jun)
    assert jun.stage.frame_of(identity) == before


def test_others_moves_and_sizes_glide(
    ada: Person, jun: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = ada.put("Plan", 100, 100)
    settle(ada, jun)
    monkeypatch.setattr(motion, "motion_wanted", lambda: True)
    ada.desktop.arrange({identity: Frame(300, 100, 440, 160)})
    jun.hub.run()
    shown = jun.stage.frame_of(identity)
    assert shown is not None
    assert 100 <= shown.x < 300
    assert 240 <= shown.width < 440
    assert jun.stage.moving
    QTest.qWait(200)
    assert jun.stage.frame_of(identity) == Frame(300, 100, 440, 160)
    assert not jun.stage.moving


def test_pointer_selection_and_place_of_work_are_told(ada: Person, jun: Person) -> None:
    identity = ada.put("Plan", 100, 100)
    settle(ada, jun)
    move_mouse(ada.canvas, ada.at(400, 300), Qt.MouseButton.NoButton)
    ada.click(200, 200)
    settle(ada, jun)
    (seen,) = jun.stage.others.people.values()
    assert seen.name == "Ada"
    assert seen.spot is not None
    assert seen.spot.pointer == (400, 300)
    assert seen.spot.selected == (identity,)
    assert seen.spot.inside is None
    ada.click(200, 200)
    settle(ada, jun)
    assert [other.name for other in jun.stage.others.inside(identity)] == ["Ada"]
    ada.canvas.left.emit()
    settle(ada, jun)
    (seen,) = jun.stage.others.people.values()
    assert seen.spot is not None
    assert seen.spot.pointer is None
    assert jun.canvas.grab().width() > 0


def test_who_looks_at_another_tab_is_not_at_the_desktop(ada: Person, jun: Person) -> None:
    settle(ada, jun)
    ada.place.run("note.new")
    settle(ada, jun)
    (seen,) = jun.stage.others.people.values()
    assert seen.spot is None


def test_following_until_one_looks_elsewhere(ada: Person, jun: Person) -> None:
    settle(ada, jun)
    (node,) = jun.stage.others.people
    jun.view.show_newest()
    jun.view._furniture.people.discs[node].click()
    assert jun.view.company.followed == node
    jun.view.show_newest()
    assert jun.view._furniture.banner.text == "You see what Ada sees"
    ada.stage.look(Camera(500, -300, 0.5))
    settle(ada, jun)
    theirs, mine = ada.stage.seen, jun.stage.seen
    assert mine.x <= theirs.x + 1
    assert mine.right >= theirs.right - 1
    assert mine.y <= theirs.y + 1
    jun.wheel(600, 0, -120)
    assert jun.view.company.followed is None
    before = jun.stage.camera
    ada.stage.look(Camera(0, 0, 1.0))
    settle(ada, jun)
    assert jun.stage.camera == before
    assert jun.place.run(f"desktop.follow.{node}")
    assert jun.view.company.followed == node
    jun.view.show_person(node)
    assert jun.place.run(f"desktop.follow.{node}")
    assert jun.view.company.followed is None


def test_two_who_follow_each_other_stay_where_they_are(ada: Person, jun: Person) -> None:
    jun.place.window.resize(700, 800)
    settle(ada, jun)
    for person in (ada, jun):
        person.view.company.follow(next(iter(person.stage.others.people)))
    for _ in range(10):
        settle(ada, jun)
    before = ada.stage.camera, jun.stage.camera
    for _ in range(10):
        settle(ada, jun)
    assert (ada.stage.camera, jun.stage.camera) == before


def test_following_ends_when_the_other_goes(ada: Person, jun: Person) -> None:
    settle(ada, jun)
    jun.view.company.follow(next(iter(jun.stage.others.people)))
    front = ada.place.window.front
    assert front is not None
    ada.place.window.close_page(front)
    jun.hub.run()
    assert jun.view.company.followed is None
    assert jun.view.company.others == []


def test_the_others_can_be_hidden(ada: Person, jun: Person) -> None:
    settle(ada, jun)
    assert ada.canvas.show_others
    assert ada.place.run("desktop.others")
    assert not ada.canvas.show_others
    assert ada.canvas.grab().width() > 0


def test_what_one_works_in_may_be_taken_off_by_another(ada: Person, jun: Person) -> None:
    identity = ada.put("Plan", 100, 100)
    settle(ada, jun)
    ada.double_click(200, 200)
    view = ada.canvas.inside.view
    assert view is not None
    QTest.keyClicks(view.focusProxy() or view, "kept")
    assert view.describe()["text"] == "kept"
    jun.desktop.delete([identity])
    settle(ada, jun)
    assert ada.stage.inside is None
    assert ada.canvas.inside.view is None
    assert ada.canvas.live.open_items == []
    assert jun.desktop.document.undo()
    settle(ada, jun)
    ada.settle()
    shown = ada.canvas.live.view_if_open(identity)
    assert shown is not None
    assert shown.describe()["text"] == "kept"


def test_a_drag_of_something_that_goes_away_harms_nobody(ada: Person, jun: Person) -> None:
    identity = ada.put("Plan", 100, 100)
    settle(ada, jun)
    ada.drag((200, 120), (300, 320), release=False)
    jun.desktop.delete([identity])
    settle(ada, jun)
    QTest.mouseRelease(ada.canvas, Qt.MouseButton.LeftButton, pos=ada.at(300, 320))
    settle(ada, jun)
    assert ada.desktop.items == jun.desktop.items == {}


def test_who_may_only_look_sees_all_and_changes_nothing(ada: Person, make_place: MakePlace) -> None:
    identity = ada.put("Plan", 100, 100)
    front = ada.place.window.front
    assert front is not None
    file = front.file.with_name("Look only.liveobject")
    write_reference_file(view_only(read_reference_file(front.file)), file)
    place = make_place("Guest")
    place.window.resize(1200, 800)
    place.desk.open_file(file)
    ada.hub.run()
    page = place.window.front
    assert page is not None
    view = page.view
    assert isinstance(view, DesktopView)
    guest = Person(place, view, ada.hub)
    guest.stage.look(Camera())
    guest.drag((200, 120), (500, 420))
    guest.click(200, 200)
    guest.key(Qt.Key.Key_Right)
    assert not place.run("desktop.delete")
    assert not place.run("desktop.paste")
    assert not place.run("desktop.place.note")
    assert guest.desktop.items[identity].frame == Frame(100, 100, 240, 160)
    assert guest.view.intents.place_new(view.around.kinds["note"]) == []
    assert "not change it" in place.window.notice.text


def test_remote_moves_glide_and_local_ones_do_not(
    ada: Person, jun: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [10.0]
    identity = ada.put("Plan", 0, 0)
    settle(ada, jun)
    monkeypatch.setattr(motion, "motion_wanted", lambda: True)
    jun.stage._glides._clock = lambda: now[0]
    ada.desktop.arrange({identity: Frame(100, 0, 240, 160)})
    settle(ada, jun)
    frames = []
    for _ in range(4):
        frame = jun.stage.frame_of(identity)
        assert frame is not None
        frames.append(frame.x)
        now[0] += motion.GLIDE_S / 3
    assert frames[0] == 0
    assert frames == sorted(frames)
    assert 50 < frames[1] < 100
    assert frames[3] == 100
    jun.stage._glides.finish()
    jun.desktop.arrange({identity: Frame(0, 0, 240, 160)})
    shown = jun.stage.frame_of(identity)
    assert shown is not None
    assert shown.x == 0
