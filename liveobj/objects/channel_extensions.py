"""Owns the extensions for channels: encrypting, buffering, and asking instead of being told."""

from __future__ import annotations

from collections import deque

from nacl.exceptions import CryptoError
from nacl.secret import SecretBox

from liveobj.casting import EXTENSIONS, Extension
from liveobj.declare import Dual, endpoint_type, incoming, live_object, outgoing
from liveobj.objects.standard_types import ChannelEndpoint
from liveobj.references import Primitive, Secrets
from liveobj.references.errors import NotAReference
from liveobj.runtime.context import Context
from transport.sentences import worded

BUFFERED_MESSAGES_MAX = 1000
CIPHER = "cipher"


@endpoint_type(
    "live-objects:private-channel-endpoint",
    provides="fifo channel; private",
    requires="connect precedes send",
)
class PrivateChannelEndpoint:
    """A channel that nobody outside can read."""

    @incoming
    def send(self, message: bytes) -> None:
        """Multicasts."""

    @outgoing
    def receive(self, sender: int, message: bytes) -> None:
        """Somebody with the same key has sent."""


@live_object("live-objects:encrypting-channel", title="Encryption")
class EncryptingChannel:
    """Encrypts what is sent over a channel that does not."""

    context: Context
    near: PrivateChannelEndpoint
    far: Dual[ChannelEndpoint[bytes]]

    def __init__(self) -> None:
        self._refused = 0

    @property
    def refused(self) -> int:
        """How many messages were not encrypted with this key."""
        return self._refused

    def on_start(self) -> None:
        key = self.context.reference.secrets.keys.get(CIPHER)
        if key is None or len(key) != SecretBox.KEY_SIZE:
            raise NotAReference(
                worded("The key for encrypting is missing; ask for the file again.")
            )
        self._box = SecretBox(key)

    def on_near_send(self, message: bytes) -> None:
        nonce = self.context.host.random_bytes(SecretBox.NONCE_SIZE)
        self.far.send(bytes(self._box.encrypt(bytes(message), nonce)))

    def on_far_receive(self, sender: int, message: bytes) -> None:
        try:
            plain = self._box.decrypt(bytes(message))
        except (CryptoError, ValueError):
            self._refused += 1
            return
        self.near.receive(sender, plain)


def encrypting(key: bytes) -> Primitive:
    """A reference to an encrypting channel with a key."""
    return Primitive("live-objects:encrypting-channel", secrets=Secrets({CIPHER: key}))


@endpoint_type("live-objects:patient-channel-endpoint", provides="fifo channel")
class PatientChannelEndpoint:
    """A channel that takes messages also while there is no connection behind it."""

    @incoming
    def send(self, message: bytes) -> None:
        """Multicasts now or later."""

    @outgoing
    def receive(self, sender: int, message: bytes) -> None:
        """Somebody has sent."""


@live_object("live-objects:buffer", title="Buffer")
class Buffer:
    """Keeps messages while the channel is away; the oldest go first when there are too many."""

    near: PatientChannelEndpoint
    far: Dual[ChannelEndpoint[bytes]]

    def __init__(self) -> None:
        self._kept: deque[bytes] = deque(maxlen=BUFFERED_MESSAGES_MAX)
        self._there = False

    def on_near_send(self, message: bytes) -> None:
        if self._there:
            self.far.send(message)
        else:
            self._kept.append(message)

    def on_far_receive(self, sender: int, message: bytes) -> None:
        self.near.receive(sender, message)

    def on_far_connected(self) -> None:
        self._there = True
        while self._kept:
            self.far.send(self._kept.popleft())

    def on_far_disconnected(self) -> None:
        self._there = False


@endpoint_type("live-objects:latest-endpoint")
class LatestEndpoint:
    """What was said last, for those who want to ask."""

    @incoming
    def ask(self) -> None:
        """Answered by `latest`."""

    @outgoing
    def latest(self, message: bytes | None) -> None:
        """The newest message, or None if there was none yet."""


@live_object("live-objects:latest", title="Latest")
class Latest:
    """Turns a channel that tells (push) into something that answers (pull)."""

    near: LatestEndpoint
    far: Dual[ChannelEndpoint[bytes]]

    def __init__(self) -> None:
        self._message: bytes | None = None

    def on_near_ask(self) -> None:
        self.near.latest(self._message)

    def on_far_receive(self, sender: int, message: bytes) -> None:
        self._message = message


EXTENSIONS.register(
    Extension("live-objects:buffer", "near", "far", "Keep messages while the channel is away")
)
EXTENSIONS.register(
    Extension("live-objects:latest", "near", "far", "Remember the newest message for asking")
)
EXTENSIONS.register(
    Extension("live-objects:encrypting-channel", "near", "far", "Encrypt what is sent")
)
