"""The strip above the field of a chat: which message one answers or edits."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from liveobj.objects.chat import Message
from widgets.chat.chat_model import words_of
from widgets.icons import show_icon
from widgets.language import tr
from widgets.look import SPACE_PX, label
from widgets.theme import Theme

_WORDS_MAX = 120


class ContextStrip(QWidget):
    """Attributes: `editing` and `reply_to`, of which one is a message at most. Signals: `changed`,
    `left` (its button was pressed)."""

    changed = Signal()
    left = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.editing: Message | None = None
        self.reply_to: Message | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(5 * SPACE_PX, 0, 4 * SPACE_PX, 0)
        self._words = label("", "muted")
        close = QToolButton()
        show_icon(close, theme, "x", "muted")
        close.setAccessibleName(tr("Do not reply or edit"))
        close.clicked.connect(self.left)
        row.addWidget(self._words, 1)
        row.addWidget(close)
        self.hide()

    @property
    def message(self) -> Message | None:
        """The one that the strip is about."""
        return self.editing or self.reply_to

    def edit(self, message: Message) -> None:
        words = tr("Editing: {words}", words=_first_line(message))
        self._show(words, editing=message)

    def reply(self, message: Message) -> None:
        first = _first_line(message)
        words = tr("Replying to {name}: {words}", name=message.name, words=first)
        self._show(words, reply_to=message)

    def clear(self) -> None:
        self._show("")

    def _show(
        self, words: str, *, editing: Message | None = None, reply_to: Message | None = None
    ) -> None:
        self.editing, self.reply_to = editing, reply_to
        self._words.setText(words)
        self.setVisible(self.message is not None)
        self.changed.emit()


def _first_line(message: Message) -> str:
    return words_of(message).partition("\n")[0][:_WORDS_MAX]
