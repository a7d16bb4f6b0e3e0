"""Owns the key of a private scope while an engine runs in it: who is there, the change to the next
key without a pause, and what to do when one was left out.

Members of a generation are in a group of their own (`roster_group`), in which each says who they
are. One of them renews the key; the others take theirs out of the renewal, hear both keys and say
so. When all who are there have said so, or after some seconds, each uses the new key, and some time
later is deaf to the old one. Two renewals at the same time: the one with the smaller hash is kept,
by everybody, unless its maker has been left out by the other.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from hashlib import blake2b
from typing import Any

import msgpack

from transport.errors import BackPressure, Closed, PeerViolation, WrongMoment
from transport.group import Group
from transport.identities import Identity
from transport.interfaces import Delivery, View
from transport.loop import Closable
from transport.node import Node
from transport.scope_records import ScopeRecords
from transport.scope_renewal import (
    RENEWAL_BYTES_MAX,
    Renewal,
    ScopeMember,
    make_renewal,
    open_renewal,
    read_statement,
    roster_group,
    state,
)
from transport.scopes import Scope

log = logging.getLogger(__name__)

# Who has not said by then that they hold the new key has to fetch it.
SWITCH_S_MAX = 5.0
# How long the old key is heard besides the new one.
BOTH_S = 60.0
STATEMENTS_A_MESSAGE = 100
# As many as the engine hears at the same time.
KEYS_MAX = 4


class _Kind(IntEnum):
    """What is said in the group of a generation; the first of each message."""

    STATED = 1
    RENEWED = 2
    HELD = 3


CallAt = Callable[[float, Callable[[], None]], Closable]


@dataclass(slots=True)
class _Roster:
    """The group of one generation, and who in it holds which next key, by the renewal's hash."""

    scope: Scope
    group: Group
    seen: frozenset[int] = frozenset()
    holders: dict[bytes, set[int]] = field(default_factory=dict)


@dataclass(slots=True)
class _Next:
    """A key that is heard, and not yet used."""

    before: _Roster
    scope: Scope
    data: bytes
    renewal: Renewal
    digest: bytes


