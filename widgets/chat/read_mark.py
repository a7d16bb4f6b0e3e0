"""Up to where a chat has been read, kept beside it in this profile."""

from __future__ import annotations

import struct
from contextlib import suppress

from liveobj.objects.chat import Chat, Message
from liveobj.storage import StorageError

_NAME = "chat read"
_STAMP = struct.Struct("!Q")


class ReadMark:
    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    def place(self) -> tuple[int, str] | None:
        """That of the last message that was read; None before any was."""
        stored = self._chat.local(_NAME)
        if stored is None or len(stored) <= _STAMP.size:
            return None
        return _STAMP.unpack_from(stored)[0], stored[_STAMP.size :].decode(errors="replace")

    def keep(self, last: Message | None) -> None:
        """Everything up to that message has been read."""
        if last is None:
            return
        mark = _STAMP.pack(last.stamp) + last.identity.encode()
        # If the disk refuses, the state line tells; the line will be too high next time.
        with suppress(StorageError):
            if self._chat.local(_NAME) != mark:
                self._chat.set_local(_NAME, mark)
