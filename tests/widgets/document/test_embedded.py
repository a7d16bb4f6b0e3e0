"""Tables, images and objects in a document: shown, edited together, resized, pasted, dropped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest

from liveobj.objects.text_note import new_note
from liveobj.richtext.model import (
    IMAGE_BYTES_MAX,
    Block,
    Embedded,
    Image,
    Paragraph,
    Run,
    Table,
    plain_text,
)
from tests.widgets.document.conftest import Desk
from tests.widgets.gifs import gif
from widgets.document.images import ImageFrame, image_of, make_image
from widgets.document.object_card import ShownObject
from widgets.document.table_grid import TableGrid
from widgets.document.table_layout import Place
from widgets.drag import mime_of


def picture(width: int = 60, height: int = 30) -> QImage:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor("#336699"))
    return image


def grid_of(desk: Desk, view: object = None) -> TableGrid:
    page = (view or desk.one).editor  # type: ignore[attr-defined]
    desk.qtbot.waitUntil(lambda: page.viewport().findChild(TableGrid) is not None)
    grid = page.viewport().findChild(TableGrid)
    assert isinstance(grid, TableGrid)
    return grid


def table_in(desk: Desk) -> Table:
    one, two = desk.contents()
    assert one == two
    return next(part for part in one if isinstance(part, Table))


def test_a_table_is_written_in_cell_by_cell(desk: Desk) -> None:
    desk.one.run_action("table")
    grid = grid_of(desk)
    assert grid.editor is not None, "one begins in the first cell"
    for words in ("a", "b", "c"):
        desk.qtbot.keyClicks(grid.editor, words)
        desk.qtbot.keyClick(grid.editor, Qt.Key.Key_Tab)
    desk.qtbot.keyClicks(grid.editor, "d")
    desk.qtbot.keyClick(grid.editor, Qt.Key.Key_Escape)
    assert not grid.is_edited
    rows = table_in(desk).rows
    assert rows[0] == ((Run("a"),), (Run("b"),), (Run("c"),))
    assert rows[1][0] == (Run("d"),)


def test_tab_in_the_last_cell_makes_a_row(desk: Desk) -> None:
    desk.one.insert_content([Table((((Run("x"),),),))])
    grid = grid_of(desk)
    grid.edit(Place(0, 0))
    desk.qtbot.keyClick(grid.editor, Qt.Key.Key_Tab)
    desk.qtbot.keyClicks(grid.editor, "y")
    assert table_in(desk).rows == (((Run("x"),),), ((Run("y"),),))


def test_two_people_write_in_one_cell_and_rows_come_and_go(desk: Desk) -> None:
    desk.one.insert_content([Table((((Run("x"),), (Run("y"),)),))])
    desk.settle()
    mine, theirs = grid_of(desk), grid_of(desk, desk.two)
    mine.edit(Place(0, 0))
    theirs.edit(Place(0, 0))
    desk.qtbot.keyClicks(mine.editor, "1")
    desk.qtbot.keyClicks(theirs.editor, "2")
    desk.one.run_action("row-below")
    desk.two.run_action("column-after")
    table = table_in(desk)
    assert sorted("".join(run.text for run in table.rows[0][0])) == ["1", "2", "x"]
    assert (len(table.rows), len(table.rows[0])) == (2, 3)
    desk.qtbot.keyClick(mine.editor, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    desk.qtbot.keyClicks(mine.editor, "B")
    assert any(run.marks for run in table_in(desk).rows[0][0])
    desk.two.run_action("row-remove")
    assert len(table_in(desk).rows) == 1
    desk.qtbot.waitUntil(lambda: not mine.is_edited)


def test_the_last_row_stays_and_a_menu_names_what_can_be_done(desk: Desk) -> None:
    desk.one.insert_content([Table((((Run("x"),),),))])
    grid = grid_of(desk)
    grid.remove_row(0)
    grid.remove_column(0)
    assert table_in(desk).rows == (((Run("x"),),),)
    menu = grid.menu_at(Place(0, 0))
    menu.actions()[-1].trigger()
    assert not table_in(desk).header
    menu.deleteLater()


def test_a_table_takes_the_room_that_it_needs(desk: Desk) -> None:
    desk.one.insert_content([Table((((Run("x"),),),))])
    grid = grid_of(desk)
    before = grid.height()
    grid.edit(Place(0, 0))
    desk.qtbot.keyClicks(grid.editor, "many words that need more than one line " * 8)
    desk.qtbot.waitUntil(lambda: grid.height() > before + 20)


def test_undo_takes_a_table_away_and_redo_brings_it_back(desk: Desk) -> None:
    desk.type("words")
    desk.one.run_action("table")
    desk.one.undo_edit()
    assert desk.contents()[1] == (Paragraph((Run("words"),)),)
    desk.one.redo_edit()
    assert any(isinstance(part, Table) for part in desk.contents()[1])


def test_others_take_away_the_table_that_one_writes_in(desk: Desk) -> None:
    desk.type("words")
    desk.one.run_action("table")
    desk.qtbot.keyClicks(desk.one.editor.active, "cell")
    desk.settle()
    far = desk.two.body
    with far.document.transaction("clear"):
        far.text.delete(5, far.text.length - 5)
    desk.settle()
    desk.qtbot.waitUntil(lambda: desk.one.editor.viewport().findChild(TableGrid) is None)
    assert desk.one.editor.active is desk.one.editor
    desk.type("!")
    one, two = desk.contents()
    assert one == two
    assert "!" in plain_text(one)


def test_an_image_is_pasted_shown_and_resized(desk: Desk) -> None:
    mime = QMimeData()
    mime.setImageData(picture())
    desk.one.editor.insertFromMimeData(mime)
    desk.qtbot.waitUntil(lambda: bool(list(desk.one.editor.embeds.all())))
    one, two = desk.contents()
    assert one == two
    assert isinstance(one[0], Image)
    page = desk.one.editor
    (position, _name), *_ = list(page.embeds.all())
    rect = page.embeds.rect_of(position)
    assert (rect.width(), rect.height()) == (60, 30)
    shot = page.viewport().grab().toImage()
    assert shot.pixelColor(rect.center().toPoint()) == QColor("#336699")
    QTest.mouseClick(page.viewport(), Qt.MouseButton.LeftButton, pos=rect.center().toPoint())
    frame = page.viewport().findChild(ImageFrame)
    assert isinstance(frame, ImageFrame)
    assert frame.isVisible()
    frame.dragged.emit(100)
    frame.resized.emit(120)
    assert page.embeds.rect_of(position).height() == 60
    (image, *_rest) = desk.contents()[1]
    assert isinstance(image, Image)
    assert image.width == 120


def test_an_image_that_takes_its_time_is_put_where_its_place_is_by_then(
    desk: Desk, tmp_path: Path
) -> None:
    desk.type("one two")
    good, bad = tmp_path / "cat.png", tmp_path / "broken.png"
    picture().save(str(good))
    bad.write_bytes(b"no picture")
    desk.settle()
    desk.one.editor.place_caret(4)
    desk.one.insert_images([good, bad])
    desk.two.body.text.insert(0, "zero ")  # while it is being made
    desk.settle()
    desk.qtbot.waitUntil(lambda: bool(list(desk.one.editor.embeds.all())))
    content = desk.contents()[1]
    assert content[0] == Paragraph((Run("zero one "),))
    assert isinstance(content[1], Image)
    assert desk.ada.around.said == ["broken.png cannot be read as an image."]


def test_an_animated_image_moves_while_it_is_seen(desk: Desk) -> None:
    image = make_image(gif([1, 2, 3], delay_cs=2))
    assert image is not None
    desk.one.insert_content([replace(image, width=40)])
    page = desk.one.editor
    (position, _name), *_ = list(page.embeds.all())
    seen: set[str] = set()

    def look() -> bool:
        middle = page.embeds.rect_of(position).center().toPoint()
        seen.add(page.viewport().grab().toImage().pixelColor(middle).name())
        return seen >= {"#ff0000", "#00ff00", "#0000ff"}

    desk.qtbot.waitUntil(look)


def test_typing_behind_an_image_is_words(desk: Desk) -> None:
    image = image_of(picture())
    assert image is not None
    desk.one.insert_content([image])
    desk.one.editor.place_caret(1)
    desk.type("words")
    assert desk.contents()[1][1:] == (Paragraph((Run("words"),)), Paragraph())


def test_large_images_are_made_small_enough_to_be_sent() -> None:
    noise = QImage(3000, 1500, QImage.Format.Format_RGB32)
    for y in range(0, 1500, 3):
        for x in range(0, 3000, 7):
            noise.setPixel(x, y, (x * 7919 + y * 104729) & 0xFFFFFF)
    image = image_of(noise)
    assert image is not None
    assert len(image.data) <= IMAGE_BYTES_MAX


@pytest.mark.parametrize("data", [b"", b"no image", b"\x89PNG\r\n\x1a\n" + bytes(40)])
def test_what_is_no_image_is_none(data: bytes) -> None:
    assert make_image(data) is None


def test_dropped_files_are_taken_or_refused_with_a_sentence(desk: Desk, tmp_path: Path) -> None:
    good, bad = tmp_path / "cat.png", tmp_path / "virus.exe"
    picture().save(str(good))
    bad.write_bytes(b"MZ")
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(good)), QUrl.fromLocalFile(str(bad))])
    desk.one.editor.offer(mime, 0)
    desk.qtbot.waitUntil(lambda: isinstance(desk.contents()[1][0], Image))
    assert "virus.exe" in desk.ada.around.said[0]


def test_html_is_taken_without_what_a_document_does_not_know(desk: Desk) -> None:
    mime = QMimeData()
    mime.setHtml(
        "<h2>Head</h2><script>alert(1)</script><p onclick='x()'>a <b>bold</b>"
        " <a href='javascript:x'>bad</a> <a href='https://example.org'>good</a></p>"
        "<img src='https://tracker.example/x.png' alt='pixel'>"
    )
    desk.one.editor.insertFromMimeData(mime)
    assert desk.contents()[1] == (
        Paragraph((Run("Head"),), Block("h2")),
        Paragraph(
            (
                Run("a "),
                Run("bold", {"bold": True}),
                Run(" bad "),
                Run("good", {"link": "https://example.org"}),
            )
        ),
        Paragraph((Run("pixel"),)),
    )


def test_an_object_that_is_dropped_lives_in_the_document(desk: Desk) -> None:
    reference = new_note("Plan", lambda count: bytes(range(count)))
    desk.one.editor.offer(mime_of(reference, "Plan"), 0)
    one, two = desk.contents()
    assert one == two
    assert isinstance(one[0], Embedded)
    assert one[0].title == "Plan"
    page = desk.one.editor
    name = next(iter(page.embeds.all()))[1]
    shown = page.embeds.shown(name)
    assert isinstance(shown, ShownObject)
    desk.qtbot.waitUntil(lambda: shown.widget is not None)
    view = shown._view
    assert view is not None
    desk.qtbot.keyClicks(view.editor, "inside")  # type: ignore[attr-defined]
    other = desk.two.editor.embeds.shown(name)
    assert isinstance(other, ShownObject)
    desk.qtbot.waitUntil(lambda: other._view is not None)
    desk.hub.run()
    theirs: Any = other._view
    desk.qtbot.waitUntil(lambda: theirs.editor.toPlainText() == "inside")


def test_a_document_in_itself_is_a_card_with_a_sentence(desk: Desk) -> None:
    desk.one.editor.offer(mime_of(desk.one.opening.reference, "Me"), 0)
    page = desk.one.editor
    name = next(iter(page.embeds.all()))[1]
    shown = page.embeds.shown(name)
    assert isinstance(shown, ShownObject)
    desk.qtbot.waitUntil(lambda: shown.widget is not None)
    assert shown._view is None
    assert shown._problem


def test_what_nobody_knows_is_a_grey_card_and_stays(desk: Desk) -> None:
    body = desk.one.body
    body.rich.replace(0, 0, [Run("\ufffc", {"embed": "mystery"})])
    desk.one.opening.shared.document.map("embeds").set("mystery", "hologram")
    desk.settle()
    assert not desk.one.grab().isNull()
    desk.type("more")
    assert "\ufffc" in str(desk.two.body.text) or desk.contents()
    assert "\ufffc" in str(desk.two.body.text)


def test_an_embedded_thing_is_painted_where_its_room_is(desk: Desk) -> None:
    desk.type("words above")
    image = image_of(picture(200, 100))
    assert image is not None
    desk.one.insert_content([image])
    page = desk.one.editor
    position = next(iter(page.embeds.all()))[0]
    rect = page.embeds.rect_of(position)
    shot = page.viewport().grab().toImage()
    inside = (rect.topLeft() + QPointF(2, 2), rect.bottomRight() - QPointF(2, 2))
    assert all(shot.pixelColor(point.toPoint()) == QColor("#336699") for point in inside)
    outside = rect.topLeft() - QPointF(0, 3)
    assert shot.pixelColor(outside.toPoint()) != QColor("#336699")
