"""Owns who is here and where their carets are: short-lived facts that are never stored.

Every member states its own entry, the newest wins because messages of one sender arrive in order,
and an entry goes with its member when the view does. So no clock and no time-out is needed, and
nobody can speak for somebody else: entries are kept under the sender that the engine reports.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from liveobj.channels.messages import PRESENCE_BYTES_MAX, BadMessage
from liveobj.observers import Observers, Subscription

NAME_CHARACTERS_MAX = 100
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True, slots=True)
class Caret:
    """Where somebody's caret is: the end that moves (`head`) and, where text is selected, the end
    that stays (`anchor`); both as made by `Text.cursor_at`."""

    container: str
    head: bytes
    anchor: bytes


@dataclass(frozen=True, slots=True)
class PresenceEntry:
    """One member as the others see it."""

    name: str
    colour: str
    caret: Caret | None = None

    def fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"name": self.name, "colour": self.colour}
        if self.caret is not None:
            fields["caret"] = [self.caret.container, self.caret.head, self.caret.anchor]
        return fields

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> PresenceEntry:
        """From the wire; raises BadMessage. Fields that are not known are skipped, so that later
        versions can say more."""
        name, colour = fields.get("name"), fields.get("colour")
        if not isinstance(name, str) or len(name) > NAME_CHARACTERS_MAX:
            raise BadMessage("a presence without a sensible name")
        if not isinstance(colour, str) or not _COLOUR.fullmatch(colour):
            raise BadMessage("a presence without a sensible colour")
        match fields.get("caret"):
            case None:
                return cls(name, colour)
            case [str(container), bytes(head), bytes(anchor)]:
                if len(container) + len(head) + len(anchor) > PRESENCE_BYTES_MAX:
                    raise BadMessage("a caret out of bounds")
                return cls(name, colour, Caret(container, head, anchor))
        raise BadMessage("a presence with a strange caret")


class Presence:
    """Those present in one object. `mine` is told to the others by the channel, coalesced: however
    often it changes, the newest is sent when the network is ready."""

    def __init__(self, mine: PresenceEntry, on_mine_changed: Callable[[], None]) -> None:
        self._mine = mine
        self._on_mine_changed = on_mine_changed
        self._others: dict[int, PresenceEntry] = {}
        self._observers: Observers[Presence] = Observers()

    @property
    def mine(self) -> PresenceEntry:
        return self._mine

    @property
    def others(self) -> Mapping[int, PresenceEntry]:
        """By node; a member that has not spoken yet is missing."""
        return dict(self._others)

    def set_person(self, name: str, colour: str) -> None:
        self._set(replace(self._mine, name=name[:NAME_CHARACTERS_MAX], colour=colour))

    def set_caret(self, caret: Caret | None) -> None:
        self._set(replace(self._mine, caret=caret))

    def _set(self, entry: PresenceEntry) -> None:
        if entry != self._mine:
            self._mine = entry
            self._on_mine_changed()

    def observe(self, callback: Callable[[Presence], None]) -> Subscription:
        """Calls back after somebody else came, went, moved or changed."""
        return self._observers.observe(callback)

    # For the channel

    def accept(self, sender: int, fields: Mapping[str, Any]) -> None:
        entry = PresenceEntry.read(fields)
        if self._others.get(sender) != entry:
            self._others[sender] = entry
            self._observers.notify(self)

    def keep_only(self, nodes: Collection[int]) -> None:
        gone = [node for node in self._others if node not in nodes]
        for node in gone:
            del self._others[node]
        if gone:
            self._observers.notify(self)
