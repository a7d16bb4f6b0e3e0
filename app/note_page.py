"""The page of one open note: its editor, and what the window shows about it around the page."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.session import OpenObject
from liveobj.channels.presence import Presence
from liveobj.objects.text_note import NoteState
from widgets.look import kind
from widgets.note_editor import NoteEditor
from widgets.people import ShownPerson
from widgets.theme import Theme
from widgets.throttle import QtAlarm, Throttle


class NotePage(QWidget):
    """Attributes: `opened`, `editor`. Signals: `changed`: state, people or undo have changed."""

    changed = Signal()

    def __init__(self, theme: Theme, opened: OpenObject, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        kind(self, "page")
        self.opened = opened
        self.editor = NoteEditor(theme, opened.note)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.editor)
        self.setFocusProxy(self.editor)
        # Carets move with every key of everybody; the window around hears of it once per frame.
        self._tell = Throttle(self.changed.emit, QtAlarm(self))
        self.editor.history_changed.connect(self._tell.request)
        self._subscriptions = [
            opened.note.observe(self._on_state),
            opened.note.presence.observe(self._on_people),
        ]

    @property
    def state(self) -> NoteState:
        return self.opened.note.state

    @property
    def people(self) -> list[ShownPerson]:
        """Everybody in the note, oneself first."""
        presence = self.opened.note.presence
        others = sorted(presence.others.items())
        return [
            ShownPerson(presence.mine.name, presence.mine.colour, me=True),
            *(ShownPerson(entry.name, entry.colour) for _, entry in others),
        ]

    def close_page(self) -> None:
        """Lets go of the note; the session closes it."""
        for subscription in self._subscriptions:
            subscription.close()
        self._tell.close()
        self.editor.close_view()

    def _on_state(self, _state: NoteState) -> None:
        self._tell.request()

    def _on_people(self, _presence: Presence) -> None:
        self._tell.request()
