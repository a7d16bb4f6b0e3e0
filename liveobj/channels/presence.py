"""Owns who is here, where their carets are and what they look at: short-lived facts that are never
stored.

Every member states its own entry, the newest wins because messages of one sender arrive in order,
and an entry goes with its member when the view does; who went without a good-bye is shown as lost
for a moment. Nobody can speak for somebody else: entries are kept under the sender that the engine
reports.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any

import msgpack

from liveobj.channels.messages import PRESENCE_BYTES_MAX, BadMessage, PresenceUpdate, decode, encode
from liveobj.documents.observing import Plain
from liveobj.host import Scheduler, TimerHandle
from liveobj.observers import Observers, Subscription

NAME_CHARACTERS_MAX = 100
SPOT_BYTES_MAX = 512
SPOT_DEPTH_MAX = 4
# How long somebody who has dropped out is still counted upon.
GRACE_S = 8.0
# In place of everything else: this person does not want to be seen, or says good-bye.
_HIDDEN = "hidden"
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True, slots=True)
class Caret:
    """Where somebody's caret is: the end that moves (`head`) and, where text is selected, the end
    that stays (`anchor`); both as made by `Text.cursor_at`."""

    container: str
    head: bytes
    anchor: bytes


class Attention(StrEnum):
    """How much of somebody's attention an object has."""

    LOOKING = "looking"  # it is in front of them
    BEHIND = "behind"  # it is open, but something else is in front
    IDLE = "idle"  # it is in front, but they have done nothing for a while
    AWAY = "away"  # their window is hidden


@dataclass(frozen=True, slots=True)
class PresenceEntry:
    """One member as the others see it. `spot` is what a view wants to say besides: a place, a
    selection, what one looks at. Each kind of view gives it its own form, and must expect any.

    `fingerprint` is that of the identity that has signed for this member, empty where none has: the
    name is what somebody calls themselves, and not verified then. `streams` is where the member can
    be asked for large contents: an address of the network and a port."""

    name: str
    colour: str
    caret: Caret | None = None
    spot: Plain = None
    fingerprint: str = ""
    attention: Attention = Attention.LOOKING
    streams: tuple[str, int] | None = None

    def fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"name": self.name, "colour": self.colour}
        if self.caret is not None:
            fields["caret"] = [self.caret.container, self.caret.head, self.caret.anchor]
        if self.spot is not None:
            fields["spot"] = self.spot
        if self.attention is not Attention.LOOKING:
            fields["attention"] = self.attention.value
        if self.streams is not None:
            fields["streams"] = list(self.streams)
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
        return cls(
            name,
            colour,
            _read_caret(fields.get("caret")),
            _read_spot(fields.get("spot")),
            attention=_read_attention(fields.get("attention")),
            streams=_read_streams(fields.get("streams")),
        )


def _read_caret(field: object) -> Caret | None:
    match field:
        case None:
            return None
        case [str(container), bytes(head), bytes(anchor)]:
            if len(container) + len(head) + len(anchor) > PRESENCE_BYTES_MAX:
                raise BadMessage("a caret out of bounds")
            return Caret(container, head, anchor)
    raise BadMessage("a presence with a strange caret")


def _read_streams(field: object) -> tuple[str, int] | None:
    match field:
        case None:
            return None
        case [str(address), int(port)] if 0 < port < 1 << 16 and len(address) <= 45:
            try:
                return str(ipaddress.ip_address(address)), port
            except ValueError:
                pass
    raise BadMessage("a presence with a strange place for streams")


def _read_spot(field: Any) -> Plain:
    if not _is_plain(field, SPOT_DEPTH_MAX):
        raise BadMessage("a presence with a strange spot")
    if len(msgpack.packb(field, use_bin_type=True)) > SPOT_BYTES_MAX:
        raise BadMessage("a spot out of bounds")
    spot: Plain = field
    return spot