class ScopeKeeper:
    """`on_scope` is told of the scope with its new key, `on_left_out` once with the fingerprint of
    whoever has renewed it without this user. Attributes: `scope`, the present one; `records`."""

    def __init__(
        self,
        node: Node,
        scope: Scope,
        identity: Identity,
        records: ScopeRecords,
        call_at: CallAt,
        clock: Callable[[], float],
        name: Callable[[], str],
        random_bytes: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self.scope = scope
        self.records = records
        self.on_scope: Callable[[Scope], None] | None = None
        self.on_left_out: Callable[[bytes], None] | None = None
        self._node = node
        self._identity = identity
        self._call_at = call_at
        self._clock = clock
        self._name = name
        self._random_bytes = random_bytes
        self._heard = [scope.key]
        self._next: _Next | None = None
        self._last: _Next | None = None
        self._timers: list[Closable] = []
        self._left_out = False
        self._roster = self._join(scope)

    @property
    def members(self) -> tuple[ScopeMember, ...]:
        """Everybody who is known to be in the scope, this user included, by name."""
        mine = state(self.scope, self._identity, self._name())
        everybody = {**self.records.members, mine.public: mine}
        return tuple(sorted(everybody.values(), key=lambda one: (one.name, one.public)))

    def renew(self, without: Iterable[bytes] = ()) -> Scope:
        """Gives everybody but those (public keys) the scope's next key; WrongMoment while the last
        change goes on."""
        if self._next is not None or self._last is not None:
            raise WrongMoment("The network's key has just been renewed: wait a minute.")
        left_out = set(without) - {self._identity.public}
        stay = [member for member in self.members if member.public not in left_out]
        renewed, data = make_renewal(self.scope, self._identity, stay, self._random_bytes)
        self._say(self._roster, _Kind.RENEWED, data)
        self.take_renewal(data)
        return renewed

    def take_renewal(self, data: bytes) -> bool:
        """A renewal from wherever: whether it leads on from the present key, and to one for this
        user."""
        return self._take(self._roster, data)

    def close(self) -> None:
        """Harmless when done twice."""
        timers, self._timers = self._timers, []
        for timer in timers:
            timer.close()
        for roster in {id(each): each for each in self._rosters()}.values():
            roster.group.leave()

    # The group of a generation

    @property
    def group_ids(self) -> tuple[bytes, ...]:
        """The groups in which members of the scope are, one for each key that is in use."""
        return tuple(roster.group.group_id for roster in self._rosters())

    def _rosters(self) -> list[_Roster]:
        before = [each.before for each in (self._next, self._last) if each is not None]
        return [self._roster, *before]

    def _join(self, scope: Scope) -> _Roster:
        roster = _Roster(scope, self._node.join(*roster_group(scope)))
        roster.group.on_view = lambda view: self._on_view(roster, view)
        roster.group.on_deliveries = lambda batch: self._on_deliveries(roster, batch)
        return roster

    def _on_view(self, roster: _Roster, view: View) -> None:
        nodes = frozenset(member.node for member in view.members)
        came, roster.seen = nodes - roster.seen, nodes
        if came - {roster.group.me}:
            self._introduce(roster, first=view.members[0].node == roster.group.me)
        self._switch_if_held()

    def _introduce(self, roster: _Roster, *, first: bool) -> None:
        """Newcomers hear of everybody; the first of all tells those who are not there."""
        mine = state(roster.scope, self._identity, self._name())
        told = [mine]
        if first:
            told += [each for each in self.records.members.values() if each.public != mine.public]
        for at in range(0, len(told), STATEMENTS_A_MESSAGE):
            part = told[at : at + STATEMENTS_A_MESSAGE]
            self._say(roster, _Kind.STATED, [each.pack() for each in part])
        for change in (self._next, self._last):
            if change is not None and change.before is roster:
                self._say(roster, _Kind.RENEWED, change.data)

    def _say(self, roster: _Roster, kind: _Kind, what: Any) -> None:
        try:
            roster.group.send(msgpack.packb([int(kind), what]))
        except (BackPressure, Closed) as problem:
            log.warning("the members of the network are not told: %s", problem)

    def _on_deliveries(self, roster: _Roster, batch: Iterable[Delivery]) -> None:
        for sender, data in batch:
            try:
                self._hear(roster, sender, msgpack.unpackb(bytes(data)))
            except (PeerViolation, ValueError, TypeError, msgpack.UnpackException) as problem:
                log.warning("a member of the network said what makes no sense: %s", problem)

    def _hear(self, roster: _Roster, sender: int, said: Any) -> None:
        match said:
            case [_Kind.STATED, [*statements]] if len(statements) <= STATEMENTS_A_MESSAGE:
                read = [read_statement(roster.scope, each) for each in statements]
                news = [each for each in read if self.records.add_member(each)]
                if news:
                    self.records.save()
            case [_Kind.RENEWED, bytes(data)] if len(data) <= RENEWAL_BYTES_MAX:
                self._take(roster, data)
            case [_Kind.HELD, bytes(digest)] if (
                len(roster.holders) < 16 or digest in roster.holders
            ):
                roster.holders.setdefault(digest, set()).add(sender)
                self._switch_if_held()

    # From key to key

    def _take(self, roster: _Roster, data: bytes) -> bool:
        renewal = open_renewal(roster.scope, self._identity, data)
        if renewal.scope is None:
            self._on_without_me(roster, renewal)
            return False
        digest = blake2b(data, digest_size=16).digest()
        held = next((one for one in (self._next, self._last) if one and one.before is roster), None)
        if held is None and roster is not self._roster:
            return False
        if held is not None and not _replaces(renewal, digest, held):
            return False
        replaced = self._next
        if replaced is not None:
            self._later(BOTH_S, lambda: self._deafen(replaced.scope.key))
        self._hear_key(renewal.scope.key)
        self.records.add_renewal(roster.scope.generation, data, renewal)
        self.records.save()
        self._next = _Next(roster, renewal.scope, data, renewal, digest)
        self._say(roster, _Kind.HELD, digest)
        chosen = self._next
        self._later(SWITCH_S_MAX, lambda: self._switch(chosen))
        self._switch_if_held()
        return True

    def _on_without_me(self, roster: _Roster, renewal: Renewal) -> None:
        if roster is self._roster and not self._left_out:
            self._left_out = True
            log.warning("the network's key was renewed without this user")
            if self.on_left_out is not None:
                self.on_left_out(renewal.author)

    def _switch_if_held(self) -> None:
        chosen = self._next
        if chosen is not None:
            holders = chosen.before.holders.get(chosen.digest, set())
            if holders and chosen.before.seen <= holders:
                self._switch(chosen)

    def _switch(self, chosen: _Next) -> None:
        if self._next is not chosen or self._node.closed:
            return
        old = self._roster.scope
        self._node.use_scope_key(chosen.scope.key)
        superseded = self._roster if self._roster is not chosen.before else None
        self._next, self._last = None, chosen
        self.scope = chosen.scope
        self._roster = self._join(chosen.scope)
        if superseded is not None:
            superseded.group.leave()
        self._later(BOTH_S, lambda: self._forget(chosen, old))
        log.info("the network's key is of generation %d now", self.scope.generation)
        if self.on_scope is not None:
            self.on_scope(self.scope)

    def _forget(self, chosen: _Next, old: Scope) -> None:
        """Nobody who is here makes packets with the old key any more."""
        self._deafen(old.key)
        if self._last is chosen:
            self._last = None
            chosen.before.group.leave()

    def _hear_key(self, key: bytes) -> None:
        if key not in self._heard:
            if len(self._heard) == KEYS_MAX:
                self._deafen(next(old for old in self._heard if old != self.scope.key))
            self._node.add_scope_key(key)
            self._heard.append(key)

    def _deafen(self, key: bytes) -> None:
        if key in self._heard and key != self.scope.key and not self._node.closed:
            self._heard.remove(key)
            self._node.drop_scope_key(key)

    def _later(self, seconds: float, call: Callable[[], None]) -> None:
        self._timers = self._timers[-8:]
        self._timers.append(self._call_at(self._clock() + seconds, call))


def _replaces(renewal: Renewal, digest: bytes, held: _Next) -> bool:
    """Which of two renewals of the same key is kept: everybody decides alike."""
    if digest == held.digest or renewal.author not in held.renewal.members:
        return False
    return held.renewal.author in renewal.members and digest < held.digest
