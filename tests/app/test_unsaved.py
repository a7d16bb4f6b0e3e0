"""While the disk refuses, the window warns and asks before the end; what it keeps is not lost."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QFileDialog

from app.object_page import ObjectPage
from liveobj.storage import ObjectStore, StorageError
from liveobj.storage import document_store as stores
from tests.app.conftest import MakePlace, Place
from tests.app.test_saved import front, wait_saved
from widgets.unsaved_dialog import UnsavedDialog

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


class RefusingDisk:
    """Every object's database refuses new updates while `full` is set."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.full = True
        append = ObjectStore.append

        def refuse(store: ObjectStore, *values: Any, **options: Any) -> int:
            if self.full:
                raise StorageError("It could not be written.") from OSError(errno.ENOSPC, "Full")
            return append(store, *values, **options)

        patch.setattr(ObjectStore, "append", refuse)
        patch.setattr(stores, "RETRY_DELAY_S", 0.05)


@pytest.fixture
def disk() -> Iterator[RefusingDisk]:
    """Room is made before the places of the test are closed."""
    with pytest.MonkeyPatch.context() as patch:
        disk = RefusingDisk(patch)
        disk.full = False
        yield disk
        disk.full = False


def write_on_full_disk(make_place: MakePlace, disk: RefusingDisk, qtbot: Any) -> Place:
    place = make_place("Ada")
    place.run("note.new")
    wait_saved(place, qtbot)
    disk.full = True
    qtbot.keyClicks(place.editor, "my only copy")
    qtbot.waitUntil(lambda: place.window.state_text.startswith("not saved"))
    return place


def dialog_of(place: Place) -> UnsavedDialog | None:
    found = place.window.findChildren(UnsavedDialog)
    return next((one for one in found if one.isVisible()), None)


def test_a_full_disk_is_warned_of_in_page_line_and_tab_until_there_is_room(
    make_place: MakePlace, disk: RefusingDisk, qtbot: Any
) -> None:
    place = write_on_full_disk(make_place, disk, qtbot)
    page = front(place)
    qtbot.waitUntil(page.warning.isVisible)
    assert page.warning.text.startswith("Not saved: the disk is full.")
    assert place.window.tabs.tabToolTip(0).startswith("Not saved")
    disk.full = False
    wait_saved(place, qtbot)
    qtbot.waitUntil(lambda: not page.warning.isVisible())
    assert not place.window.tabs.tabToolTip(0).startswith("Not saved")


def test_trying_again_saves_at_once(make_place: MakePlace, disk: RefusingDisk, qtbot: Any) -> None:
    place = write_on_full_disk(make_place, disk, qtbot)
    page = front(place)
    page.warning.buttons[0].click()
    assert place.window.notice.text == "The disk still refuses."
    disk.full = False
    page.warning.buttons[0].click()
    assert place.window.notice.text == "Saved."
    assert page.state.saved


def test_quitting_asks_and_ends_only_when_it_is_saved_or_the_person_insists(
    make_place: MakePlace, disk: RefusingDisk, qtbot: Any
) -> None:
    place = write_on_full_disk(make_place, disk, qtbot)
    place.run("program.quit")
    dialog = dialog_of(place)
    assert dialog is not None
    assert place.quits == []
    dialog.cancel.click()
    assert place.quits == []
    assert not place.window.close(), "the cross of the window asks, too"
    dialog = dialog_of(place)
    assert dialog is not None
    dialog.retry.click()
    assert dialog.said.text() == "The disk still refuses."
    assert place.quits == []
    disk.full = False
    dialog.retry.click()
    assert place.quits == [True]


def test_who_insists_can_quit(make_place: MakePlace, disk: RefusingDisk, qtbot: Any) -> None:
    place = write_on_full_disk(make_place, disk, qtbot)
    place.run("program.quit")
    dialog = dialog_of(place)
    assert dialog is not None
    dialog.leave.click()
    assert place.quits == [True]


def test_a_tab_that_is_closed_all_the_same_is_saved_when_there_is_room(
    make_place: MakePlace, disk: RefusingDisk, qtbot: Any
) -> None:
    place = write_on_full_disk(make_place, disk, qtbot)
    file = front(place).file
    place.run("object.close")
    dialog = dialog_of(place)
    assert dialog is not None
    assert not place.window.at_home
    dialog.leave.click()
    assert place.window.at_home
    qtbot.waitUntil(lambda: not any(place.session.closing))
    assert len(place.session.unclosed()) == 1, "it is kept until it is written"
    place.run("program.quit")
    assert place.quits == [], "it counts as unsaved, too"
    dialog = dialog_of(place)
    assert dialog is not None
    dialog.cancel.click()
    place.desk.open_file(file)
    assert place.editor.toPlainText() == "my only copy"
    place.run("object.close")
    dialog = dialog_of(place)
    assert dialog is not None
    dialog.leave.click()
    disk.full = False
    qtbot.waitUntil(lambda: place.session.unclosed() == [])
    place.desk.open_file(file)
    assert place.editor.toPlainText() == "my only copy"


def test_a_copy_goes_to_another_place(
    make_place: MakePlace, disk: RefusingDisk, qtbot: Any, tmp_path: Path
) -> None:
    place = write_on_full_disk(make_place, disk, qtbot)
    stick = tmp_path / "stick"
    stick.mkdir()
    place.run("program.quit")
    dialog = dialog_of(place)
    assert dialog is not None
    dialog.copy.click()
    chooser = dialog.findChild(QFileDialog)
    chooser.fileSelected.emit(str(stick))
    chooser.close()
    assert [file.read_text() for file in stick.iterdir()] == ["my only copy"]
    assert dialog.said.text() == f"1 copy is saved in {stick}."
    assert place.quits == []


def test_what_stands_in_a_cell_is_entered_at_the_end(make_place: MakePlace, qtbot: Any) -> None:
    place = make_place("Ada")
    place.run("table.new")
    page: ObjectPage = front(place)
    view: Any = page.view
    qtbot.keyClick(view.grid, "4")
    place.run("program.quit")
    assert place.quits == [True]
    assert view.describe()["rows"] == [["4"]]


def test_the_end_of_a_session_enters_what_stands_in_a_cell(
    make_place: MakePlace, qtbot: Any
) -> None:
    place = make_place("Ada")
    place.run("table.new")
    view: Any = front(place).view
    qtbot.keyClick(view.grid, "4")
    place.desk.quitting.quit_now()
    assert place.quits == [True]
    assert view.describe()["rows"] == [["4"]]


def test_at_home_one_sees_that_something_is_not_saved(
    make_place: MakePlace, disk: RefusingDisk, qtbot: Any
) -> None:
    place = write_on_full_disk(make_place, disk, qtbot)
    place.run("view.home")
    assert place.window.state_text.startswith("not saved")
    disk.full = False
    qtbot.waitUntil(lambda: not place.window.state_text.startswith("not saved"))


def test_a_message_that_was_begun_is_there_again_and_gone_once_it_is_sent(
    make_place: MakePlace, qtbot: Any
) -> None:
    place = make_place("Ada")
    place.run("chat.new")
    file = front(place).file
    view: Any = front(place).view
    qtbot.keyClicks(view.composer, "lunch at")
    place.run("object.close")
    place.desk.open_file(file)
    view = front(place).view
    assert view.composer.text == "lunch at"
    assert place.window.state_text.startswith("draft not saved")
    view.send()
    place.run("object.close")
    place.desk.open_file(file)
    again: Any = front(place).view
    assert again.composer.text == ""
