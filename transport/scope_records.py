"""Owns what a profile remembers of a private scope: who is in it, who was left out, and the latest
renewals of its key, for those who come back.

A file that cannot be read is an empty memory, not an error: members say again who they are, and
others have the renewals as well.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgpack

from transport.errors import PeerViolation, TransportError
from transport.identities import Identity
from transport.scope_renewal import (
    MEMBERS_MAX,
    RENEWAL_BYTES_MAX,
    Renewal,
    ScopeMember,
    open_renewal,
    read_statement,
)
from transport.scopes import Scope
from transport.secrets_file import read_small, write_private

log = logging.getLogger(__name__)

# Who was away while the key was renewed more often than that asks to be invited again.
RENEWALS_MAX = 8
LEFT_OUT_MAX = 400
FILE_BYTES_MAX = 2 << 20


class ScopeRecords:
    """Of one scope, in one file. Attributes: `members` by public key; `renewals`, by the generation
    that they follow."""

    def __init__(self, path: Path, scope: Scope) -> None:
        self._path = path
        self._scope = scope
        self.members: dict[bytes, ScopeMember] = {}
        self.renewals: dict[int, bytes] = {}
        # Public keys of those left out, by the generation from which on.
        self._left_out: dict[bytes, int] = {}
        if path.exists():
            self._load()

    def add_member(self, member: ScopeMember) -> bool:
        """Whether that was news. Who was left out is in it again when they have a later key."""
        if self._left_out.get(member.public, 0) > member.generation:
            return False
        known = self.members.get(member.public)
        if known is not None and (known.generation, known.name) >= (member.generation, member.name):
            return False
        if known is None and len(self.members) >= MEMBERS_MAX:
            return False
        self.members[member.public] = member
        self._left_out.pop(member.public, None)
        return True

    def add_renewal(self, follows: int, data: bytes, renewal: Renewal) -> None:
        """The key that follows that generation has been renewed; who got no box is out."""
        self.renewals[follows] = data
        for old in sorted(self.renewals)[:-RENEWALS_MAX]:
            del self.renewals[old]
        for public in [each for each in self.members if each not in renewal.members]:
            del self.members[public]
            self._left_out[public] = follows + 1
        for public in list(self._left_out)[:-LEFT_OUT_MAX]:
            del self._left_out[public]

    def since(self, generation: int) -> list[bytes]:
        """The renewals that lead on from that generation, as far as they are known here."""
        found = []
        while (data := self.renewals.get(generation)) is not None:
            found.append(data)
            generation += 1
        return found

    def newest(self, scope: Scope, identity: Identity) -> Scope:
        """The scope to which the renewals lead."""
        for data in self.since(scope.generation):
            try:
                renewed = open_renewal(scope, identity, data).scope
            except PeerViolation:
                break
            if renewed is None:
                break
            scope = renewed
        return scope

    # On disk

    def save(self) -> None:
        packed = msgpack.packb(
            [
                self._scope.scope_id,
                [member.pack() for member in self.members.values()],
                list(self._left_out.items()),
                list(self.renewals.items()),
            ]
        )
        try:
            text = base64.b64encode(packed).decode("ascii")
            write_private(self._path, text, replace=True)
        except TransportError as problem:
            log.warning("the members of the network are not remembered: %s", problem)

    def _load(self) -> None:
        try:
            text = read_small(self._path, private=True, bytes_max=FILE_BYTES_MAX)
            packed = msgpack.unpackb(base64.b64decode(text, validate=True), strict_map_key=False)
            self._take(*packed)
        except (TransportError, ValueError, TypeError, msgpack.UnpackException) as problem:
            log.warning("the members of the network are forgotten: %s", problem)
            self.members, self.renewals, self._left_out = {}, {}, {}

    def _take(
        self,
        scope_id: bytes,
        members: Iterable[Any],
        left_out: Iterable[tuple[bytes, int]],
        renewals: Iterable[tuple[int, bytes]],
    ) -> None:
        if scope_id != self._scope.scope_id:
            return  # of a scope that was left
        self._left_out = {bytes(public): int(since) for public, since in left_out}
        self.renewals = {
            int(follows): bytes(data)
            for follows, data in renewals
            if len(data) <= RENEWAL_BYTES_MAX
        }
        for each in members:
            self.add_member(read_statement(self._scope, each))
