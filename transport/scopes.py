"""Owns scopes: the named networks that engines share, each with an id and a key.

Engines of one scope hear each other; packets of any other scope are dropped unread. Objects have
keys of their own, so a scope's key protects the network's running, not what is said on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from urllib.parse import quote, unquote

from transport.errors import BadArgument
from transport.key_text import read_key, write_key
from transport.secrets_file import read_small, write_private

SCOPE_ID_BYTES = 16
SCOPE_KEY_BYTES = 32

# How an invitation begins; the number is the version of what follows. The second is that of a
# scope whose key has been renewed: its id does not follow from its key any more.
_INVITATION = "live-objects-scope:1:"
_RENEWED_INVITATION = "live-objects-scope:2:"
GENERATION_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Scope:
    """A network by name, id and key; the key is never shown by `repr`. `generation` counts how
    often the key has been renewed; the id stays."""

    name: str
    scope_id: bytes
    key: bytes = field(repr=False)
    generation: int = 0

    def __post_init__(self) -> None:
        if not self.name or len(self.name) > 64 or not self.name.isprintable():
            raise BadArgument("A scope's name has 1 to 64 printable characters: choose another.")
        if len(self.scope_id) != SCOPE_ID_BYTES:
            raise BadArgument(f"A scope's id has {SCOPE_ID_BYTES} bytes.", scope=self.name)
        if len(self.key) != SCOPE_KEY_BYTES:
            raise BadArgument(f"A scope's key has {SCOPE_KEY_BYTES} bytes.", scope=self.name)
        if not 0 <= self.generation <= GENERATION_MAX:
            raise BadArgument("A scope's key was renewed a number of times.", scope=self.name)

    @classmethod
    def from_key(cls, name: str, key: bytes) -> Scope:
        """The scope with this key; its id follows from both, so who has the key finds it."""
        digest = blake2b(
            name.encode(), digest_size=SCOPE_ID_BYTES, key=key, person=b"liveobj scope id"
        )
        return cls(name, digest.digest(), key)

    @classmethod
    def new_private(cls, name: str, random_bytes: Callable[[int], bytes]) -> Scope:
        """A scope that only those have whom its maker invites."""
        return cls.from_key(name, random_bytes(SCOPE_KEY_BYTES))

    @property
    def private(self) -> bool:
        """Whether its key is a secret."""
        return self.key != NEARBY.key

    def renewed(self, key: bytes) -> Scope:
        """The same scope with its next key."""
        return Scope(self.name, self.scope_id, key, self.generation + 1)

    # An invitation is the scope itself: name and key in one line of text, to be pasted, typed,
    # drawn as a QR code, put into a file or into an installer.

    def invitation(self) -> str:
        """The line of text that makes whoever has it a member."""
        name = quote(self.name, safe="")
        if self.generation == 0:
            return f"{_INVITATION}{name}:{write_key(self.key, self.name)}"
        secret = write_key(self.scope_id + self.key, f"{self.name} {self.generation}")
        return f"{_RENEWED_INVITATION}{name}:{self.generation}:{secret}"

    @classmethod
    def from_invitation(cls, text: str) -> Scope:
        """The scope that somebody is invited to; BadArgument where the text is no invitation."""
        line = text.strip()
        renewed = line.startswith(_RENEWED_INVITATION)
        beginning = _RENEWED_INVITATION if renewed else _INVITATION
        name, *rest = line.removeprefix(beginning).split(":", 2 if renewed else 1)
        if not line.startswith(beginning) or len(rest) != (2 if renewed else 1):
            raise BadArgument("That is no invitation to a scope: copy it again, all of it.")
        name = unquote(name)
        if not name.isprintable():
            raise BadArgument("The scope's name is not readable: copy the invitation again.")
        if not renewed:
            return cls.from_key(name, read_key(rest[0], name, SCOPE_KEY_BYTES))
        number, secret = rest
        if not (number.isascii() and number.isdigit() and len(number) <= 10):
            raise BadArgument("That is no invitation to a scope: copy it again, all of it.")
        both = read_key(secret, f"{name} {number}", SCOPE_ID_BYTES + SCOPE_KEY_BYTES)
        return cls(name, both[:SCOPE_ID_BYTES], both[SCOPE_ID_BYTES:], int(number))

    def write(self, path: Path) -> None:
        """Writes the invitation to a new file that nobody else on this computer can read."""
        write_private(path, self.invitation() + "\n")

    @classmethod
    def read(cls, path: Path) -> Scope:
        """The scope in a file."""
        return cls.from_invitation(read_small(path))


def _well_known(name: str) -> Scope:
    key = blake2b(name.encode(), digest_size=SCOPE_KEY_BYTES, person=b"liveobj open key")
    return Scope.from_key(name, key.digest())


# Everybody has this key, so that computers on one network find each other with no question asked.
# A stranger with it can disturb the network; reading or altering an object needs the object's own
# key.
NEARBY = _well_known("Nearby")


# The version of the network's language, as announcements tell it.
ANNOUNCED_VERSION = "7"


def scope_label(scope: Scope) -> str:
    """What announcements and logs tell of a scope: who knows it recognises it, and no more."""
    return blake2b(scope.scope_id, digest_size=8, person=b"liveobj mdns").hexdigest()
