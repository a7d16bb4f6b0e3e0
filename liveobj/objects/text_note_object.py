"""Owns the text note as a live object: its template, and the proxy that joins it to its
endpoint."""

from __future__ import annotations

from liveobj.declare import live_object
from liveobj.documents import Text
from liveobj.objects.standard_types import TextEndpoint, TextType
from liveobj.objects.text_note import TEMPLATE_ID, TextNote, open_note
from liveobj.objects.text_object import TextProxy


@live_object(TEMPLATE_ID, title="Text note", is_a=(TextType,))
class TextNoteObject(TextProxy):
    """A shared plain text that several people write at the same time."""

    text: TextEndpoint

    _template_id = TEMPLATE_ID

    def open_shared(self) -> TextNote:
        return open_note(self.context.reference, self.context.host)

    @property
    def note(self) -> TextNote:
        """What the window of a note shows."""
        note: TextNote = self.shared
        return note

    @property
    def words(self) -> Text:
        return self.note.text
