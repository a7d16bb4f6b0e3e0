"""Carets in a shared text between people: one's own is told to the others, theirs are found."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QTextCursor

from liveobj.channels.presence import Caret, Presence
from liveobj.documents.errors import DocumentError
from liveobj.documents.text import Text
from widgets.remote_carets import RemoteCaret

Convert = Callable[[int], int]


class ToldCarets:
    """Of one view of a text; `container` is the name under which carets in it are told."""

    def __init__(self, text: Text, presence: Presence, container: str) -> None:
        self._text = text
        self._presence = presence
        self._container = container
        self._told = False  # whether the others see a caret of this view

    def tell(self, caret: QTextCursor | None, in_text: Convert) -> None:
        """Where one writes; None where one only looks."""
        if caret is None:
            # To look is not to write: on a table one sees many texts and works in one.
            if self._told:
                self._presence.set_caret(None)
            self._told = False
            return
        try:
            head = self._text.cursor_at(in_text(caret.position()), before=True)
            anchor = head
            if caret.hasSelection():
                anchor = self._text.cursor_at(in_text(caret.anchor()), before=True)
        except DocumentError:
            return  # in the middle of a character: the next move mends it
        self._presence.set_caret(Caret(self._container, head, anchor))
        self._told = True

    def others(self, in_view: Convert) -> list[RemoteCaret]:
        """Where the others are in the view."""
        carets = []
        for node, entry in self._presence.others.items():
            if entry.caret is None or entry.caret.container != self._container:
                continue
            try:
                head = in_view(self._text.position_of(entry.caret.head))
                anchor = in_view(self._text.position_of(entry.caret.anchor))
            except DocumentError:
                continue  # speaks of text that has not arrived yet
            carets.append(RemoteCaret(node, entry.name, entry.colour, head, anchor))
        return carets
