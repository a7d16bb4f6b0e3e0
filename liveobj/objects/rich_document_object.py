"""Owns the rich document as a live object: its template, and the proxy that joins it to its
endpoint."""

from __future__ import annotations

from liveobj.declare import live_object
from liveobj.documents import Text
from liveobj.objects.rich_document import TEMPLATE_ID, RichDocument, open_document
from liveobj.objects.standard_types import TextEndpoint, TextType
from liveobj.objects.text_object import TextProxy


@live_object(TEMPLATE_ID, title="Document", is_a=(TextType,))
class RichDocumentObject(TextProxy):
    """A shared formatted text that several people write at the same time."""

    text: TextEndpoint

    _template_id = TEMPLATE_ID

    def open_shared(self) -> RichDocument:
        return open_document(self.context.reference, self.context.host)

    @property
    def words(self) -> Text:
        words: Text = self.shared.text
        return words
