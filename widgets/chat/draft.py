"""The message that was begun and not sent, kept beside the chat in this profile."""

from __future__ import annotations

from contextlib import suppress

from liveobj.objects.chat import TEXT_CHARACTERS_MAX, Chat
from liveobj.storage import StorageError

_NAME = "chat draft"


class Draft:
    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    def text(self) -> str:
        """What was begun when the chat was closed; often nothing."""
        stored = self._chat.local(_NAME) or b""
        return stored.decode(errors="replace")[:TEXT_CHARACTERS_MAX]

    def keep(self, text: str) -> None:
        """Writes it down; where the disk refuses, the state line tells."""
        with suppress(StorageError):
            if text != self.text():
                self._chat.set_local(_NAME, text.encode("utf-8", "replace"))
