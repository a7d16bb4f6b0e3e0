"""The line above a table: what is in one cell as it was typed, to be read and written there.

While nothing is being written it follows the cell, whoever changes it. What somebody writes in it
stays theirs until they finish or drop it, and goes to the cell they began in, wherever that is by
then.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from widgets.language import tr
from widgets.look import OwnKeys

# The names of row and column, or their numbers where there is nothing yet.
CellName = tuple[str, str] | tuple[int, int]


class CellField(QLineEdit):
    """Signals: `written(cell, text)`; `entered` after Enter, `dropped` after Escape; `typed(bool)`:
    something stands in it that is not in the cell yet."""

    typed = Signal(bool)
    written = Signal(object, str)
    entered = Signal()
    dropped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("What is in the cell"))
        self.setPlaceholderText(tr("Text, number or =SUM(A1:A9)"))
        self._cell: CellName | None = None
        self.editingFinished.connect(self.finish)
        self.textEdited.connect(lambda _: self.typed.emit(True))
        self.returnPressed.connect(self.entered)
        OwnKeys(self, Qt.Key.Key_Escape)

    def show_cell(self, cell: CellName, typed: str) -> None:
        """Takes the current cell and what is in it now."""
        if self.isModified() and cell != self._cell:
            self.finish()
        if self.isModified():
            return
        self._cell = cell
        if self.text() != typed:
            # Of what is too long one sees the beginning, unless one is about to write.
            caret = self.cursorPosition() if self.hasFocus() else 0
            self.setText(typed)
            self.setCursorPosition(caret)

    def finish(self) -> None:
        """Gives away what was written, if anything was."""
        if self.isModified():
            self.setModified(False)
            self.written.emit(self._cell, self.text())
            self.typed.emit(False)

    # Qt

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.setModified(False)
            self.typed.emit(False)
            self.dropped.emit()
        else:
            super().keyPressEvent(event)
