"""Owns who is here, where their carets are and what they look at: short-lived facts that are never
stored.

Every member states its own entry, the newest wins because messages of one sender arrive in order,
and an entry goes with its member when the view does. So no clock and no time-out is needed, and
nobody can speak for somebody else: entries are kept under the sender that the engine reports.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgpack

from liveobj.channels.messages import PRESENCE_BYTES_MAX, BadMessage, PresenceUpdate, decode, encode
from liveobj.documents.observing import Plain
from liveobj.observers import Observers, Subscription

NAME_CHARACTERS_MAX = 100
SPOT_BYTES_MAX = 512
SPOT_DEPTH_MAX = 4
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
    """One member as the others see it. `spot` is what a view wants to say besides: a place, a
    selection, what one looks at. Each kind of view gives it its own form, and must expect any.

    `fingerprint` is that of the identity that has signed for this member, empty where none has: the
    name is what somebody calls themselves, and not verified then."""

    name: str
    colour: str
    caret: Caret | None = None
    spot: Plain = None
    fingerprint: str = ""

    def fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"name": self.name, "colour": self.colour}
        if self.caret is not None:
            fields["caret"] = [self.caret.container, self.caret.head, self.caret.anchor]
        if self.spot is not None:
            fields["spot"] = self.spot
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
        return cls(name, colour, _read_caret(fields.get("caret")), _read_spot(fields.get("spot")))


def _read_caret(field: object) -> Caret | None:
    match field:
        case None:
            return None
        case [str(container), bytes(head), bytes(anchor)]:
            if len(container) + len(head) + len(anchor) > PRESENCE_BYTES_MAX:
                raise BadMessage("a caret out of bounds")
            return Caret(container, head, anchor)
    raise BadMessage("a presence with a strange caret")


def _read_spot(field: Any) -> Plain:
    if not _is_plain(field, SPOT_DEPTH_MAX):
        raise BadMessage("a presence with a strange spot")
    if len(msgpack.packb(field, use_bin_type=True)) > SPOT_BYTES_MAX:
        raise BadMessage("a spot out of bounds")
    spot: Plain = field
    return spot


def _is_plain(value: object, depth: int) -> bool:
    """Whether it is made of simple values, not nested deeper than `depth`."""
    if value is None or isinstance(value, str | int | float | bool | bytes):
        return True
    if depth == 0:
        return False
    if isinstance(value, list):
        return all(_is_plain(item, depth - 1) for item in value)
    if isinstance(value, dict):
        return all(isinstance(k, str) and _is_plain(v, depth - 1) for k, v in value.items())
    return False


class Presence:
    """Those present in one object. `mine` is told to the others by the channel, coalesced: however
    often it changes, the newest is sent when the network is ready."""

    def __init__(self, mine: PresenceEntry, on_mine_changed: Callable[[], None]) -> None:
        self._mine = mine
        self._on_mine_changed = on_mine_changed
        self._others: dict[int, PresenceEntry] = {}
        self._fingerprints: dict[int, str] = {}
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

    def set_spot(self, spot: Plain) -> None:
        """Says what a view shows of this person besides the caret; None takes it back. Raises
        ValueError for what the others would not take: at most `SPOT_BYTES_MAX` bytes packed,
        lists of up to 16, nested up to `SPOT_DEPTH_MAX` deep."""
        if spot is not None:
            try:
                decode(encode(PresenceUpdate({"spot": spot})))
                _read_spot(spot)
            except (BadMessage, OverflowError, TypeError) as problem:
                raise ValueError(f"nobody would take this spot: {problem}") from None
        self._set(replace(self._mine, spot=spot))

    def _set(self, entry: PresenceEntry) -> None:
        if entry != self._mine:
            self._mine = entry
            self._on_mine_changed()

    def observe(self, callback: Callable[[Presence], None]) -> Subscription:
        """Calls back after somebody else came, went, moved or changed."""
        return self._observers.observe(callback)

    # For the channel

    def accept(self, sender: int, fields: Mapping[str, Any]) -> None:
        signed = self._fingerprints.get(sender, "")
        entry = replace(PresenceEntry.read(fields), fingerprint=signed)
        if self._others.get(sender) != entry:
            self._others[sender] = entry
            self._observers.notify(self)

    def set_fingerprint(self, sender: int, fingerprint: str) -> None:
        """Who the sender is, as the channel has verified it; empty: not (any more)."""
        self._fingerprints[sender] = fingerprint
        entry = self._others.get(sender)
        if entry is not None and entry.fingerprint != fingerprint:
            self._others[sender] = replace(entry, fingerprint=fingerprint)
            self._observers.notify(self)

    def keep_only(self, nodes: Collection[int]) -> None:
        self._fingerprints = {n: f for n, f in self._fingerprints.items() if n in nodes}
        gone = [node for node in self._others if node not in nodes]
        for node in gone:
            del self._others[node]
        if gone:
            self._observers.notify(self)
