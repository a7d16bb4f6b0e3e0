"""Owns the chat: messages that several people write one below the other, and what each may do to
their own.

Messages are values of a map by identities that never change; the order is that of their stamps. A
stamp is the writer's clock, but never before what the writer had read: an answer stands below its
question even where clocks are wrong, and what was written apart is sorted by time when it meets.

All who may write share one key, so `author` says whose a message is among people who trust each
other; it proves nothing against somebody who means to deceive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from liveobj.declare import endpoint_type, incoming, live_object, outgoing
from liveobj.documents import DocumentError, Map, MapChange
from liveobj.documents.observing import Plain
from liveobj.host import Host
from liveobj.objects.document_object import DocumentProxy
from liveobj.objects.shared_document import SharedDocument, describe_shared, new_shared
from liveobj.observers import Subscription
from liveobj.references import Parameterized, Reference
from liveobj.storage import StorageError
from transport.sentences import worded

TEMPLATE_ID = "live-objects:chat"
MESSAGES = "messages"
TEXT_CHARACTERS_MAX = 8000
NAME_CHARACTERS_MAX = 100
# What lies further ahead than this was written by a clock that is wrong.
_AHEAD_MS_MAX = 3_600_000
# The end of the year 9999, after which there are no dates.
STAMP_MAX = 253_402_300_799_000
_AUTHOR = "chat author"


@dataclass(frozen=True, slots=True)
class Message:
    """One message as it can be shown. `author` stays the same over restarts, `name` and `colour`
    are as they were when it was written; `stamp` is in milliseconds since 1970; `reply_to` is the
    identity of another message, or empty."""

    identity: str
    author: str
    name: str
    colour: str
    stamp: int
    text: str
    reply_to: str = ""
    edited: bool = False
    deleted: bool = False

    @property
    def place(self) -> tuple[int, str]:
        """By which messages are sorted."""
        return self.stamp, self.identity


def new_chat(title: str, random_bytes: Callable[[int], bytes]) -> Parameterized:
    """The can-edit reference of a chat that did not exist before."""
    return new_shared(TEMPLATE_ID, title, random_bytes)


def read_message(identity: str, value: Plain) -> Message | None:
    """A message as somebody wrote it into the document; None for what is not one."""
    if not isinstance(value, dict):
        return None
    text, author, stamp = value.get("text"), value.get("author"), value.get("at")
    deleted = value.get("state") == "deleted"
    if not isinstance(author, str) or not (isinstance(text, str) or deleted):
        return None
    if isinstance(stamp, bool) or not isinstance(stamp, int):
        stamp = 0
    name, colour, reply_to = (value.get(field) for field in ("name", "colour", "to"))
    return Message(
        identity=identity,
        author=author[:NAME_CHARACTERS_MAX],
        name=" ".join(name.split())[:NAME_CHARACTERS_MAX] if isinstance(name, str) else "",
        colour=colour if isinstance(colour, str) else "",
        stamp=min(max(stamp, 0), STAMP_MAX),
        text="" if deleted or not isinstance(text, str) else text[:TEXT_CHARACTERS_MAX],
        reply_to=reply_to if isinstance(reply_to, str) else "",
        edited=value.get("state") == "edited",
        deleted=deleted,
    )


class Chat(SharedDocument):
    """A chat that is open here. Attributes: `messages`, the map that holds them."""

    messages: Map

    def prepare(self) -> None:
        self.messages = self.document.map(MESSAGES)
        self._newest_stamp = 0
        self._me = ""
        self.messages.observe(self._keep_stamp)

    def _now_ms(self) -> int:
        return 0 if self._host.wall_time is None else int(self._host.wall_time() * 1000)

    def _keep_stamp(self, change: MapChange) -> None:
        now = self._now_ms()
        for identity, value in change.updated.items():
            message = read_message(identity, value)
            if message is not None and not (now and message.stamp > now + _AHEAD_MS_MAX):
                self._newest_stamp = max(self._newest_stamp, message.stamp)

    @property
    def me(self) -> str:
        """The author of this person's messages, drawn once and kept on this machine."""
        if not self._me:
            stored = self.local(_AUTHOR)
            self._me = (stored or self._host.random_bytes(16)).hex()[:32]
            if stored is None:
                with suppress(StorageError):  # they are this person's until the program ends
                    self.set_local(_AUTHOR, bytes.fromhex(self._me))
        return self._me

    def all(self) -> Iterator[Message]:
        """Every message that can be read, in no order."""
        for identity, value in self.messages.to_dict().items():
            message = read_message(identity, value)
            if message is not None:
                yield message

    def get(self, identity: str) -> Message | None:
        return read_message(identity, self.messages.get(identity))

    # Intents; each raises DocumentError, and changes nothing, when it is refused

    def say(self, text: str, reply_to: str = "") -> str:
        """Writes a message; returns its identity. What was said is not taken back by undo: it can
        be deleted, and is then seen to have been."""
        text = _checked(text)
        identity = self._host.random_bytes(8).hex()
        mine = self.presence.mine
        value: dict[str, Plain] = {
            "author": self.me,
            "name": mine.name,
            "colour": mine.colour,
            "at": max(self._now_ms(), self._newest_stamp + 1),
            "text": text,
        }
        if reply_to:
            value["to"] = reply_to
        with self.document.transaction("say", undoable=False):
            self.messages.set(identity, value)
        return identity

    def edit(self, identity: str, text: str) -> None:
        """Writes one's own message anew; it is shown as edited."""
        text = _checked(text)
        value = self._mine(identity)
        if value.get("text") != text:
            self._replace("edit", identity, {**value, "text": text, "state": "edited"})

    def delete(self, identity: str) -> None:
        """Takes the words of one's own message away; that there was one stays to be seen."""
        value = self._mine(identity)
        kept = {name: value[name] for name in value if name not in ("text", "to")}
        self._replace("delete", identity, {**kept, "state": "deleted"})

    def may_change(self, message: Message) -> bool:
        return self.document.editable and message.author == self.me and not message.deleted

    def _replace(self, label: str, identity: str, value: dict[str, Plain]) -> None:
        self.document.undo_boundary()
        with self.document.transaction(label):
            self.messages.set(identity, value)

    def _mine(self, identity: str) -> dict[str, Plain]:
        value = self.messages.get(identity)
        message = read_message(identity, value)
        if message is None or message.deleted or not isinstance(value, dict):
            raise DocumentError(worded("That message is not there any more."))
        if message.author != self.me:
            raise DocumentError(worded("Only the one who wrote a message can change it."))
        return value


