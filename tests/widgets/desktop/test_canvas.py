"""The canvas under a real mouse and keyboard, one person alone."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QToolButton

from liveobj.objects.desktop_items import Form, Frame
from tests.widgets.desktop.conftest import Person, move_mouse
from widgets.desktop.camera import Camera
from widgets.desktop.desktop_view import DesktopView
from widgets.note_view import NoteView

SHIFT = Qt.KeyboardModifier.ShiftModifier
CTRL = Qt.KeyboardModifier.ControlModifier
ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture
def notes(ada: Person) -> list[str]:
    """Three notes in a row."""
    return [ada.put(f"note {n}", 40 + 300 * n, 60) for n in range(3)]


def test_one_click_selects_and_a_second_one_works_inside(ada: Person, notes: list[str]) -> None:
    ada.click(100, 160)
    assert ada.stage.selection == {notes[0]}
    assert ada.stage.inside is None
    ada.click(100, 160)
    assert ada.stage.inside == notes[0]
    view = ada.canvas.inside.view
    assert isinstance(view, NoteView)
    assert view.isVisible()
    QTest.keyClicks(QApplication.focusWidget(), "more ")
    assert "more " in view.editor.toPlainText()
    ada.key(Qt.Key.Key_Escape)
    assert ada.stage.inside is None
    assert not view.isVisible()
    assert ada.canvas.hasFocus()
    assert ada.stage.selection == {notes[0]}
    ada.key(Qt.Key.Key_Escape)
    assert ada.stage.selection == frozenset()


def test_the_second_click_says_where_to_write(ada: Person) -> None:
    ada.put_note("first line\nsecond line\nthird line", 100, 100, 400, 300)
    ada.click(300, 300)
    ada.click(440, 235)
    view = ada.canvas.inside.view
    assert isinstance(view, NoteView)
    assert view.editor.textCursor().blockNumber() in (1, 2)


def test_a_click_beside_comes_out_and_selects_nothing(ada: Person, notes: list[str]) -> None:
    ada.double_click(100, 160)
    assert ada.stage.inside == notes[0]
    ada.click(500, 500)
    assert ada.stage.inside is None
    assert ada.stage.selection == frozenset()


def test_dragging_moves_in_one_step_of_undo(ada: Person, notes: list[str]) -> None:
    before = ada.item(notes[0]).frame
    ada.drag((100, 75), (160, 375), release=False)
    assert ada.item(notes[0]).frame == before
    assert ada.stage.frame_of(notes[0]) == before.moved(60, 300)
    QTest.mouseRelease(ada.canvas, Qt.MouseButton.LeftButton, pos=ada.at(160, 375))
    assert ada.item(notes[0]).frame == before.moved(60, 300)
    assert ada.place.run("edit.undo")
    assert ada.item(notes[0]).frame == before


def test_escape_ends_a_drag_without_a_trace(ada: Person, notes: list[str]) -> None:
    before = ada.item(notes[0]).frame
    ada.drag((100, 75), (160, 375), release=False)
    ada.key(Qt.Key.Key_Escape)
    assert ada.stage.preview == {}
    QTest.mouseRelease(ada.canvas, Qt.MouseButton.LeftButton, pos=ada.at(160, 375))
    assert ada.item(notes[0]).frame == before


def test_shift_adds_and_drags_all(ada: Person, notes: list[str]) -> None:
    ada.click(100, 160)
    ada.click(400, 160, SHIFT)
    assert ada.stage.selection == {notes[0], notes[1]}
    ada.drag((400, 160), (400, 460))
    assert [ada.item(i).frame.y for i in notes] == [360, 360, 60]
    ada.click(400, 460, SHIFT)
    assert ada.stage.selection == {notes[0]}


def test_a_band_selects_what_it_touches(ada: Person, notes: list[str]) -> None:
    ada.drag((10, 300), (420, 150))
    assert ada.stage.selection == {notes[0], notes[1]}
    ada.drag((600, 300), (700, 200), SHIFT)
    assert ada.stage.selection == set(notes)
    assert ada.canvas.band is None


def test_what_is_dragged_snaps_to_its_neighbours(ada: Person, notes: list[str]) -> None:
    ada.drag((100, 75), (104, 300))
    assert ada.item(notes[0]).frame.x == 40 + 4
    ada.drag((100, 375), (397, 372), release=False)
    assert ada.stage.lines
    QTest.mouseRelease(ada.canvas, Qt.MouseButton.LeftButton, pos=ada.at(397, 372))
    assert ada.item(notes[0]).frame.x == 340
    assert ada.stage.lines == ()


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ((280, 220), (330, 290), Frame(40, 60, 290, 230)),
        ((40, 140), (10, 140), Frame(10, 60, 270, 160)),
        ((280, 60), (200, 100), Frame(40, 100, 160, 120)),
        ((280, 140), (-900, 140), Frame(40, 60, 48, 160)),
    ],
)
def test_edges_and_corners_resize(
    ada: Person, start: tuple[int, int], end: tuple[int, int], expected: Frame
) -> None:
    identity = ada.put("x", 40, 60)
    ada.click(100, 160)
    ada.drag(start, end)
    assert ada.item(identity).frame == expected
    ada.place.run("edit.undo")
    assert ada.item(identity).frame == Frame(40, 60, 240, 160)


def test_the_cursor_shows_which_edge_one_would_pull(ada: Person, notes: list[str]) -> None:
    ada.click(100, 160)
    for place, shape in (
        ((280, 140), Qt.CursorShape.SizeHorCursor),
        ((100, 220), Qt.CursorShape.SizeVerCursor),
        ((280, 220), Qt.CursorShape.SizeFDiagCursor),
        ((100, 100), Qt.CursorShape.ArrowCursor),
    ):
        move_mouse(ada.canvas, ada.at(*place), Qt.MouseButton.NoButton)
        assert ada.canvas.cursor().shape() is shape


def test_wheel_scrolls_and_ctrl_wheel_zooms_to_the_pointer(ada: Person, notes: list[str]) -> None:
    ada.wheel(100, 100, -120)
    assert ada.stage.camera == Camera(0, 60, 1.0)
    ada.wheel(100, 100, 120, SHIFT)
    assert ada.stage.camera == Camera(-60, 60, 1.0)
    before = ada.at(500, 400)
    ada.wheel(500, 400, 240, CTRL)
    assert ada.stage.camera.zoom == pytest.approx(1.44)
    assert (ada.at(500, 400) - before).manhattanLength() <= 1


def test_space_and_the_middle_button_pan(ada: Person, notes: list[str]) -> None:
    QTest.keyPress(ada.canvas, Qt.Key.Key_Space)
    assert ada.canvas.cursor().shape() is Qt.CursorShape.OpenHandCursor
    start, end = ada.at(100, 100), ada.at(160, 140)
    QTest.mousePress(ada.canvas, Qt.MouseButton.LeftButton, pos=start)
    move_mouse(ada.canvas, end, Qt.MouseButton.LeftButton)
    QTest.mouseRelease(ada.canvas, Qt.MouseButton.LeftButton, pos=end)
    QTest.keyRelease(ada.canvas, Qt.Key.Key_Space)
    assert ada.stage.camera == Camera(-60, -40, 1.0)
    assert ada.item(notes[0]).frame.x == 40
    ada.stage.look(Camera())
    QTest.mousePress(ada.canvas, Qt.MouseButton.MiddleButton, pos=start)
    move_mouse(ada.canvas, end, Qt.MouseButton.MiddleButton)
    QTest.mouseRelease(ada.canvas, Qt.MouseButton.MiddleButton, pos=end)
    assert ada.stage.camera == Camera(-60, -40, 1.0)


def test_arrows_nudge_and_a_row_of_nudges_is_undone_at_once(ada: Person, notes: list[str]) -> None:
    ada.click(100, 160)
    for _ in range(5):
        ada.key(Qt.Key.Key_Right)
    ada.key(Qt.Key.Key_Down, SHIFT)
    assert ada.item(notes[0]).frame == Frame(45, 70, 240, 160)
    ada.place.run("edit.undo")
    assert ada.item(notes[0]).frame == Frame(40, 60, 240, 160)
    ada.key(Qt.Key.Key_Escape)
    ada.key(Qt.Key.Key_Right)
    assert ada.stage.camera.x == 60


def test_tab_walks_and_leaves_after_the_last(ada: Person, notes: list[str]) -> None:
    for identity in notes:
        ada.key(Qt.Key.Key_Tab)
        assert ada.stage.selection == {identity}
    ada.key(Qt.Key.Key_Tab, SHIFT)
    assert ada.stage.selection == {notes[1]}
    ada.key(Qt.Key.Key_Tab)
    ada.key(Qt.Key.Key_Tab)
    assert ada.stage.selection == frozenset()
    assert not ada.canvas.hasFocus()


def test_tab_brings_what_is_out_of_sight_into_it(ada: Person) -> None:
    ada.put("far", 9000, 9000)
    ada.key(Qt.Key.Key_Tab)
    frame = ada.stage.chosen[0].frame
    assert ada.stage.seen.meets(frame)


def test_enter_works_inside_and_delete_deletes(ada: Person, notes: list[str]) -> None:
    ada.key(Qt.Key.Key_Tab)
    ada.key(Qt.Key.Key_Return)
    assert ada.stage.inside == notes[0]
    ada.key(Qt.Key.Key_Delete)  # in the text now
    ada.key(Qt.Key.Key_Escape)
    assert set(ada.desktop.items) == set(notes)
    ada.key(Qt.Key.Key_Delete)
    assert set(ada.desktop.items) == set(notes[1:])


def test_groups_move_as_one_and_a_second_click_takes_one_out(ada: Person, notes: list[str]) -> None:
    ada.key(Qt.Key.Key_A, CTRL)
    ada.key(Qt.Key.Key_G, CTRL)
    ada.click(900, 600)
    ada.drag((100, 160), (100, 360))
    assert {ada.item(i).frame.y for i in notes} == {260}
    ada.click(400, 360)
    assert ada.stage.selection == {notes[1]}
    ada.click(900, 600)
    ada.click(100, 360)
    assert ada.stage.selection == set(notes)
    ada.key(Qt.Key.Key_G, CTRL | SHIFT)
    ada.click(900, 600)
    ada.click(100, 360)
    assert ada.stage.selection == {notes[0]}


def test_lining_up_and_stacking_by_actions(ada: Person, notes: list[str]) -> None:
    ada.desktop.arrange({notes[1]: Frame(400, 300, 240, 160)})
    ada.place.run("desktop.select_all")
    assert ada.place.run("desktop.align.top")
    assert {ada.item(i).frame.y for i in notes} == {60}
    ada.stage.select([notes[0]])
    assert not ada.place.run("desktop.align.left")
    assert ada.place.run("desktop.to_front")
    assert ada.desktop.in_order()[-1].identity == notes[0]
    ada.place.run("desktop.to_back")
    assert ada.desktop.in_order()[0].identity == notes[0]
    ada.place.run("desktop.select_all")
    assert ada.place.run("desktop.distribute.across")


def test_dragging_with_alt_copies_and_with_ctrl_links(ada: Person, notes: list[str]) -> None:
    ada.double_click(100, 160)
    QTest.keyClicks(QApplication.focusWidget(), "words")
    ada.key(Qt.Key.Key_Escape)
    ada.drag((100, 160), (100, 460), ALT, release=False)
    assert ada.canvas.words == "Copy here"
    QTest.mouseRelease(ada.canvas, Qt.MouseButton.LeftButton, ALT, ada.at(100, 460))
    assert ada.item(notes[0]).frame.y == 60
    (copy,) = set(ada.desktop.items) - set(notes)
    assert ada.item(copy).frame == Frame(40, 360, 240, 160)
    assert ada.item(copy).reference != ada.item(notes[0]).reference
    ada.settle()
    shown = ada.canvas.live.view_if_open(copy)
    assert isinstance(shown, NoteView)
    assert shown.editor.toPlainText() == "words"
    assert ada.canvas.live.name(ada.item(copy)) == "note 0 (copy)"
    ada.drag((400, 160), (700, 460), CTRL)
    (link,) = set(ada.desktop.items) - {*notes, copy}
    assert ada.item(link).form is Form.LINK
    assert ada.item(link).reference == ada.item(notes[1]).reference


def test_f2_renames(ada: Person, notes: list[str]) -> None:
    ada.click(100, 160)
    ada.place.run("desktop.rename")
    field = QApplication.focusWidget()
    assert isinstance(field, QLineEdit)
    QTest.keyClicks(field, "Shopping")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert ada.item(notes[0]).title == "Shopping"
    assert ada.canvas.hasFocus()
    ada.place.run("desktop.rename")
    field = QApplication.focusWidget()
    assert isinstance(field, QLineEdit)
    QTest.keyClicks(field, "Something else")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert ada.item(notes[0]).title == "Shopping"


def test_shift_1_shows_everything(ada: Person, notes: list[str]) -> None:
    ada.put("far", 5000, 3000)
    assert ada.place.run("desktop.fit")
    seen = ada.stage.seen
    assert all(item.frame.meets(seen) for item in ada.desktop.items.values())
    assert ada.place.run("desktop.zoom_natural")
    assert ada.stage.camera.zoom == pytest.approx(1.0)


def test_menus_offer_what_can_be_done(ada: Person, notes: list[str]) -> None:
    ada.click(268, 76)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    titles = [action.text() for action in menu.actions() if action.text()]
    assert "Open in its own tab" in titles
    assert "Delete from the desktop" in titles
    menu.close()
    ada.canvas.menu_asked.emit(None, QPoint(600, 600))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert "Place a new note here" in [action.text() for action in menu.actions()]
    menu.close()


def test_a_double_click_on_the_strip_opens_a_tab(ada: Person, notes: list[str]) -> None:
    ada.settle()
    ada.double_click(150, 75)
    front = ada.place.window.front
    assert front is not None
    assert isinstance(front.view, NoteView)
    assert front.title == "note 0"


def test_the_camera_is_where_one_left_it(ada: Person, notes: list[str]) -> None:
    ada.stage.look(Camera(12, 34, 0.75))
    front = ada.place.window.front
    assert front is not None
    ada.place.window.close_page(front)
    ada.place.desk.open_file(front.file)
    again = ada.place.window.front
    assert again is not None
    assert again.view.describe()["camera"] == [12, 34]
    assert again.view.describe()["zoom"] == 0.75


def test_a_picture_of_a_desktop_shows_everything_and_moves_nobodys_camera(
    ada: Person, notes: list[str]
) -> None:
    ada.put("far", 5000, 3000)
    ada.stage.look(Camera(12, 34, 0.75))
    front = ada.place.window.front
    assert front is not None
    ada.place.window.close_page(front)
    opening = ada.view.around.open(front.opened.opening.reference)
    view = DesktopView(ada.view.around, opening)
    view.resize(400, 300)
    assert not view.grab().isNull()
    assert all(i.frame.meets(view.stage.seen) for i in view.stage.desktop.items.values())
    view.close_view()
    assert json.loads(opening.shared.local("camera") or b"") == [12, 34, 0.75]
    opening.close()
    view.deleteLater()


@pytest.mark.parametrize("kept", [b"", b"null", b"[1]", b'["a", 1, 2]', b"[1, 2, 1e9]", b"\xff"])
def test_a_camera_that_cannot_be_read_is_no_harm(
    ada: Person, notes: list[str], kept: bytes
) -> None:
    front = ada.place.window.front
    assert front is not None
    ada.place.window.close_page(front)
    opened = ada.place.session.open_file(front.file)
    opened.opening.shared.set_local("camera", kept)
    ada.place.desk.open_file(front.file)
    again = ada.place.window.front
    assert again is not None
    assert again.view.describe()["count"] == 3


def test_place_by_command_chooses_what_was_placed(ada: Person) -> None:
    for _ in range(2):
        assert ada.place.run("desktop.place.note")
    first, second = ada.desktop.in_order()
    assert ada.stage.selection == {second.identity}
    assert first.frame != second.frame
    assert ada.stage.seen.meets(second.frame)


def test_enter_on_a_tool_places_it_on_the_desktop_in_front(ada: Person) -> None:
    toolbox = ada.place.window.side.toolbox
    tool = next(b for b in toolbox.findChildren(QToolButton) if b.text() == "Note")
    tool.setFocus()
    QTest.keyClick(tool, Qt.Key.Key_Return)
    assert len(ada.desktop.items) == 1
    assert ada.canvas.hasFocus()
    ada.place.run("note.new")
    tool.setFocus()
    before = len(ada.place.window.object_pages())
    QTest.keyClick(tool, Qt.Key.Key_Return)
    assert len(ada.place.window.object_pages()) == before + 1


def test_copy_and_paste(ada: Person, notes: list[str]) -> None:
    ada.stage.select([notes[0]])
    assert ada.place.run("desktop.copy")
    assert ada.place.run("desktop.paste")
    (pasted,) = set(ada.desktop.items) - set(notes)
    assert ada.item(pasted).reference == ada.item(notes[0]).reference
    QApplication.clipboard().setText("words from elsewhere")
    assert ada.place.run("desktop.paste")
    ada.settle()
    texts = [i["shows"]["text"] for i in ada.view.describe()["items"] if "shows" in i]
    assert "words from elsewhere" in texts
    ada.place.run("desktop.select_all")
    assert ada.place.run("desktop.cut")
    assert ada.desktop.items == {}
    QApplication.clipboard().clear()
