"""The view of an image: two people, pictures of all sizes, marks drawn with the mouse."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QImage, QMouseEvent
from PySide6.QtWidgets import QApplication

from liveobj.objects.image import INLINE_BYTES_MAX
from tests.app.conftest import MakePlace
from tests.app.memory_network import MemoryHub
from tests.widgets.gifs import gif
from tests.widgets.image.test_decoding import packed
from tests.widgets.pair import Pair, drop_on, show_view_only, view_of
from widgets.image.image_canvas import Tool
from widgets.roles import Mode


@pytest.fixture
def pair(make_place: MakePlace, hub: MemoryHub) -> Pair:
    return Pair(make_place, hub, "image")


def noise(side: int) -> bytes:
    """A picture that cannot be packed small."""
    data = random.Random(1).randbytes(side * side * 4)
    image = QImage(data, side, side, QImage.Format.Format_RGB32)
    return _png(image)


def _png(image: QImage) -> bytes:
    packed_bytes = QByteArray()
    buffer = QBuffer(packed_bytes)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(packed_bytes.data())


def drag_over(qtbot: Any, view: Any, *points: tuple[int, int]) -> None:
    canvas = view.canvas
    button = Qt.MouseButton.LeftButton
    places = [QPoint(*point) for point in points]
    qtbot.mousePress(canvas, button, pos=places[0])
    for place in places[1:]:
        move(canvas, place)
    qtbot.mouseRelease(canvas, button, pos=places[-1])


def move(canvas: Any, place: QPoint) -> None:
    left = Qt.MouseButton.LeftButton
    event = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(place),
        QPointF(canvas.mapToGlobal(place)),
        Qt.MouseButton.NoButton,
        left,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(canvas, event)


def test_a_small_picture_is_seen_by_both(pair: Pair) -> None:
    ada, jun = pair.views
    ada.files.show_bytes(packed("PNG", 400, 300), "plan.png")
    pair.settle()
    assert ada.describe()["pixels"] == jun.describe()["pixels"] == [400, 300]
    assert jun.describe()["picture"] == "plan.png"
    assert jun.describe()["state"] == ""


def test_a_large_picture_comes_by_streams(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    data = noise(300)
    assert len(data) > INLINE_BYTES_MAX
    ada.files.show_bytes(data)
    pair.settle()
    assert "way" in jun.describe()["state"] or "unpacked" in jun.describe()["state"]
    qtbot.waitUntil(lambda: jun.describe()["pixels"] == [300, 300], timeout=5000)
    assert len(jun.image.document.export_snapshot()) < INLINE_BYTES_MAX


def test_marks_are_drawn_with_the_mouse_erased_and_undone(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    ada.files.show_bytes(packed("PNG", 400, 300))
    assert pair.ada.run("image.pen")
    drag_over(qtbot, ada, (200, 200), (250, 240), (300, 220))
    assert pair.ada.run("image.arrow")
    drag_over(qtbot, ada, (220, 260), (320, 300))
    pair.settle()
    assert jun.describe()["marks"] == "2 marks"
    assert not jun.grab().isNull()
    shapes = {mark.shape for mark in jun.image.drawn().values()}
    assert shapes == {"pen", "arrow"}
    pair.ada.run("edit.undo")
    assert ada.describe()["marks"] == "1 mark"
    assert pair.ada.run("image.eraser")
    drag_over(qtbot, ada, (100, 100), (250, 240))
    pair.settle()
    assert jun.describe()["marks"] == "0 marks"


def test_zoom_fit_and_rotate(pair: Pair) -> None:
    ada, jun = pair.views
    ada.files.show_bytes(packed("PNG", 4000, 300))
    fitted = ada.canvas.zoom
    assert fitted < 0.3
    pair.ada.run("image.larger")
    assert ada.canvas.zoom == pytest.approx(fitted * 1.25)
    pair.ada.run("image.fit")
    assert ada.canvas.zoom == pytest.approx(fitted)
    pair.ada.run("image.rotate")
    pair.settle()
    assert jun.describe()["turned"] == 90


def test_pictures_are_pasted_dropped_and_saved(pair: Pair, tmp_path: Path) -> None:
    ada, jun = pair.views
    image = QImage(50, 40, QImage.Format.Format_RGB32)
    image.fill(0)
    QGuiApplication.clipboard().setImage(image)
    assert pair.ada.run("image.paste")
    assert ada.describe()["pixels"] == [50, 40]
    file = tmp_path / "../x.png"
    file.write_bytes(packed("PNG", 30, 20))
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(file.resolve()))])
    drop_on(ada, mime)
    pair.settle()
    assert jun.describe()["pixels"] == [30, 20]
    jun.files.save_file(tmp_path / "saved.png")
    assert (tmp_path / "saved.png").read_bytes() == file.read_bytes()
    jun.files.save_file(tmp_path / "missing" / "x.png")
    assert "was not written" in pair.jun.window.notice.text


def test_what_is_no_picture_changes_nothing(pair: Pair, tmp_path: Path) -> None:
    ada, _ = pair.views
    ada.files.show_bytes(b"nonsense")
    assert "not shown" in pair.ada.window.notice.text
    ada.files.open_file(tmp_path / "missing.png")
    assert "cannot be read" in pair.ada.window.notice.text
    assert ada.image.now is None
    assert ada.grab().width() > 0


@pytest.mark.parametrize("mode", [Mode.LIGHT, Mode.DARK])
def test_junk_in_the_document_is_passed_over(pair: Pair, qtbot: Any, mode: Mode) -> None:
    ada, jun = pair.views
    pair.ada.window.theme.set_mode(mode)
    image = jun.image
    image.show(b"these bytes are no picture", "x.png")
    image.marks.set("m", {"shape": "pen", "points": [1e308, -5, 0, 0], "width": 9, "colour": 4})
    image.marks.set("n", ["junk"])
    image.picture.set("turn", "round")
    pair.settle()
    assert "PNG" in ada.describe()["state"]
    assert not ada.grab().isNull()
    image.picture.set("now", {"content": "e" * 64, "size": 5, "name": "gone"})
    pair.settle()
    qtbot.waitUntil(lambda: "Nobody" in ada.describe()["state"])
    image.picture.set("now", 7)
    pair.settle()
    assert ada.describe()["picture"] == ""
    assert not ada.grab().isNull()


def test_who_may_only_look_has_no_pen(make_place: MakePlace, hub: MemoryHub) -> None:
    pair = Pair(make_place, hub, "image")
    pair.views[0].files.show_bytes(packed("PNG"))
    page = pair.ada.window.front
    assert page is not None
    mia = make_place("Mia")
    show_view_only(mia, page.opened.opening.reference)
    pair.settle()
    view = view_of(mia)
    view.show_newest()
    assert view.describe()["pixels"] == [8, 6]
    assert not mia.run("image.pen")
    assert mia.run("image.larger")
    assert view.canvas.tool is Tool.HAND


def test_tools_that_do_not_fit_leave_the_room_to_the_picture(pair: Pair) -> None:
    view = pair.views[0]
    bar = next(button for button in view._buttons.values()).parentWidget()
    assert bar.isVisible()
    view.canvas.resize(bar.width() - 1, 200)
    assert not bar.isVisible()
    view.canvas.resize(bar.width() + 1, 200)
    assert bar.isVisible()


def colour_seen(view: Any) -> str:
    """What is in the middle of the picture."""
    image = view.canvas.grab().toImage()
    return str(image.pixelColor(image.rect().center()).name())


def test_an_animated_picture_moves_while_it_is_seen(pair: Pair, qtbot: Any) -> None:
    ada = pair.views[0]
    ada.files.show_bytes(gif([1, 2, 3], delay_cs=2), "moving.gif")
    pair.settle()
    ada.canvas.zoom_by(20)
    seen: set[str] = set()
    qtbot.waitUntil(lambda: seen.add(colour_seen(ada)) or len(seen) == 3)
    ada.files.show_bytes(packed("PNG", 40, 30), "still.png")
    pair.settle()
    assert ada._animation is None
