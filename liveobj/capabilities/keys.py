"""Owns the keys of an object: the group's key, and the pair that signs and checks edits.

Ed25519 by libsodium (through PyNaCl): the engine uses the same library for its packets, and a
signature cannot be had from the standard library. Updates are signed a batch at a time, as the
channel sends them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nacl.exceptions import CryptoError
from nacl.signing import SigningKey, VerifyKey

from transport.interfaces import GROUP_KEY_BYTES

KEY_BYTES = 32
SIGNATURE_BYTES = 64

# What is signed begins with this, so that a signature for one purpose is none for another.
_CONTEXT = b"live-objects update 1\0"


@dataclass(frozen=True, slots=True)
class ObjectKeys:
    """`verify` is public and part of the object's description; `group` lets one take part,
    `signing` (absent for viewers) lets one edit."""

    verify: bytes
    group: bytes
    signing: bytes | None


def new_object_keys(random_bytes: Callable[[int], bytes]) -> ObjectKeys:
    """Keys for an object that did not exist before."""
    signing = random_bytes(KEY_BYTES)
    verify = bytes(SigningKey(signing).verify_key)
    return ObjectKeys(verify, random_bytes(GROUP_KEY_BYTES), signing)


class EditSeal:
    """Signs with the object's key, if it is held, and checks what others have signed with it."""

    def __init__(self, verify: bytes, signing: bytes | None) -> None:
        if len(verify) != KEY_BYTES or (signing is not None and len(signing) != KEY_BYTES):
            raise ValueError(f"Keys have {KEY_BYTES} bytes.")
        self._verify_key = VerifyKey(verify)
        self._signing_key = None if signing is None else SigningKey(signing)
        if self._signing_key is not None and bytes(self._signing_key.verify_key) != verify:
            raise ValueError("The signing key is that of another object.")

    @property
    def can_sign(self) -> bool:
        return self._signing_key is not None

    def sign(self, data: bytes) -> bytes:
        if self._signing_key is None:
            raise PermissionError("Without the signing key, edits cannot be signed.")
        return bytes(self._signing_key.sign(_CONTEXT + data).signature)

    def verify(self, data: bytes, signature: bytes) -> bool:
        try:
            self._verify_key.verify(_CONTEXT + data, signature)
        except (CryptoError, ValueError):
            return False
        return True
