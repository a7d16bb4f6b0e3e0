"""Owns who an object is: the fingerprint of its description, and the group that follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from liveobj.references.model import Reference
from liveobj.references.writing import canonical_form
from transport.interfaces import GROUP_ID_BYTES

FINGERPRINT_BYTES = 32


@dataclass(frozen=True, slots=True, order=True)
class Fingerprint:
    """The identity of an object: BLAKE2b of the canonical form of its reference without secrets."""

    digest: bytes

    def __str__(self) -> str:
        return self.digest.hex()

    @property
    def short(self) -> str:
        return self.digest.hex()[:16]


def fingerprint(reference: Reference) -> Fingerprint:
    public = canonical_form(reference)
    digest = blake2b(public, digest_size=FINGERPRINT_BYTES, person=b"live-objects-ref")
    return Fingerprint(digest.digest())


def group_id_of(identity: Fingerprint) -> bytes:
    """The multicast group of the object itself."""
    digest = blake2b(identity.digest, digest_size=GROUP_ID_BYTES, person=b"live-objects-grp")
    return digest.digest()
