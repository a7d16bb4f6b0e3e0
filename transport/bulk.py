"""Owns bulk transfers between members: checkpoints and files too large for a group's messages.

A transfer is named by the hash of its content (BLAKE2b, 32 bytes), so what arrives is what was
meant, whoever sent it. It is resumed where it stopped, checked at the end, and put under its name
only when it is whole. Where to find whom is the business of the layers above.
"""

from __future__ import annotations

import asyncio
import logging
import os
import struct
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

from transport.disk_thread import disk_thread
from transport.errors import (
    BadArgument,
    NotFound,
    PeerViolation,
    PortInUse,
    SystemRefused,
    TransportError,
)
from transport.sealed_stream import FRAME_BYTES_MAX, SILENCE_S_MAX, SealedStream, end
from transport.whole_file import PRIVATE, put_in_place

log = logging.getLogger(__name__)

CONTENT_ID_BYTES = 32
CONNECTIONS_MAX = 32

_REQUEST = struct.Struct("!32sQ")
_ANSWER = struct.Struct("!BQ")
_FOUND, _MISSING = 0, 1

Progress = Callable[[int, int], None]


def content_id(data: bytes) -> bytes:
    """The name of these bytes."""
    return blake2b(data, digest_size=CONTENT_ID_BYTES).digest()


def file_content_id(path: Path) -> bytes:
    """The name of a file's content, read piece by piece."""
    digest = blake2b(digest_size=CONTENT_ID_BYTES)
    with path.open("rb") as file:
        while piece := file.read(FRAME_BYTES_MAX):
            digest.update(piece)
    return digest.digest()


class BulkServer:
    """Gives members of its groups what has been offered to them. Use `await BulkServer.start()`."""

    def __init__(self, random_bytes: Callable[[int], bytes], silence_s: float) -> None:
        self._random_bytes = random_bytes
        self._silence_s = silence_s
        self._keys: dict[bytes, bytes] = {}
        self._offers: dict[tuple[bytes, bytes], Path] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @classmethod
    async def start(
        cls,
        address: str,
        random_bytes: Callable[[int], bytes],
        port: int = 0,
        silence_s: float = SILENCE_S_MAX,
    ) -> BulkServer:
        """Listens at an address of this computer; port 0 is any free one."""
        server = cls(random_bytes, silence_s)
        await server.listen(address, port)
        return server

    async def listen(self, address: str, port: int = 0) -> None:
        """Begins to answer; offers may be made before."""
        try:
            self._server = await asyncio.start_server(self._connected, address, port)
        except OSError as problem:
            raise PortInUse(
                f"Port {port} of {address} cannot be used for streams: choose another one.",
                port=port,
                address=address,
            ) from problem

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def offer(self, group_id: bytes, key: bytes, path: Path) -> bytes:
        """Lets members of a group fetch a file; gives the name of its content."""
        name = file_content_id(path)
        self.offer_known(group_id, key, name, path)
        return name

    def offer_known(self, group_id: bytes, key: bytes, name: bytes, path: Path) -> None:
        """The same where the name of the content is known, so that the file need not be read; who
        fetches it checks it anyway."""
        self._keys[group_id] = key
        self._offers[group_id, name] = path

    def withdraw(self, group_id: bytes, name: bytes | None = None) -> None:
        """Takes back one offer, or all of a group."""
        for offer in [each for each in self._offers if each[0] == group_id]:
            if name is None or offer[1] == name:
                del self._offers[offer]
        if not any(offer[0] == group_id for offer in self._offers):
            self._keys.pop(group_id, None)

    async def close(self) -> None:
        """Ends everything that is going on."""
        if self._server is not None:
            self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._server is not None:
            await self._server.wait_closed()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._tasks) >= CONNECTIONS_MAX:
            writer.close()
            return
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            stream = await SealedStream.accept(
                reader, writer, self._keys.get, self._random_bytes, self._silence_s
            )
            await self._answer(stream)
        except TransportError as error:
            log.debug("a stream ended: %s", error.described)
        except OSError as error:
            log.warning("a file could not be read for a stream: %s", error)
        except asyncio.CancelledError:
            writer.transport.abort()
            raise
        finally:
            await end(writer, self._silence_s)

    async def _answer(self, stream: SealedStream) -> None:
        request, _ = await stream.receive()
        if len(request) != _REQUEST.size:
            raise PeerViolation("The other computer sent a malformed request.")
        name, offset = _REQUEST.unpack(request)
        path = self._offers.get((stream.group_id, name))
        if path is None or not path.is_file():
            await stream.send(_ANSWER.pack(_MISSING, 0), last=True)
            return
        size = path.stat().st_size
        await stream.send(_ANSWER.pack(_FOUND, size), last=offset >= size)
        left = max(0, size - offset)
        with path.open("rb") as file:
            file.seek(offset)
            while left:
                piece = file.read(min(left, FRAME_BYTES_MAX))
                if not piece:
                    return  # It became shorter; without a last frame the peer knows.
                left -= len(piece)
                await stream.send(piece, last=not left)


