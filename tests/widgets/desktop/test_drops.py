"""What is dropped on a desktop, what the ghost says before, and what is refused and why."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QImage,
)
from PySide6.QtWidgets import QApplication

from liveobj.objects.catalogue import MAKERS
from liveobj.objects.desktop_items import Form
from liveobj.objects.text_note import new_note
from liveobj.references import Primitive, Reference, read_reference, write_reference_file
from tests.widgets.desktop.conftest import Person
from widgets import drag
from widgets.note_view import NoteView

NOTE = new_note("Plan", random.Random(1).randbytes)
NO_KEYS = Qt.KeyboardModifier.NoModifier
ALT = Qt.KeyboardModifier.AltModifier
CTRL = Qt.KeyboardModifier.ControlModifier
ACTIONS = Qt.DropAction.CopyAction | Qt.DropAction.MoveAction | Qt.DropAction.LinkAction


class Hand:
    """Drags something over Ada's canvas."""

    def __init__(self, ada: Person, mime: QMimeData) -> None:
        self._canvas = ada.canvas
        self._ada = ada
        self._mime = mime

    def over(self, keys: Qt.KeyboardModifier = NO_KEYS) -> str:
        """Comes in and moves; what the ghost says then."""
        left = Qt.MouseButton.LeftButton
        at = QPoint(200, 150)
        QApplication.sendEvent(
            self._canvas, QDragEnterEvent(at, ACTIONS, self._mime, left, NO_KEYS)
        )
        move = QDragMoveEvent(at, ACTIONS, self._mime, left, keys)
        QApplication.sendEvent(self._canvas, move)
        assert move.isAccepted()
        assert self._canvas.grab().width() > 0
        return self._ada.view.target.words

    def drop(self, keys: Qt.KeyboardModifier = NO_KEYS) -> Qt.DropAction:
        self.over(keys)
        left = Qt.MouseButton.LeftButton
        event = QDropEvent(QPointF(200, 150), ACTIONS, self._mime, left, keys)
        QApplication.sendEvent(self._canvas, event)
        assert self._ada.view.target.words == ""
        return event.dropAction()


def dragging(ada: Person, reference: Reference, title: str = "Plan") -> Hand:
    return Hand(ada, drag.mime_of(reference, title))


def test_an_object_is_put_down_where_the_pointer_is(ada: Person) -> None:
    hand = dragging(ada, NOTE)
    assert hand.over() == "Put “Plan” here. Alt: a copy, Ctrl: a link"
    assert ada.desktop.items == {}
    assert hand.drop() is Qt.DropAction.CopyAction
    (item,) = ada.desktop.items.values()
    assert (item.frame.x, item.frame.y) == (200, 150)
    assert read_reference(item.reference) == NOTE
    assert ada.stage.selection == {item.identity}


def test_ctrl_links_and_alt_copies(ada: Person) -> None:
    hand = dragging(ada, NOTE)
    assert hand.over(CTRL) == "Put a link to “Plan” here"
    hand.drop(CTRL)
    (item,) = ada.desktop.items.values()
    assert item.form is Form.LINK
    assert hand.over(ALT) == "Put a copy of “Plan” here"
    hand.drop(ALT)
    copy = next(i for i in ada.desktop.items.values() if i.form is Form.OBJECT)
    assert read_reference(copy.reference) != NOTE


def test_a_tool_makes_an_object_there(ada: Person) -> None:
    hand = Hand(ada, drag.mime_of_kind("note"))
    assert hand.over() == "Make a new note here"
    hand.drop()
    ada.settle()
    (item,) = ada.desktop.items.values()
    assert isinstance(ada.canvas.live.view_if_open(item.identity), NoteView)
    strange = Hand(ada, drag.mime_of_kind("teapot"))
    assert strange.over() == "This tool is not known here."
    assert strange.drop() is Qt.DropAction.IgnoreAction
    assert len(ada.desktop.items) == 1


def test_text_of_other_programs_becomes_a_note(ada: Person) -> None:
    mime = QMimeData()
    mime.setText("Call the plumber\nbefore noon")
    hand = Hand(ada, mime)
    assert hand.over() == "Make a note of this text here"
    hand.drop()
    ada.settle()
    (item,) = ada.view.describe()["items"]
    assert item["name"] == "Call the plumber before noon"
    assert item["shows"]["text"] == "Call the plumber\nbefore noon"


def test_files_of_the_file_manager_are_put_down_side_by_side(ada: Person, tmp_path: Path) -> None:
    files = []
    for number in range(3):
        files.append(tmp_path / f"{number}.liveobject")
        write_reference_file(new_note(f"N{number}", random.Random(number).randbytes), files[-1])
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    hand = Hand(ada, mime)
    assert hand.over() == "Put 3 objects here"
    hand.drop()
    assert len({item.frame.x for item in ada.desktop.items.values()}) == 3
    assert ada.stage.selection == set(ada.desktop.items)
    ada.place.run("edit.undo")
    assert ada.desktop.items == {}


