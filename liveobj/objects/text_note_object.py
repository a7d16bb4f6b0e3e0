"""Owns the text note as a live object: its template, and the proxy that joins it to its
endpoint."""

from __future__ import annotations

from liveobj.declare import live_object
from liveobj.documents import TextChange
from liveobj.objects.document_object import DocumentProxy
from liveobj.objects.standard_types import TextEndpoint, TextType
from liveobj.objects.text_note import TEMPLATE_ID, TextNote, open_note
from liveobj.observers import Subscription


@live_object(TEMPLATE_ID, title="Text note", is_a=(TextType,))
class TextNoteObject(DocumentProxy):
    """A shared plain text that several people write at the same time."""

    text: TextEndpoint

    _template_id = TEMPLATE_ID
    _heard = False

    def open_shared(self) -> TextNote:
        return open_note(self.context.reference, self.context.host)

    @property
    def note(self) -> TextNote:
        """What the window of a note shows."""
        note: TextNote = self.shared
        return note

    def watch(self) -> list[Subscription]:
        return [self.note.text.observe(self._tell)]

    def on_text_connected(self) -> None:
        self._heard = True
        self.text.changed(self.note.text.to_string())

    def on_text_disconnected(self) -> None:
        self._heard = False

    def on_text_insert(self, position: int, text: str) -> None:
        self.edit(lambda: self.note.text.insert(position, text))

    def on_text_delete(self, position: int, length: int) -> None:
        self.edit(lambda: self.note.text.delete(position, length))

    def _tell(self, _change: TextChange) -> None:
        if self._heard:  # the whole text is put together only for somebody
            self.text.changed(self.note.text.to_string())
