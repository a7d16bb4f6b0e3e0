"""Owns what is said about the members and keys of a private scope: who is in it, and its next key.

A *statement* is a member's own word, signed by their identity: I am in this scope, by this name. A
*renewal* is one member's word, sealed under the present key and signed: here is the next key, in a
box for each member that only their identity opens. Whoever was left out finds no box. Both are
bytes; nothing here sends or keeps them. What comes in is a member's word, and is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgpack
from nacl.exceptions import CryptoError
from nacl.public import SealedBox
from nacl.secret import SecretBox
from nacl.signing import VerifyKey

from transport.errors import BadArgument, PeerViolation
from transport.identities import (
    PUBLIC_BYTES,
    SIGNATURE_BYTES,
    Identity,
    fingerprint,
    verify,
)
from transport.scopes import GENERATION_MAX, SCOPE_KEY_BYTES, Scope

# So many boxes fit a message.
MEMBERS_MAX = 400
NAME_CHARACTERS_MAX = 64
RENEWAL_BYTES_MAX = 56_000

_STATED, _RENEWED = "scope member 1", "scope renewal 1"


@dataclass(frozen=True, slots=True)
class ScopeMember:
    """Somebody who has said to be in a scope, when its key was of that generation."""

    public: bytes
    name: str
    generation: int
    signature: bytes

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.public)

    def pack(self) -> list[Any]:
        return [self.public, self.name, self.generation, self.signature]


def state(scope: Scope, identity: Identity, name: str) -> ScopeMember:
    """This user's own statement."""
    said = "".join(each for each in name if each.isprintable())[:NAME_CHARACTERS_MAX] or "?"
    signature = identity.sign(_STATED, _stated(scope, said, scope.generation))
    return ScopeMember(identity.public, said, scope.generation, signature)


def read_statement(scope: Scope, packed: Any) -> ScopeMember:
    """Somebody's statement about this scope; PeerViolation for anything else."""
    match packed:
        case [bytes(public), str(name), int(generation), bytes(signature)] if (
            len(public) == PUBLIC_BYTES
            and 0 < len(name) <= NAME_CHARACTERS_MAX
            and name.isprintable()
            and 0 <= generation <= GENERATION_MAX
            and verify(public, _STATED, _stated(scope, name, generation), signature)
        ):
            return ScopeMember(public, name, generation, signature)
    raise PeerViolation("Somebody's statement about a scope is not theirs.", scope=scope.name)


def _stated(scope: Scope, name: str, generation: int) -> bytes:
    return scope.scope_id + generation.to_bytes(4, "big") + name.encode()


@dataclass(frozen=True, slots=True)
class Renewal:
    """A renewal as it was understood here; `scope` is None for one who was left out. `members` are
    the public keys of those for whom there is a box."""

    author: bytes
    members: frozenset[bytes]
    scope: Scope | None


def make_renewal(
    scope: Scope,
    identity: Identity,
    members: Iterable[ScopeMember],
    random_bytes: Callable[[int], bytes],
) -> tuple[Scope, bytes]:
    """The scope with a new key, and the renewal that gives it to these members and to oneself."""
    renewed = scope.renewed(random_bytes(SCOPE_KEY_BYTES))
    publics = sorted({identity.public, *(member.public for member in members)})
    if len(publics) > MEMBERS_MAX:
        raise BadArgument(f"A private network has at most {MEMBERS_MAX} members.")
    boxes = [[public, _boxed(public, renewed.key)] for public in publics]
    body = msgpack.packb([renewed.generation, identity.public, boxes])
    signature = identity.sign(_RENEWED, scope.scope_id + body)
    sealed = SecretBox(_renewal_key(scope)).encrypt(signature + body)
    return renewed, bytes(sealed)


def open_renewal(scope: Scope, identity: Identity, data: bytes) -> Renewal:
    """What a renewal says, for the holder of the key before it; PeerViolation for what is not one
    of the next key of this scope."""
    try:
        plain = SecretBox(_renewal_key(scope)).decrypt(data)
        body = plain[SIGNATURE_BYTES:]
        generation, author, boxes = msgpack.unpackb(body, max_array_len=MEMBERS_MAX)
        if generation != scope.generation + 1 or not verify(
            author, _RENEWED, scope.scope_id + body, plain[:SIGNATURE_BYTES]
        ):
            raise _not_one(scope)
        by_member = {bytes(public): bytes(box) for public, box in boxes}
    except (CryptoError, ValueError, TypeError, msgpack.UnpackException) as problem:
        raise _not_one(scope) from problem
    box = by_member.get(identity.public)
    key = None if box is None else identity.unbox(box)
    if box is not None and (key is None or len(key) != SCOPE_KEY_BYTES):
        raise _not_one(scope)
    return Renewal(author, frozenset(by_member), None if key is None else scope.renewed(key))


def _not_one(scope: Scope) -> PeerViolation:
    return PeerViolation("What came is no renewal of the scope's key.", scope=scope.name)


def _boxed(public: bytes, key: bytes) -> bytes:
    try:
        return bytes(SealedBox(VerifyKey(public).to_curve25519_public_key()).encrypt(key))
    except (CryptoError, RuntimeError, ValueError) as problem:
        raise BadArgument("A member's identity is of no use.") from problem


def _renewal_key(scope: Scope) -> bytes:
    return blake2b(
        scope.scope_id, digest_size=SecretBox.KEY_SIZE, key=scope.key, person=b"liveobj renewal"
    ).digest()


def roster_group(scope: Scope) -> tuple[bytes, bytes]:
    """Id and key of the group in which the members of a generation speak of it."""

    def derive(size: int, person: bytes) -> bytes:
        hashed = blake2b(scope.scope_id, digest_size=size, key=scope.key, person=person)
        return hashed.digest()

    return derive(16, b"liveobj rosterid"), derive(32, b"liveobj roster")
