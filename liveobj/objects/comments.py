"""Owns the comments on a shared text: threads whose places are marks, which move with the text.

A thread is a list of messages; that it is settled is a fact in a map, so that settling and
answering at the same time both hold. Everything is read as if anybody might have written it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from liveobj.channels.presence import NAME_CHARACTERS_MAX
from liveobj.documents import Document, DocumentError
from liveobj.documents.observing import Plain
from liveobj.documents.text import Text, utf16_length
from transport.sentences import worded

_COMMENTS = "comments"
_MARK = "comment:"
_NAME = re.compile(r"[0-9a-z]{1,32}")
MESSAGE_CHARACTERS_MAX = 10_000
MESSAGES_MAX = 1000


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody said; `seconds` since 1970, 0 where there is no clock."""

    who: str
    seconds: int
    text: str


@dataclass(frozen=True, slots=True)
class Thread:
    """`start` and `end` are where it is in the text; both -1 when that text is gone."""

    name: str
    messages: tuple[Message, ...]
    settled: bool
    start: int = -1
    end: int = -1

    @property
    def placed(self) -> bool:
        return self.start >= 0


class Comments:
    """The threads on one text. `who` writes here; `now` tells the seconds since 1970."""

    def __init__(
        self,
        document: Document,
        text: Text,
        who: str,
        random_bytes: Callable[[int], bytes],
        now: Callable[[], float] | None,
    ) -> None:
        self._document = document
        self._text = text
        self._map = document.map(_COMMENTS)
        self._who = who[:NAME_CHARACTERS_MAX]
        self._random_bytes = random_bytes
        self._now = now

    def threads(self) -> list[Thread]:
        """In the order of their places in the text; those that have lost theirs come last."""
        names = [name for name in self._map if _NAME.fullmatch(name)]
        places = self._places() if names else {}
        threads = [self._thread(name, places.get(name, (-1, -1))) for name in names]
        shown = (thread for thread in threads if thread.messages)
        return sorted(shown, key=lambda t: (not t.placed, t.start, t.messages[0].seconds, t.name))

    def _thread(self, name: str, place: tuple[int, int]) -> Thread:
        messages = [_read_message(value) for value in self._messages(name)]
        found = tuple(message for message in messages if message is not None)
        return Thread(name, found, self._map.get(name) == "settled", *place)

    def _messages(self, name: str) -> list[Plain]:
        return self._document.list(f"comment.{name}").to_list()[:MESSAGES_MAX]

    def _places(self) -> dict[str, tuple[int, int]]:
        places: dict[str, tuple[int, int]] = {}
        at = 0
        for piece, marks in self._text.pieces():
            end = at + utf16_length(piece)
            for mark, value in marks.items():
                if mark.startswith(_MARK) and value is True:
                    name = mark.removeprefix(_MARK)
                    places[name] = (places.get(name, (at, 0))[0], end)
            at = end
        return places

    def begin(self, start: int, end: int, text: str) -> str:
        """Begins a thread about a stretch of the text; returns its name."""
        if start >= end:
            raise DocumentError(worded("Select what the comment is about first."))
        name = self._random_bytes(6).hex()
        with self._document.transaction("comment"):
            self._text.mark(start, end, _MARK + name, True)
            self._map.set(name, "open")
            self.answer(name, text)
        return name

    def answer(self, name: str, text: str) -> None:
        text = text.strip()
        if not text or len(text) > MESSAGE_CHARACTERS_MAX:
            raise DocumentError(
                worded("A comment has 1 to {most} characters.", most=f"{MESSAGE_CHARACTERS_MAX:,}")
            )
        seconds = 0 if self._now is None else int(self._now())
        with self._document.transaction("comment"):
            self._document.list(f"comment.{name}").append([self._who, seconds, text])

    def settle(self, name: str, settled: bool = True) -> None:
        """Says that a thread needs nothing more, or that it does again."""
        if name in self._map:
            self._map.set(name, "settled" if settled else "open")

    def remove(self, name: str) -> None:
        """Takes a thread away with all that was said in it; undo brings it back."""
        with self._document.transaction("comment"):
            start, end = self._places().get(name, (0, 0))
            if start < end:
                self._text.mark(start, end, _MARK + name, None)
            self._map.remove(name)


def _read_message(value: Plain) -> Message | None:
    match value:
        case [str(who), int(seconds), str(text)] if text.strip():
            return Message(who[:NAME_CHARACTERS_MAX], seconds, text[:MESSAGE_CHARACTERS_MAX])
    return None
