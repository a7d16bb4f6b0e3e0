"""The cells of a table as tests write and read them."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit


def editor_in(view: Any) -> QLineEdit | None:
    """The field of the cell that is written in."""
    return next((each for each in view.grid.findChildren(QLineEdit) if each.isVisible()), None)


def type_in(qtbot: Any, view: Any, row: int, column: int, text: str) -> None:
    """Writes into a cell with the keyboard."""
    view.grid.go(row, column)
    qtbot.keyClick(view.grid.viewport(), text[0])
    editor = editor_in(view)
    qtbot.keyClicks(editor, text[1:])
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    QApplication.processEvents()


def rows(view: Any) -> list[list[str]]:
    return [list(row) for row in view.describe()["rows"]]


def fill(view: Any, cells: list[list[str]]) -> None:
    view.model.write(
        {(r, c): text for r, row in enumerate(cells) for c, text in enumerate(row)}, "fill"
    )
