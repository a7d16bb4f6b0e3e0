"""Owns the proof that two people who compare a short code are connected to each other and nobody
else: what is said, what is hashed, which code both see, how the rest is sealed.

The one who invites commits itself to its key before it has seen the other's, and shows it after:

    asks     -> invites   HELLO    the name of the one who asks
    invites  -> asks      COMMIT   hash of the inviter's key, its name, the scope's name
    asks     -> invites   KEY      X25519 key
    invites  -> asks      REVEAL   X25519 key, which must have the hash that was said

The code is six digits of a hash over all of that and over the secret that both keys make. Whoever
stands between has to choose its keys towards both sides before it knows both codes, so that its
one try succeeds once in a million; a commitment that is not kept is noticed at once. Everything
after is sealed for this pair. Names are claims until the codes have been compared.

Nothing here reads a socket or a clock; `transport.pairing_stream` does.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from hashlib import blake2b

from nacl import bindings
from nacl.exceptions import CryptoError

from transport.errors import PeerViolation

MAGIC = b"live-objects pairing 1\n"
NAME_CHARACTERS_MAX = 64
KEY_BYTES = 32
CODE_DIGITS = 6

_NONCE_BYTES = bindings.crypto_aead_xchacha20poly1305_ietf_NPUBBYTES

RandomBytes = Callable[[int], bytes]


class Session:
    """What both have after the four messages: the code, and a box for each direction. Frames are
    opened in the order in which they were sealed, or not at all."""

    def __init__(self, shared: bytes, transcript: bytes, *, inviting: bool) -> None:
        def derive(purpose: bytes, size: int = KEY_BYTES) -> bytes:
            material = transcript + purpose
            return blake2b(
                material, digest_size=size, key=shared, person=b"liveobj pairing"
            ).digest()

        number = int.from_bytes(derive(b"code", 16), "big") % 10**CODE_DIGITS
        digits = f"{number:0{CODE_DIGITS}}"
        self.code = f"{digits[:3]} {digits[3:]}"
        keys = [derive(b"from the one who invites"), derive(b"from the one who asks")]
        self._mine, self._theirs = keys if inviting else reversed(keys)
        self._sealed = self._opened = 0

    def seal(self, data: bytes) -> bytes:
        self._sealed += 1
        nonce = self._sealed.to_bytes(_NONCE_BYTES, "big")
        return bytes(
            bindings.crypto_aead_xchacha20poly1305_ietf_encrypt(data, None, nonce, self._mine)
        )

    def open(self, sealed: bytes) -> bytes:
        self._opened += 1
        nonce = self._opened.to_bytes(_NONCE_BYTES, "big")
        try:
            return bytes(
                bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(
                    sealed, None, nonce, self._theirs
                )
            )
        except (CryptoError, ValueError, TypeError) as problem:
            raise PeerViolation("What arrived was changed on the way: begin again.") from problem


class _Side:
    """One of the two, with its key and what has been said so far."""

    def __init__(self, random_bytes: RandomBytes) -> None:
        self._secret = random_bytes(KEY_BYTES)
        self.public = bytes(bindings.crypto_scalarmult_base(self._secret))
        self._said = blake2b(person=b"liveobj pairing")

    def note(self, message: bytes) -> bytes:
        """Every message of both, in order; the length keeps two from passing as one."""
        self._said.update(len(message).to_bytes(4, "big") + message)
        return message

    def session(self, their_public: bytes, *, inviting: bool) -> Session:
        try:
            shared = bytes(bindings.crypto_scalarmult(self._secret, their_public))
        except (CryptoError, RuntimeError, ValueError, TypeError) as problem:
            raise _nonsense("a key that is none") from problem
        return Session(shared, self._said.digest(), inviting=inviting)


class Inviting(_Side):
    """The one who has the scope. In order: `hear_hello`, `commit`, `hear_key`, `reveal`."""

    def hear_hello(self, message: bytes) -> str:
        """The name that the one who asks gives itself."""
        if not message.startswith(MAGIC):
            raise _nonsense("another language")
        self.note(message)
        return read_name(message[len(MAGIC) :])

    def commit(self, name: str, scope_name: str) -> bytes:
        names = f"{_cut(name)}\n{_cut(scope_name)}".encode()
        return self.note(_commitment(self.public) + names)

    def hear_key(self, message: bytes) -> bytes:
        if len(message) != KEY_BYTES:
            raise _nonsense("a key of another length")
        return self.note(message)

    def reveal(self, their_public: bytes) -> tuple[bytes, Session]:
        message = self.note(self.public)
        return message, self.session(their_public, inviting=True)


class Asking(_Side):
    """The one who wants to join. In order: `hello`, `hear_commit`, `key`, `hear_reveal`."""

    def hello(self, name: str) -> bytes:
        return self.note(MAGIC + _cut(name).encode())

    def hear_commit(self, message: bytes) -> tuple[bytes, str, str]:
        """The commitment, the inviter's name, the scope's name."""
        self.note(message)
        name, line_end, scope_name = message[KEY_BYTES:].partition(b"\n")
        if len(message) <= KEY_BYTES or not line_end:
            raise _nonsense("no commitment")
        return message[:KEY_BYTES], read_name(name), read_name(scope_name)

    def key(self) -> bytes:
        return self.note(self.public)

    def hear_reveal(self, message: bytes, commitment: bytes) -> Session:
        if len(message) != KEY_BYTES or not hmac.compare_digest(_commitment(message), commitment):
            raise PeerViolation(
                "The other computer changed its key in between: somebody may stand between the"
                " two. Begin again."
            )
        self.note(message)
        return self.session(message, inviting=False)


def _commitment(public: bytes) -> bytes:
    return blake2b(public, digest_size=KEY_BYTES, person=b"liveobj commit").digest()


def _cut(name: str) -> str:
    """A name that the other side will take, whatever this user is called."""
    printable = "".join(letter if letter.isprintable() else " " for letter in name).strip()
    return printable[:NAME_CHARACTERS_MAX] or "?"


def read_name(data: bytes) -> str:
    """A stranger's name, or PeerViolation."""
    try:
        name = data.decode("utf-8")
    except UnicodeDecodeError:
        raise _nonsense("a name that is no text") from None
    if not name or len(name) > NAME_CHARACTERS_MAX or not name.isprintable():
        raise _nonsense("a name that cannot be shown")
    return name


def _nonsense(what: str) -> PeerViolation:
    return PeerViolation(
        "The other computer does not invite or ask as it must: begin again.", got=what
    )
