"""Owns the identity of a user: an Ed25519 key pair, kept in a private file, shown as a fingerprint.

It signs what others may want to check later. It knows nothing of networks; objects have keys of
their own, and a scope's key says nothing about who somebody is.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

from nacl.exceptions import CryptoError
from nacl.public import SealedBox
from nacl.signing import SigningKey, VerifyKey

from transport.errors import BadArgument, SystemRefused
from transport.key_text import read_key, write_key
from transport.secrets_file import read_small, write_private

SEED_BYTES = 32
PUBLIC_BYTES = 32
SIGNATURE_BYTES = 64

_PURPOSE = "live-objects identity 1"


class Identity:
    """One user's key pair. `repr` shows the fingerprint, never the secret."""

    __slots__ = ("_key",)

    def __init__(self, seed: bytes) -> None:
        if len(seed) != SEED_BYTES:
            raise BadArgument(f"The seed of an identity has {SEED_BYTES} bytes.")
        self._key = SigningKey(seed)

    def __repr__(self) -> str:
        return f"<Identity {self.fingerprint}>"

    @property
    def public(self) -> bytes:
        return bytes(self._key.verify_key)

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.public)

    def sign(self, purpose: str, data: bytes) -> bytes:
        """A signature that is good for this purpose only."""
        return bytes(self._key.sign(_signed(purpose, data)).signature)

    def unbox(self, box: bytes) -> bytes | None:
        """What somebody has put into a box for this identity alone; None if it is not for it."""
        try:
            return bytes(SealedBox(self._key.to_curve25519_private_key()).decrypt(box))
        except (CryptoError, ValueError, TypeError):
            return None

    @classmethod
    def load_or_create(cls, path: Path, random_bytes: Callable[[int], bytes]) -> Identity:
        """The identity in a file, which is made when it is not there."""
        if path.exists():
            return cls.load(path)
        identity = cls(random_bytes(SEED_BYTES))
        try:
            identity.save(path)
        except SystemRefused:
            if not path.exists():
                raise
            return cls.load(path)  # Another program of this user was quicker.
        return identity

    @classmethod
    def load(cls, path: Path) -> Identity:
        """Refuses a file that others can read: its secret may have been read."""
        head, _, key = read_small(path, private=True).partition("\n")
        if head.strip() != _PURPOSE:
            raise BadArgument(f"{path} holds no identity: give another file.")
        return cls(read_key(key, _PURPOSE, SEED_BYTES))

    def save(self, path: Path) -> None:
        """Writes a new file that nobody else can read."""
        write_private(path, f"{_PURPOSE}\n{write_key(bytes(self._key), _PURPOSE)}\n")


def verify(public: bytes, purpose: str, data: bytes, signature: bytes) -> bool:
    """Whether the owner of that public key signed this, for this purpose. Never raises."""
    try:
        VerifyKey(public).verify(_signed(purpose, data), signature)
    except (CryptoError, ValueError, TypeError):
        return False
    return True


def fingerprint(public: bytes) -> str:
    """How a public key is shown: 80 bits of its hash, short enough to be read out aloud."""
    digest = blake2b(public, digest_size=10, person=b"liveobj identity").digest()
    text = "".join("abcdefghijkmnpqrstuvwxyz23456789"[bits] for bits in _by_fives(digest))
    return "-".join(text[at : at + 4] for at in range(0, len(text), 4))


def _by_fives(data: bytes) -> list[int]:
    number, count = int.from_bytes(data, "big"), len(data) * 8 // 5
    return [number >> 5 * (count - 1 - index) & 31 for index in range(count)]


def _signed(purpose: str, data: bytes) -> bytes:
    return _PURPOSE.encode() + b"\0" + purpose.encode() + b"\0" + data
