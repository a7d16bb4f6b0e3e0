"""Owns the sealing of a byte stream between two members of a group: handshake, frames, end.

Both sides prove that they have the group's key and draw a session's keys from it, so a recorded
stream cannot be played again. Frames are sealed in order by libsodium's secretstream: none can be
changed, left out, repeated or cut off unnoticed. It knows nothing of files.
"""

from __future__ import annotations

import asyncio
import hmac
import struct
from collections.abc import Callable
from hashlib import blake2b

from nacl import bindings
from nacl.exceptions import CryptoError

from transport.errors import PeerLost, PeerViolation

MAGIC = b"live-objects stream 1\n"
NONCE_BYTES = 32
PROOF_BYTES = 32
FRAME_BYTES_MAX = 1 << 16
# Without a byte for this long the peer is given up.
SILENCE_S_MAX = 20.0

_LENGTH = struct.Struct("!I")
_OVERHEAD_BYTES = bindings.crypto_secretstream_xchacha20poly1305_ABYTES
_HEADER_BYTES = bindings.crypto_secretstream_xchacha20poly1305_HEADERBYTES
_MORE = bindings.crypto_secretstream_xchacha20poly1305_TAG_MESSAGE
_LAST = bindings.crypto_secretstream_xchacha20poly1305_TAG_FINAL

KeyOf = Callable[[bytes], bytes | None]


class SealedStream:
    """One connection after its handshake. `close` ends it; frames go through `send` and
    `receive`."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, silence_s: float
    ) -> None:
        self.group_id = b""
        self._reader = reader
        self._writer = writer
        self._silence_s = silence_s
        self._push = bindings.crypto_secretstream_xchacha20poly1305_state()
        self._pull = bindings.crypto_secretstream_xchacha20poly1305_state()

    # Handshake

    @classmethod
    async def connect(
        cls,
        address: str,
        port: int,
        group_id: bytes,
        key: bytes,
        random_bytes: Callable[[int], bytes],
        silence_s: float = SILENCE_S_MAX,
    ) -> SealedStream:
        """Connects to a member of the group; raises PeerLost or PeerViolation."""
        try:
            async with asyncio.timeout(silence_s):
                reader, writer = await asyncio.open_connection(address, port)
        except (OSError, TimeoutError) as problem:
            raise PeerLost(
                "The other computer does not answer: try again, or ask somebody else.",
                address=address,
                port=port,
            ) from problem
        stream = cls(reader, writer, silence_s)
        try:
            mine = random_bytes(NONCE_BYTES)
            await stream._write(MAGIC + group_id + mine)
            theirs = await stream._read(NONCE_BYTES)
            secrets = _Secrets(key, group_id, mine, theirs)
            stream._check(await stream._read(PROOF_BYTES), secrets.server_proof)
            await stream._write(secrets.client_proof)
            await stream._begin(secrets.from_client, secrets.from_server)
        except BaseException:
            await stream.close()
            raise
        stream.group_id = group_id
        return stream

    @classmethod
    async def accept(
        cls,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        key_of: KeyOf,
        random_bytes: Callable[[int], bytes],
        silence_s: float = SILENCE_S_MAX,
    ) -> SealedStream:
        """The server's half; `key_of` gives the key of a group, None for one it does not serve."""
        stream = cls(reader, writer, silence_s)
        hello = await stream._read(len(MAGIC) + 16 + NONCE_BYTES)
        if not hello.startswith(MAGIC):
            raise PeerViolation("The other computer speaks another language.")
        group_id, theirs = hello[len(MAGIC) :][:16], hello[-NONCE_BYTES:]
        key = key_of(group_id)
        if key is None:
            raise PeerViolation("The other computer asked for a group that is not here.")
        mine = random_bytes(NONCE_BYTES)
        secrets = _Secrets(key, group_id, theirs, mine)
        await stream._write(mine + secrets.server_proof)
        stream._check(await stream._read(PROOF_BYTES), secrets.client_proof)
        await stream._begin(secrets.from_server, secrets.from_client)
        stream.group_id = group_id
        return stream

    def _check(self, proof: bytes, wanted: bytes) -> None:
        if not hmac.compare_digest(proof, wanted):
            raise PeerViolation("The other computer does not have the group's key.")

    async def _begin(self, mine: bytes, theirs: bytes) -> None:
        header = bindings.crypto_secretstream_xchacha20poly1305_init_push(self._push, mine)
        await self._write(header)
        header = await self._read(_HEADER_BYTES)
        bindings.crypto_secretstream_xchacha20poly1305_init_pull(self._pull, header, theirs)

    # Frames

    async def send(self, data: bytes, *, last: bool = False) -> None:
        """Seals one frame of at most FRAME_BYTES_MAX; waits while the peer does not take it."""
        assert len(data) <= FRAME_BYTES_MAX
        tag = _LAST if last else _MORE
        sealed = bindings.crypto_secretstream_xchacha20poly1305_push(self._push, data, tag=tag)
        await self._write(_LENGTH.pack(len(sealed)) + sealed)

    async def receive(self) -> tuple[bytes, bool]:
        """The next frame, and whether it is the last one."""
        (length,) = _LENGTH.unpack(await self._read(_LENGTH.size))
        if not _OVERHEAD_BYTES <= length <= FRAME_BYTES_MAX + _OVERHEAD_BYTES:
            raise PeerViolation("The other computer sent a frame of impossible length.")
        sealed = await self._read(length)
        try:
            data, tag = bindings.crypto_secretstream_xchacha20poly1305_pull(self._pull, sealed)
        except (CryptoError, RuntimeError, ValueError) as problem:
            raise PeerViolation("What arrived was changed on the way.") from problem
        return bytes(data), tag == _LAST

    async def close(self) -> None:
        """Lets go of the connection, within a bound."""
        await end(self._writer, self._silence_s)

    async def _read(self, size: int) -> bytes:
        try:
            async with asyncio.timeout(self._silence_s):
                return await self._reader.readexactly(size)
        except (asyncio.IncompleteReadError, OSError, TimeoutError) as problem:
            raise self._lost() from problem

    async def _write(self, data: bytes) -> None:
        try:
            self._writer.write(data)
            async with asyncio.timeout(self._silence_s):
                await self._writer.drain()
        except (OSError, TimeoutError) as problem:
            raise self._lost() from problem

    def _lost(self) -> PeerLost:
        return PeerLost(
            "The connection to the other computer was lost: try again, it goes on where it was.",
            group=self.group_id or None,
        )


async def end(writer: asyncio.StreamWriter, bound_s: float) -> None:
    """Closes a connection after what was written has left; drops it when that takes too long."""
    writer.close()
    try:
        async with asyncio.timeout(bound_s):
            await writer.wait_closed()
    except (OSError, TimeoutError):
        writer.transport.abort()


class _Secrets:
    """What both sides compute from the group's key and their two nonces."""

    def __init__(self, key: bytes, group_id: bytes, client: bytes, server: bytes) -> None:
        seen = group_id + client + server

        def derive(purpose: bytes) -> bytes:
            hashed = blake2b(seen + purpose, digest_size=32, key=key, person=b"liveobj stream")
            return hashed.digest()

        self.server_proof = derive(b"server proof")
        self.client_proof = derive(b"client proof")
        self.from_client = derive(b"from client")
        self.from_server = derive(b"from server")