def test_what_has_no_view_is_refused_with_the_reason_and_can_be_linked(ada: Person) -> None:
    counter = MAKERS["counter"]("Votes", random.Random(1).randbytes)
    hand = dragging(ada, counter, "Votes")
    assert "no view that could lie on a desktop" in hand.over()
    assert hand.drop() is Qt.DropAction.IgnoreAction
    assert "no view" in hand.over(ALT)
    assert hand.over(CTRL) == "Put a link to “Votes” here"
    hand.drop(CTRL)
    assert [item.form for item in ada.desktop.items.values()] == [Form.LINK]


def test_what_cannot_run_here_is_refused_with_the_reason(ada: Person) -> None:
    hand = dragging(ada, Primitive("example.com:unheard-of"))
    assert hand.over().startswith("It cannot run here.")
    assert hand.drop() is Qt.DropAction.IgnoreAction


def test_a_desktop_is_not_put_on_itself(ada: Person) -> None:
    hand = dragging(ada, ada.view.opening.reference)
    assert hand.over() == "It cannot lie inside itself."
    hand.drop()
    assert ada.desktop.items == {}


def test_files_of_pictures_become_images_in_their_shape(ada: Person, tmp_path: Path) -> None:
    wide = QImage(400, 100, QImage.Format.Format_RGB32)
    wide.fill(Qt.GlobalColor.darkGreen)
    file = tmp_path / "Garden.PNG"
    assert wide.save(str(file), "PNG")
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(file))])
    hand = Hand(ada, mime)
    assert hand.over() == "Put this picture here"
    hand.drop()
    ada.settle()
    (item,) = ada.view.describe()["items"]
    assert (item["name"], item["kind"]) == ("Garden", "image")
    _, _, width, height = item["frame"]
    assert height < width / 2
    plain = QMimeData()
    plain.setData("image/png", QByteArray(file.read_bytes()))
    Hand(ada, plain).drop()
    assert len(ada.desktop.items) == 2


def test_a_file_that_only_looks_like_a_picture_is_refused_in_words(
    ada: Person, tmp_path: Path
) -> None:
    file = tmp_path / "not really.png"
    file.write_text("hello")
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(file)), QUrl.fromLocalFile(str(tmp_path / "gone.png"))])
    hand = Hand(ada, mime)
    assert hand.over() == "Put 2 pictures here"
    hand.drop()
    assert ada.desktop.items == {}
    assert "not a picture" in ada.place.window.notice.text


@pytest.mark.parametrize("make", ["empty", "broken", "file", "sound", "nul"])
def test_whatever_else_is_dragged_is_refused_in_words(
    ada: Person, tmp_path: Path, make: str
) -> None:
    mime = QMimeData()
    letter = tmp_path / "letter.odt"
    letter.write_text("x")
    match make:
        case "broken":
            mime.setData(drag.REFERENCE_MIME, QByteArray(b"<liveobject"))
        case "file":
            mime.setUrls([QUrl.fromLocalFile(str(letter))])
        case "sound":
            mime.setData("audio/ogg", QByteArray(b"Ogg"))
        case "nul":
            mime.setData("text/plain", QByteArray(b"   \n"))
    hand = Hand(ada, mime)
    assert len(hand.over()) > 10
    assert hand.drop() is Qt.DropAction.IgnoreAction
    assert ada.desktop.items == {}


def test_leaving_takes_the_ghost_away(ada: Person) -> None:
    hand = dragging(ada, NOTE)
    assert hand.over()
    QApplication.sendEvent(ada.canvas, QDragLeaveEvent())
    assert ada.view.target.words == ""


def test_who_may_only_look_is_told_so(ada: Person) -> None:
    ada.desktop.document.editable = False
    hand = dragging(ada, NOTE)
    assert hand.over() == "You can look at this desktop, but not change it."
    assert hand.drop() is Qt.DropAction.IgnoreAction


def test_the_icon_gives_a_real_file(ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    carried: list[QMimeData] = []

    def run(self: object, *_: object) -> Qt.DropAction:
        carried.append(self.mimeData())  # type: ignore[attr-defined]
        return Qt.DropAction.CopyAction

    monkeypatch.setattr("widgets.desktop.desktop_view.QDrag.exec", run)
    ada.put("Plan", 100, 100)
    ada.drag((116, 116), (300, 300))
    (mime,) = carried
    (url,) = mime.urls()
    assert Path(url.toLocalFile()).name == "Plan.liveobject"
    assert drag.references_in(mime) == [
        read_reference(item.reference) for item in ada.desktop.items.values()
    ]
    assert next(iter(ada.desktop.items.values())).frame.x == 100
