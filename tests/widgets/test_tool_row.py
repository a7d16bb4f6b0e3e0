"""A row of tools in little room: nothing overlaps, and what is not seen is in the menu."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QToolButton

from widgets.elided_label import ElidedLabel
from widgets.theme import Theme
from widgets.tool_row import ToolRow

NAMES = [f"Tool {number}" for number in range(10)]


@pytest.fixture
def row(theme: Theme, qtbot: Any) -> ToolRow:
    row = ToolRow(theme)
    qtbot.addWidget(row)
    for name in NAMES:
        button = QToolButton()
        button.setFixedSize(30, 28)
        button.setAccessibleName(name)
        row.add_tool(button)
    field = QLineEdit()
    field.setMinimumWidth(80)
    row.add(field, 1)
    row.show()
    return row


def resize(row: ToolRow, width: int) -> None:
    row.resize(width, 40)
    QApplication.processEvents()


def buttons(row: ToolRow) -> list[QToolButton]:
    return [each for each in row.findChildren(QToolButton) if each is not row.more]


def menu_of(row: ToolRow) -> QMenu:
    menu = row.more.menu()
    assert menu is not None
    menu.aboutToShow.emit()
    return menu


def test_all_tools_are_there_while_there_is_room(row: ToolRow) -> None:
    resize(row, 600)
    assert row.behind == []
    assert row.more.isHidden()


@pytest.mark.parametrize("width", [380, 300, 200, 140])
def test_in_little_room_the_last_ones_are_in_the_menu(row: ToolRow, width: int) -> None:
    resize(row, width)
    behind = [tool.accessibleName() for tool in row.behind]
    assert behind
    assert behind == NAMES[-len(behind) :]
    assert [entry.text() for entry in menu_of(row).actions()] == behind
    shown = [each for each in (*buttons(row), row.more) if each.isVisible()]
    places = sorted((each.geometry() for each in shown), key=lambda place: place.left())
    field = row.findChild(QLineEdit).geometry()
    assert field.width() >= 80
    for one, other in zip([*places, field], [*places[1:], field], strict=False):
        assert one is other or not one.intersects(other)
    assert row.rect().contains(row.more.mapTo(row, QPoint(row.more.width() - 1, 0)))
    resize(row, 600)
    assert row.behind == [], "they come back"


def test_the_menu_does_what_the_buttons_do(row: ToolRow) -> None:
    pressed: list[str] = []
    tools = buttons(row)
    tools[7].clicked.connect(lambda: pressed.append("seven"))
    tools[8].setCheckable(True)
    tools[8].setChecked(True)
    tools[9].setEnabled(False)
    inner = QMenu(row)
    inner.addAction("Yellow")
    tools[6].setMenu(inner)
    resize(row, 160)
    entries = {entry.text(): entry for entry in menu_of(row).actions()}
    entries["Tool 7"].trigger()
    assert pressed == ["seven"]
    assert entries["Tool 8"].isChecked()
    entries["Tool 8"].trigger()
    assert not tools[8].isChecked()
    assert not entries["Tool 9"].isEnabled()
    assert entries["Tool 6"].menu() is inner


def test_words_are_shortened_and_told_whole(theme: Theme, qtbot: Any) -> None:
    words = ElidedLabel("Office network: multicast ok", "small")
    qtbot.addWidget(words)
    words.explain("All is well.")
    words.resize(words.sizeHint())
    words.show()
    assert words.toolTip() == "All is well."
    words.resize(60, words.height())
    assert words.text() == words.accessibleName() == "Office network: multicast ok"
    assert words.toolTip() == "Office network: multicast ok\nAll is well."
    assert words.minimumSizeHint().width() < words.sizeHint().width()
