"""Owns what the proxies of objects with a shared text have in common: their text endpoint."""

from __future__ import annotations

from liveobj.documents import Text, TextChange
from liveobj.objects.document_object import DocumentProxy
from liveobj.objects.standard_types import TextEndpoint
from liveobj.observers import Subscription


class TextProxy(DocumentProxy):
    """Base of objects with a text. A subclass says in `words` which text it is."""

    text: TextEndpoint

    _heard = False

    @property
    def words(self) -> Text:
        raise NotImplementedError

    def watch(self) -> list[Subscription]:
        return [self.words.observe(self._tell)]

    def on_text_connected(self) -> None:
        self._heard = True
        self.text.changed(self.words.to_string())

    def on_text_disconnected(self) -> None:
        self._heard = False

    def on_text_insert(self, position: int, text: str) -> None:
        self.edit(lambda: self.words.insert(position, text))

    def on_text_delete(self, position: int, length: int) -> None:
        self.edit(lambda: self.words.delete(position, length))

    def _tell(self, _change: TextChange) -> None:
        if self._heard:  # the whole text is put together only for somebody
            self.text.changed(self.words.to_string())