async def fetch(
    address: str,
    port: int,
    group_id: bytes,
    key: bytes,
    name: bytes,
    destination: Path,
    *,
    random_bytes: Callable[[int], bytes],
    size_max: int,
    progress: Progress | None = None,
    silence_s: float = SILENCE_S_MAX,
) -> None:
    """Fetches the content of that name into a file, which appears when it is whole and right.

    What arrived before a connection was lost is kept beside the destination (`.part`), and the next
    call, to the same peer or another, goes on from there.
    """
    if len(name) != CONTENT_ID_BYTES:
        raise BadArgument(f"The name of a content has {CONTENT_ID_BYTES} bytes.")
    part = destination.with_name(destination.name + ".part")
    try:
        arrival = _Arrival(part, name, progress)
        try:
            # Before the connection, whose other side does not wait for long.
            await arrival.take_up()
            stream = await SealedStream.connect(
                address, port, group_id, key, random_bytes, silence_s
            )
            try:
                await arrival.receive(stream, size_max)
            finally:
                await stream.close()
        except BaseException:
            arrival.stop()
            raise
        await arrival.finish(destination)
    except OSError as problem:
        raise SystemRefused(
            f"{destination} cannot be written: {problem.strerror}.", group=group_id
        ) from problem


class _Arrival:
    """A file that is growing, and the hash of what is in it."""

    def __init__(self, part: Path, name: bytes, progress: Progress | None) -> None:
        self._part = part
        self._name = name
        self._progress = progress
        self._digest = blake2b(digest_size=CONTENT_ID_BYTES)
        # Others who use this computer do not read along.
        self._file = open(part, "a+b", opener=_private)  # noqa: SIM115 - closed at its end
        self._done = 0

    async def take_up(self) -> None:
        """Goes on from what is there; others have their turn while it is read."""
        self._file.seek(0)
        while piece := self._file.read(FRAME_BYTES_MAX):
            self._digest.update(piece)
            self._done += len(piece)
            await asyncio.sleep(0)

    async def receive(self, stream: SealedStream, size_max: int) -> None:
        await stream.send(_REQUEST.pack(self._name, self._done), last=True)
        answer, last = await stream.receive()
        if len(answer) != _ANSWER.size:
            raise PeerViolation("The other computer sent a malformed answer.")
        status, size = _ANSWER.unpack(answer)
        if status != _FOUND:
            raise NotFound("The other computer does not have that content: ask somebody else.")
        if size > size_max:
            raise BadArgument(f"The content has {size} bytes: more than the {size_max} allowed.")
        self._report(size)
        while not last:
            piece, last = await stream.receive()
            if self._done + len(piece) > size:
                raise PeerViolation("The other computer sent more than it had announced.")
            self._file.write(piece)
            self._digest.update(piece)
            self._done += len(piece)
            self._report(size)

    def _report(self, size: int) -> None:
        if self._progress is not None:
            self._progress(self._done, size)

    def stop(self) -> None:
        """What has come is kept for the next time."""
        self._file.close()
        if not self._done:
            self._part.unlink()

    async def finish(self, destination: Path) -> None:
        self._file.close()
        if self._digest.digest() != self._name:
            # Also where an old part was of something else; the next try begins at the beginning.
            self._part.unlink()
            raise PeerViolation("What arrived is not what was asked for: it was thrown away.")
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(disk_thread(), put_in_place, self._part, destination)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, PRIVATE)
