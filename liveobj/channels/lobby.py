"""Owns the lobby: one group in which everybody of a scope says that they are there, and hands
references from person to person.

Whoever is in the scope can listen. So what is handed over is sealed for the one person that it is
meant for, by the key that they have announced; the engine says who announced it. An offer is data:
whoever receives one decides what becomes of it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgpack
from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, PublicKey, SealedBox

from liveobj.channels.presence import NAME_CHARACTERS_MAX
from liveobj.host import Person, Scheduler, TimerHandle
from liveobj.observers import Observers, Subscription
from liveobj.references import Reference, ReferenceProblem, read_reference, write_reference
from transport.errors import TransportError
from transport.interfaces import (
    GROUP_ID_BYTES,
    GROUP_KEY_BYTES,
    Delivery,
    Group,
    Network,
    View,
)

log = logging.getLogger(__name__)

KEY_BYTES = 32
TITLE_CHARACTERS_MAX = 200
BOX_BYTES_MAX = 40_000
# Those who come together are answered together.
ANNOUNCE_DELAY_S = 0.5
# From one person, within this time, one offer is taken.
OFFER_EVERY_S = 2.0
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Somebody in the scope."""

    node: int
    name: str
    colour: str
    key: bytes


@dataclass(frozen=True, slots=True)
class Offer:
    """A reference that somebody hands over."""

    sender: Neighbour
    title: str
    reference: Reference


class Lobby:
    """One for each program. Attributes: `refused`, how many messages were not understood."""

    def __init__(
        self,
        network: Network,
        scheduler: Scheduler,
        person: Person,
        random_bytes: Callable[[int], bytes],
    ) -> None:
        self._scheduler = scheduler
        self._person = person
        self._hidden = False
        self._secret = PrivateKey(random_bytes(KEY_BYTES))
        self._neighbours: dict[int, Neighbour] = {}
        self._last_offer_s: dict[int, float] = {}
        self._timer: TimerHandle | None = None
        self._observers: Observers[Lobby] = Observers()
        self._offers: Observers[Offer] = Observers()
        self.refused = 0
        self._group: Group = network.join(
            _derived(b"id", GROUP_ID_BYTES), _derived(b"key", GROUP_KEY_BYTES)
        )
        self._group.on_view = self._on_view
        self._group.on_deliveries = self._on_deliveries
        if self._group.view is not None:
            self._on_view(self._group.view)

    @property
    def me(self) -> int:
        """This program's node."""
        return self._group.me

    @property
    def group_id(self) -> bytes:
        return self._group.group_id

    @property
    def neighbours(self) -> Mapping[int, Neighbour]:
        """Everybody else who has said that they are there, by node."""
        return dict(self._neighbours)

    def observe(self, callback: Callable[[Lobby], None]) -> Subscription:
        """Calls back when somebody came, went or changed."""
        return self._observers.observe(callback)

    def on_offer(self, callback: Callable[[Offer], None]) -> Subscription:
        """Calls back when somebody hands something over."""
        return self._offers.observe(callback)

    def set_person(self, person: Person, *, hidden: bool) -> None:
        """Goes by another name, or says no more who is here."""
        if (person, hidden) != (self._person, self._hidden):
            self._person, self._hidden = person, hidden
            self._announce_soon()

    def hand_over(self, node: int, reference: Reference, title: str) -> bool:
        """Gives a reference, with the keys in it, to one person; False if they are not here any
        more, or it is too large."""
        neighbour = self._neighbours.get(node)
        if neighbour is None:
            return False
        content = msgpack.packb([title[:TITLE_CHARACTERS_MAX], write_reference(reference)])
        box = SealedBox(PublicKey(neighbour.key)).encrypt(content)
        return len(box) <= BOX_BYTES_MAX and self._send({"to": node, "box": bytes(box)})

    def close(self) -> None:
        """Leaves. Harmless when done twice."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._group.leave()

    def _announce_soon(self) -> None:
        if self._timer is None:
            self._timer = self._scheduler.call_later(ANNOUNCE_DELAY_S, self._announce)

    def _announce(self) -> None:
        self._timer = None
        key = bytes(self._secret.public_key)
        fields: dict[str, Any] = {
            "name": self._person.name,
            "colour": self._person.colour,
            "key": key,
        }
        self._send({"gone": True} if self._hidden else fields)

    def _send(self, fields: Mapping[str, Any]) -> bool:
        try:
            self._group.send(msgpack.packb(dict(fields), use_bin_type=True))
        except TransportError as problem:
            log.info("the lobby does not take a message: %s", problem)
            return False
        return True

    # What the group reports

    def _on_view(self, view: View) -> None:
        here = {member.node for member in view.members}
        gone = [node for node in self._neighbours if node not in here]
        for node in gone:
            del self._neighbours[node]
            self._last_offer_s.pop(node, None)
        if len(here) > 1:
            self._announce_soon()
        if gone:
            self._observers.notify(self)

    def _on_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        for delivery in deliveries:
            if delivery.sender == self._group.me:
                continue
            try:
                fields = msgpack.unpackb(bytes(delivery.data), raw=False)
                self._take(delivery.sender, fields)
            except (ValueError, TypeError, msgpack.UnpackException, _Strange):
                self.refused += 1

    def _take(self, sender: int, fields: object) -> None:
        match fields:
            case {"gone": True}:
                if self._neighbours.pop(sender, None) is not None:
                    self._observers.notify(self)
            case {"name": str(name), "colour": str(colour), "key": bytes(key)}:
                if len(name) > NAME_CHARACTERS_MAX or not _COLOUR.fullmatch(colour):
                    raise _Strange
                if len(key) != KEY_BYTES:
                    raise _Strange
                neighbour = Neighbour(sender, name, colour, key)
                if self._neighbours.get(sender) != neighbour:
                    self._neighbours[sender] = neighbour
                    self._observers.notify(self)
            case {"to": int(node), "box": bytes(box)}:
                if node == self._group.me:
                    self._take_offer(sender, box)
            case _:
                raise _Strange

    def _take_offer(self, sender: int, box: bytes) -> None:
        neighbour = self._neighbours.get(sender)
        now_s = self._scheduler.time()
        last_s = self._last_offer_s.get(sender, -OFFER_EVERY_S)
        if neighbour is None or len(box) > BOX_BYTES_MAX or now_s - last_s < OFFER_EVERY_S:
            raise _Strange
        self._last_offer_s[sender] = now_s
        try:
            content = msgpack.unpackb(SealedBox(self._secret).decrypt(box), raw=False)
            match content:
                case [str(title), bytes(reference)] if len(title) <= TITLE_CHARACTERS_MAX:
                    offer = Offer(neighbour, title, read_reference(reference))
                case _:
                    raise _Strange
        except (CryptoError, ReferenceProblem) as problem:
            log.info("an offer of %x cannot be read: %s", sender, problem)
            raise _Strange from None
        self._offers.notify(offer)


class _Strange(Exception):
    """A message that makes no sense, and is counted."""


def _derived(purpose: bytes, size: int) -> bytes:
    """The group is the same for everybody in a scope, which keeps others out."""
    return blake2b(purpose, digest_size=size, person=b"live-objects-lby").digest()
