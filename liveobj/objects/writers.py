"""Owns who wrote: the name behind every opening of a document that has edited it.

A replicated document knows its writers by numbers that are new at every opening. The first edit of
an opening puts its number and the person's name into a map, once; that is all the history needs.
"""

from __future__ import annotations

from liveobj.channels.presence import NAME_CHARACTERS_MAX
from liveobj.documents import Document

_WRITERS = "writers"


class Writers:
    """The writers of one document; signs for `name` when it is first edited here."""

    def __init__(self, document: Document, name: str) -> None:
        self._document = document
        self._map = document.map(_WRITERS)
        self._name = name[:NAME_CHARACTERS_MAX]
        document.before_first_edit = self._sign

    def on_new_identity(self) -> None:
        """The document writes under another identity, which is nobody's name yet."""
        self._document.before_first_edit = self._sign

    def name_of(self, peer: int) -> str:
        """Empty for one that has not signed."""
        found = self._map.get(_key(peer))
        return found[:NAME_CHARACTERS_MAX] if isinstance(found, str) else ""

    def keep_over(self) -> dict[str, str]:
        """All signatures, for `sign_again` after an older state was brought back."""
        values = self._map.to_dict().items()
        return {key: value for key, value in values if isinstance(value, str)}

    def sign_again(self, signatures: dict[str, str]) -> None:
        with self._document.transaction():
            for key, name in signatures.items():
                self._map.set(key, name)

    def _sign(self) -> None:
        with self._document.transaction("sign", undoable=False):
            self._map.set(_key(self._document.peer_id), self._name)


def _key(peer: int) -> str:
    return f"{peer:x}"
