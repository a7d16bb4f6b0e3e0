"""The field in which one writes a message: Enter sends, it grows with the text, names complete."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from liveobj.objects.chat import TEXT_CHARACTERS_MAX
from widgets.language import tr
from widgets.look import kind

_LINES_MAX = 8
_PADDING_PX = 18


class Composer(QPlainTextEdit):
    """Signals: `sent` when Enter was pressed on a text; `cancelled` by Escape; `last_asked` by Up
    in an empty field: one wants to edit one's last message."""

    sent = Signal()
    cancelled = Signal()
    last_asked = Signal()

    def __init__(self, names: Callable[[], Sequence[str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        kind(self, "composer")
        self._names = names
        self.setAccessibleName(tr("Message"))
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.textChanged.connect(self._fit)
        self._fit()

    @property
    def text(self) -> str:
        return self.toPlainText()

    @property
    def left(self) -> int:
        """How many characters still fit."""
        return TEXT_CHARACTERS_MAX - len(self.text.strip())

    def write(self, text: str) -> None:
        """Puts a text in, the caret behind it."""
        self.setPlainText(text)
        self.moveCursor(QTextCursor.MoveOperation.End)

    def _fit(self) -> None:
        lines = min(max(1, int(self.document().size().height())), _LINES_MAX)
        height = lines * self.fontMetrics().lineSpacing() + _PADDING_PX
        if height != self.height() or self.minimumHeight() != height:
            self.setFixedHeight(height)

    def _complete(self) -> bool:
        """Completes `@Ad` to the name of somebody; whether there was something to complete."""
        cursor = self.textCursor()
        before = cursor.block().text()[: cursor.positionInBlock()]
        _, at, begun = before.rpartition("@")
        if not at or cursor.hasSelection():
            return False
        for name in self._names()[1:]:
            if name and name.lower().startswith(begun.lower()):
                for _ in begun:
                    cursor.deletePreviousChar()
                cursor.insertText(name + " ")
                return True
        return False

    # Qt

    def sizeHint(self) -> QSize:
        return QSize(400, self.fontMetrics().lineSpacing() + _PADDING_PX)

    def insertFromMimeData(self, source: QMimeData) -> None:
        if source.hasText():  # nothing but plain text
            self.insertPlainText(source.text())

    def focusNextPrevChild(self, forward: bool) -> bool:
        return (forward and self._complete()) or super().focusNextPrevChild(forward)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        )
        match event.key():
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if plain:
                self.sent.emit()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.insertPlainText("\n")
            case Qt.Key.Key_Escape:
                self.cancelled.emit()
            case Qt.Key.Key_Up if plain and not self.text:
                self.last_asked.emit()
            case _:
                super().keyPressEvent(event)