def _read_attention(field: object) -> Attention:
    """A later version may know more shades; whoever is here is then taken to look."""
    return next((known for known in Attention if known.value == field), Attention.LOOKING)


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
    often it changes, the newest is sent when the network is ready.

    Who goes without a word may come back in a moment: they are among `lost` for `GRACE_S`, where
    there is a scheduler.
    """

    def __init__(
        self,
        mine: PresenceEntry,
        on_mine_changed: Callable[[], None],
        scheduler: Scheduler | None = None,
    ) -> None:
        self._mine = mine
        self._hidden = False
        self._on_mine_changed = on_mine_changed
        self._scheduler = scheduler
        self._others: dict[int, PresenceEntry] = {}
        self._places: dict[int, tuple[str, int]] = {}
        self._fingerprints: dict[int, str] = {}
        self._lost: dict[int, tuple[PresenceEntry, TimerHandle]] = {}
        self._observers: Observers[Presence] = Observers()

    @property
    def mine(self) -> PresenceEntry:
        return self._mine

    @property
    def others(self) -> Mapping[int, PresenceEntry]:
        """By node; a member that has not spoken yet, or is hidden, is missing."""
        return dict(self._others)

    @property
    def places(self) -> Mapping[int, tuple[str, int]]:
        """Where members can be asked for large contents, by node; the hidden ones, too."""
        return dict(self._places)

    @property
    def lost(self) -> Mapping[int, PresenceEntry]:
        """Those who were here a moment ago and have not said good-bye."""
        return {node: entry for node, (entry, _) in self._lost.items()}

    @property
    def hidden(self) -> bool:
        """Whether the others are told nothing about this person."""
        return self._hidden

    def set_hidden(self, hidden: bool) -> None:
        """Also the good-bye of one who is about to leave, so that nobody waits for them."""
        if hidden != self._hidden:
            self._hidden = hidden
            self._on_mine_changed()

    def spoken(self) -> dict[str, Any]:
        """What is said about this person to the others."""
        if not self._hidden:
            return self._mine.fields()
        # Whoever is hidden still gives what they have: the place says nothing about the person.
        streams = self._mine.streams
        return {_HIDDEN: True} | ({} if streams is None else {"streams": list(streams)})

    def set_person(self, name: str, colour: str) -> None:
        self._set(replace(self._mine, name=name[:NAME_CHARACTERS_MAX], colour=colour))

    def set_attention(self, attention: Attention) -> None:
        self._set(replace(self._mine, attention=attention))

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

    def set_streams(self, place: tuple[str, int] | None) -> None:
        """Says where this member can be asked for large contents; None: nowhere."""
        self._set(replace(self._mine, streams=place))

    def _set(self, entry: PresenceEntry) -> None:
        if entry != self._mine:
            self._mine = entry
            self._on_mine_changed()

    def observe(self, callback: Callable[[Presence], None]) -> Subscription:
        """Calls back after somebody else came, went, moved or changed."""
        return self._observers.observe(callback)

    # For the channel

    def _set_place(self, sender: int, place: tuple[str, int] | None) -> None:
        if self._places.get(sender) == place:
            return
        if place is None:
            del self._places[sender]
        else:
            self._places[sender] = place
        self._observers.notify(self)

    def accept(self, sender: int, fields: Mapping[str, Any]) -> None:
        place = _read_streams(fields.get("streams"))
        if fields.get(_HIDDEN) is True:
            self._set_place(sender, place)
            self._remove(sender)
            return
        signed = self._fingerprints.get(sender, "")
        entry = replace(PresenceEntry.read(fields), fingerprint=signed)
        self._set_place(sender, place)
        if self._others.get(sender) != entry:
            self._others[sender] = entry
            self._found(sender, entry)
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
        self._places = {n: place for n, place in self._places.items() if n in nodes}
        gone = [node for node in self._others if node not in nodes]
        for node in gone:
            entry = self._others.pop(node)
            if self._scheduler is None:
                continue
            timer = self._scheduler.call_later(GRACE_S, partial(self._give_up, node))
            self._lost[node] = (entry, timer)
        if gone:
            self._observers.notify(self)

    def close(self) -> None:
        """Nobody is waited for any more."""
        for _, timer in self._lost.values():
            timer.cancel()
        self._lost.clear()

    def _remove(self, node: int) -> None:
        if self._others.pop(node, None) is not None:
            self._observers.notify(self)

    def _found(self, node: int, entry: PresenceEntry) -> None:
        """Whoever comes back may do so under another id, but with the same name."""
        for lost, (was, timer) in list(self._lost.items()):
            if lost == node or was.name == entry.name:
                timer.cancel()
                del self._lost[lost]

    def _give_up(self, node: int) -> None:
        del self._lost[node]
        self._observers.notify(self)