def _checked(text: str) -> str:
    text = text.strip()
    if not text:
        raise DocumentError(worded("There is nothing to say yet."))
    if len(text) > TEXT_CHARACTERS_MAX:
        raise DocumentError(
            worded("A message has at most {most} characters.", most=TEXT_CHARACTERS_MAX)
        )
    return text


def open_chat(reference: Reference, host: Host) -> Chat:
    """Raises ReferenceProblem for a reference that is not a chat's, StorageError if the disk
    refuses."""
    return Chat(reference, host, describe_shared(reference, TEMPLATE_ID, "chat"))


@endpoint_type("live-objects:chat-endpoint", provides="state channel; edited by its editors")
class ChatEndpoint:
    """For objects that take part in a chat."""

    @incoming
    def say(self, text: str) -> None:
        """Writes a message as the person at this machine."""

    @outgoing
    def said(self, name: str, text: str) -> None:
        """Somebody has written or changed a message."""


@live_object(TEMPLATE_ID, title="Chat")
class ChatObject(DocumentProxy):
    """Messages that several people write one below the other."""

    chat: ChatEndpoint

    _template_id = TEMPLATE_ID
    _kind = "chat"

    def open_shared(self) -> Chat:
        return open_chat(self.context.reference, self.context.host)

    def watch(self) -> list[Subscription]:
        messages: Map = self.shared.messages
        return [messages.observe(self._tell)]

    def _tell(self, change: MapChange) -> None:
        for identity, value in change.updated.items():
            message = read_message(identity, value)
            if message is not None and not message.deleted:
                self.chat.said(message.name, message.text)

    def on_chat_say(self, text: str) -> None:
        self.edit(lambda: self.shared.say(text))
