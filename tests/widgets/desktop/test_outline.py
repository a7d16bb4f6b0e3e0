"""The outline: every item by name, edited with keys alone, undisturbed by others."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit

from liveobj.objects.desktop_items import Frame
from tests.widgets.desktop.conftest import Person
from widgets.desktop.outline_model import Column, OutlineModel


@pytest.fixture
def notes(ada: Person) -> list[str]:
    return [ada.put(f"note {n}", 40 + 300 * n, 60) for n in range(3)]


def titles(model: OutlineModel, parent: QModelIndex | None = None) -> list[str]:
    above = parent or QModelIndex()
    return [model.index(row, 0, above).data() for row in range(model.rowCount(above))]


def edit(ada: Person, index: QModelIndex, text: str) -> None:
    """Starts to edit a cell by key, writes, and presses Enter."""
    tree = ada.view.outline.tree
    tree.setCurrentIndex(index)
    QTest.keyClick(tree, Qt.Key.Key_F2)
    field = QApplication.focusWidget()
    assert isinstance(field, QLineEdit)
    field.selectAll()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)
    QApplication.processEvents()


def test_all_items_are_there_as_one_reads(ada: Person, notes: list[str]) -> None:
    ada.desktop.arrange({notes[0]: Frame(0, 900, 240, 160)})
    ada.desktop.group([notes[1], notes[2]])
    assert ada.place.run("desktop.outline")
    model = ada.view.outline.model
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    assert titles(model) == ["Group of 2", "note 0"]
    assert titles(model, model.index(0, 0)) == ["note 1", "note 2"]
    assert model.index(1, Column.Y).data() == "900"
    assert ada.view.outline.tree.hasFocus()
    assert ada.place.run("desktop.outline")
    assert not ada.view.outline.isVisible()
    assert ada.canvas.hasFocus()


def test_names_and_numbers_are_edited_with_keys(ada: Person, notes: list[str]) -> None:
    ada.place.run("desktop.outline")
    model = ada.view.outline.model
    edit(ada, model.index_of(notes[0]), "Shopping")
    assert ada.item(notes[0]).title == "Shopping"
    edit(ada, model.index_of(notes[1], Column.X), "512")
    edit(ada, model.index_of(notes[1], Column.HEIGHT), "333")
    assert ada.item(notes[1]).frame == Frame(512, 60, 240, 333)
    edit(ada, model.index_of(notes[1], Column.X), "far away")
    assert "not a number" in ada.place.window.notice.text
    assert ada.item(notes[1]).frame.x == 512
    ada.place.run("edit.undo")
    assert ada.item(notes[1]).frame.height == 160


def test_a_group_moves_as_a_whole(ada: Person, notes: list[str]) -> None:
    ada.desktop.group(notes[:2])
    ada.place.run("desktop.outline")
    model = ada.view.outline.model
    assert model.setData(model.index(0, Column.X), "140")
    assert [ada.item(i).frame.x for i in notes] == [140, 440, 640]
    assert not model.flags(model.index(0, Column.WIDTH)) & Qt.ItemFlag.ItemIsEditable


def test_choosing_and_deleting_with_keys(ada: Person, notes: list[str]) -> None:
    ada.put("far", 9000, 9000)
    ada.place.run("desktop.outline")
    tree = ada.view.outline.tree
    QTest.keyClick(tree, Qt.Key.Key_Down)
    assert ada.stage.selection == {notes[1]}
    QTest.keyClick(tree, Qt.Key.Key_End)
    assert ada.stage.seen.meets(ada.stage.chosen[0].frame)
    ada.stage.select([notes[2]])
    assert [i.data() for i in tree.selectionModel().selectedRows()] == ["note 2"]
    QTest.keyClick(tree, Qt.Key.Key_Delete)
    assert notes[2] not in ada.desktop.items
    QTest.keyClick(tree, Qt.Key.Key_Home)
    QTest.keyClick(tree, Qt.Key.Key_Return)
    QTest.keyClick(tree, Qt.Key.Key_Escape)
    assert ada.canvas.hasFocus() or ada.stage.inside is not None


def test_edits_of_others_do_not_disturb_an_edit(
    ada: Person, notes: list[str], join: Callable[[str], Person]
) -> None:
    jun = join("Jun")
    ada.place.window.activateWindow()
    ada.place.run("desktop.outline")
    tree, model = ada.view.outline.tree, ada.view.outline.model
    tree.setCurrentIndex(model.index_of(notes[1]))
    QTest.keyClick(tree, Qt.Key.Key_F2)
    field = tree.findChild(QLineEdit)
    assert field is not None
    field.setText("half a na")
    jun.desktop.arrange({notes[0]: Frame(0, 5000, 240, 160)})
    jun.put("new", 0, 0)
    jun.desktop.delete([notes[2]])
    ada.hub.run()
    ada.view.outline.refresh()
    assert field.text() == "half a na"
    assert tree.currentIndex() == model.index_of(notes[1])
    assert titles(model) == ["new", "note 1", "note 0"]
    QTest.keyClicks(field, "me")
    QTest.keyClick(field, Qt.Key.Key_Return)
    QApplication.processEvents()
    assert ada.item(notes[1]).title == "half a name"


def test_who_may_only_look_reads_the_outline(ada: Person, notes: list[str]) -> None:
    ada.desktop.document.editable = False
    ada.place.run("desktop.outline")
    model = ada.view.outline.model
    assert titles(model) == ["note 0", "note 1", "note 2"]
    assert not model.flags(model.index(0, 0)) & Qt.ItemFlag.ItemIsEditable
    assert not model.setData(model.index(0, Column.X), "5")
    assert "not edited" in ada.place.window.notice.text


def test_every_control_has_a_name(ada: Person, notes: list[str]) -> None:
    ada.place.run("desktop.outline")
    ada.stage.select(notes)
    ada.view.show_newest()
    for button in ada.view.findChildren(QAbstractButton):
        if button.isVisible():
            assert button.accessibleName() or button.text(), button
    assert ada.canvas.accessibleName()
    assert ada.canvas.accessibleDescription() == "3 selected: note 0, note 1, note 2"
    ada.stage.select([notes[0]])
    assert ada.canvas.accessibleDescription() == "Selected: note 0"
    assert ada.view.outline.tree.accessibleName()
