"""The toolbox: a dozen kinds in a grid, found by letters and walked with keys."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, Qt
from PySide6.QtGui import QAction, QDrag
from PySide6.QtWidgets import QApplication, QToolButton

from widgets.drag import kind_in
from widgets.theme import Theme
from widgets.toolbox import COLUMNS, Tool, Toolbox

NAMES = ["Note", "Document", "Desktop", "Folder", "Shared files", "Image", "Chat", "Table", "Chart"]


@pytest.fixture
def made() -> list[str]:
    return []


@pytest.fixture
def toolbox(theme: Theme, qtbot: Any, made: list[str]) -> Toolbox:
    tools = []
    for name in NAMES:
        action = QAction(f"New {name.lower()}", theme)
        action.triggered.connect(lambda _=False, n=name: made.append(n))
        tools.append(Tool(name.lower(), "note", name, f"What a {name.lower()} is for", action))
    box = Toolbox(theme, tools)
    qtbot.addWidget(box)
    box.resize(216, 400)
    box.show()
    return box


def tiles(box: Toolbox) -> dict[str, QToolButton]:
    return {b.text(): b for b in box.findChildren(QToolButton) if not b.isHidden()}


def test_letters_find_a_tool_and_return_makes_it(
    toolbox: Toolbox, qtbot: Any, made: list[str]
) -> None:
    assert toolbox.shown_tools() == NAMES
    qtbot.keyClicks(toolbox._field, "sha")
    assert toolbox.shown_tools() == ["Shared files"]
    qtbot.keyClick(toolbox._field, Qt.Key.Key_Return)
    assert made == ["Shared files"]
    qtbot.keyClicks(toolbox._field, "zzz")
    assert toolbox.shown_tools() == []
    assert "No tool" in toolbox._hint.text()
    qtbot.keyClick(toolbox._field, Qt.Key.Key_Escape)
    assert toolbox.shown_tools() == NAMES


def test_arrows_walk_in_the_grid(toolbox: Toolbox, qtbot: Any, made: list[str]) -> None:
    qtbot.keyClick(toolbox._field, Qt.Key.Key_Down)
    steps = (Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Up)
    at = 0
    expected = [1, 1 + COLUMNS, COLUMNS, COLUMNS - 1, COLUMNS - 1]
    for step, place in zip(steps, expected, strict=True):
        qtbot.keyClick(tiles(toolbox)[NAMES[at]], step)
        at = place
    qtbot.keyClick(tiles(toolbox)[NAMES[2]], Qt.Key.Key_Return)
    assert made == [NAMES[2]]


def test_the_tool_under_the_pointer_says_what_it_is_for(toolbox: Toolbox) -> None:
    tile = tiles(toolbox)["Chat"]
    QApplication.sendEvent(tile, QEvent(QEvent.Type.Enter))
    assert toolbox._hint.text() == "What a chat is for"
    QApplication.sendEvent(tile, QEvent(QEvent.Type.Leave))
    assert toolbox._hint.text() == ""
    assert tile.accessibleName() == "New chat"
    assert tile.accessibleDescription() == "What a chat is for"


def test_folded_it_is_a_column_of_everything(toolbox: Toolbox, qtbot: Any) -> None:
    qtbot.keyClicks(toolbox._field, "note")
    toolbox.set_folded(True)
    assert toolbox.shown_tools() == NAMES
    assert not toolbox._field.isVisible()
    qtbot.waitUntil(lambda: len({tile.x() for tile in tiles(toolbox).values()}) == 1)


def test_a_tool_can_be_dragged_out(
    toolbox: Toolbox, qtbot: Any, monkeypatch: pytest.MonkeyPatch, made: list[str]
) -> None:
    dragged: list[str | None] = []

    def take(drag: QDrag, *_: object) -> Qt.DropAction:
        mime: QMimeData = drag.mimeData()
        dragged.append(kind_in(mime))
        return Qt.DropAction.IgnoreAction

    monkeypatch.setattr(QDrag, "exec", take)
    tile = tiles(toolbox)["Folder"]
    qtbot.mousePress(tile, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    move = QPoint(60, 40)
    from PySide6.QtCore import QPointF
    from PySide6.QtGui import QMouseEvent

    event = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(move),
        QPointF(tile.mapToGlobal(move)),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(tile, event)
    assert dragged == ["folder"]
    assert made == []
