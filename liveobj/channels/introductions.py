"""Owns who the members of a group are: each signs, with the key of its user, that its node is in
the present view.

The signature covers the group, the node, the view's number and all its members. Node ids are
random and new at each start, and whoever checks is one of the members; so a signature that was
recorded earlier is good for nobody. A member that has not signed, or wrongly, is not verified, and
goes on as before: holding the reference is what lets one take part.

All members share the group's key, so one of them could speak in another's name. Two valid
signatures of different users for one node therefore verify neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from liveobj.channels.messages import BadMessage, Introduction
from transport.identities import Identity, fingerprint, verify

# A signature may come a little after its view has been replaced.
VIEWS_KEPT = 16

_PURPOSE = "join 1"


class Introductions:
    """`identity` is this user's, None for one without; what the others are is in `verified`."""

    def __init__(self, group_id: bytes, identity: Identity | None) -> None:
        self._group_id = group_id
        self._identity = identity
        self._me = 0
        self._number = 0
        self._views: dict[int, tuple[frozenset[int], bytes]] = {}
        self._publics: dict[int, bytes] = {}
        self._contested: set[int] = set()

    def on_view(self, me: int, number: int, nodes: Sequence[int]) -> None:
        self._me, self._number = me, number
        packed = b"".join(node.to_bytes(8, "big") for node in sorted(nodes))
        self._views[number] = (frozenset(nodes), blake2b(packed, digest_size=32).digest())
        for old in list(self._views)[:-VIEWS_KEPT]:
            del self._views[old]
        self._publics = {n: public for n, public in self._publics.items() if n in nodes}
        self._contested &= set(nodes)

    def mine(self) -> Introduction | None:
        """What to say in the present view."""
        if self._identity is None or not self._views:
            return None
        signature = self._identity.sign(_PURPOSE, self._signed(self._me, self._number))
        return Introduction(self._identity.public, self._number, signature)

    def accept(self, sender: int, introduction: Introduction) -> bool:
        """Whether it changed who is verified; raises BadMessage for what is not signed as it must
        be."""
        members, _ = self._views.get(introduction.view, (frozenset(), b""))
        if sender not in members or self._me not in members:
            return False  # of a view that this member has not seen
        signed = self._signed(sender, introduction.view)
        if not verify(introduction.public, _PURPOSE, signed, introduction.signature):
            raise BadMessage("an introduction that its user has not signed")
        known = self._publics.setdefault(sender, introduction.public)
        if known != introduction.public:
            self._contested.add(sender)
        return True

    def verified(self, node: int) -> str:
        """The fingerprint of whose node it is; empty where that is not known for sure."""
        public = self._publics.get(node)
        return "" if public is None or node in self._contested else fingerprint(public)

    def _signed(self, node: int, number: int) -> bytes:
        _, digest = self._views[number]
        return self._group_id + node.to_bytes(8, "big") + number.to_bytes(8, "big") + digest
