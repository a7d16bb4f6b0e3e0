"""Owns how renewals of a scope's key reach members who were away: they ask, over TCP, at the port
that has the number of the engine's own, those whom they know or find.

A question names the scope by its label and the generation of the key that one has; the answer is
the renewals since. Anybody may ask: a renewal is sealed under the key before it, and the key in it
is in boxes for its members. Questions and answers are bounded, in size, number and time.
"""

from __future__ import annotations

import asyncio
import logging
import struct
from collections.abc import Coroutine, Iterable
from typing import Any

from transport.config import Peer
from transport.errors import PeerViolation, TransportError
from transport.scope_keeper import SWITCH_S_MAX, ScopeKeeper
from transport.scope_records import RENEWALS_MAX
from transport.scope_renewal import RENEWAL_BYTES_MAX
from transport.scopes import scope_label
from transport.sealed_stream import end

log = logging.getLogger(__name__)

ANSWER_S = 5.0
CLOSE_S = 1.0
CONNECTIONS_MAX = 8
ASKED_MAX = 256

_QUESTION = struct.Struct("!4s16sI")
_MAGIC = b"LOR1"
_COUNT, _SIZE = struct.Struct("!B"), struct.Struct("!I")


class RenewalExchange:
    """Answers others, asks them, and gives the keeper what it hears. `myself` is where the engine
    is; where its port's number is taken for TCP, this one does not answer."""

    def __init__(self, keeper: ScopeKeeper, myself: Peer) -> None:
        self._keeper = keeper
        self._myself = myself
        self._server: asyncio.Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._answering = 0
        self._asked: set[tuple[Peer, int]] = set()
        # One chain of renewals at a time.
        self._following = asyncio.Lock()

    def start(self, loop: asyncio.AbstractEventLoop, known: Iterable[Peer]) -> None:
        self._loop = loop
        self._spawn(self._begin(tuple(known)))

    def move(self, myself: Peer) -> None:
        """The engine is elsewhere: answers there."""
        self._myself = myself
        server, self._server = self._server, None
        if server is not None:
            server.close()
        self._spawn(self._listen())

    def meet(self, peers: Iterable[Peer]) -> None:
        """Asks those who have not been asked since the key was last renewed."""
        for peer in peers:
            question = (peer, self._keeper.scope.generation)
            if peer != self._myself and question not in self._asked:
                if len(self._asked) >= ASKED_MAX:
                    self._asked.clear()
                self._asked.add(question)
                self._spawn(self._ask(peer))

    async def close(self) -> None:
        """Harmless when done twice."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        tasks = set(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_S)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        if self._loop is None:
            work.close()
            return
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _listen(self) -> None:
        address, port = self._myself.address, self._myself.port
        try:
            self._server = await asyncio.start_server(self._connected, address, port)
        except OSError as problem:
            log.warning("renewals are not told by this computer: %s", problem.strerror)

    async def _begin(self, known: tuple[Peer, ...]) -> None:
        await self._listen()
        # What was on disk before the scope's new key was: the program had ended in between.
        await self._follow(self._keeper.records.since(self._keeper.scope.generation))
        self.meet(known)

    # Those who ask

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._answering < CONNECTIONS_MAX:
            self._answering += 1
            try:
                async with asyncio.timeout(ANSWER_S):
                    await self._answer(reader, writer)
            except (OSError, TimeoutError, asyncio.IncompleteReadError):
                pass
            finally:
                self._answering -= 1
        await end(writer, CLOSE_S)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        magic, label, generation = _QUESTION.unpack(await reader.readexactly(_QUESTION.size))
        if magic != _MAGIC or label != scope_label(self._keeper.scope).encode():
            return
        renewals = self._keeper.records.since(generation)[:RENEWALS_MAX]
        writer.write(_COUNT.pack(len(renewals)))
        for data in renewals:
            writer.write(_SIZE.pack(len(data)) + data)
        await writer.drain()

    # Asking

    async def _ask(self, peer: Peer) -> None:
        try:
            async with asyncio.timeout(ANSWER_S):
                renewals = await self._fetch(peer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, PeerViolation) as problem:
            log.debug("%s:%d tells of no renewals: %s", peer.address, peer.port, problem)
            return
        await self._follow(renewals)

    async def _fetch(self, peer: Peer) -> list[bytes]:
        scope = self._keeper.scope
        reader, writer = await asyncio.open_connection(peer.address, peer.port)
        try:
            label = scope_label(scope).encode()
            writer.write(_QUESTION.pack(_MAGIC, label, scope.generation))
            (count,) = _COUNT.unpack(await reader.readexactly(_COUNT.size))
            if count > RENEWALS_MAX:
                raise PeerViolation("More renewals came than there can be.")
            renewals = []
            for _ in range(count):
                (size,) = _SIZE.unpack(await reader.readexactly(_SIZE.size))
                if size > RENEWAL_BYTES_MAX:
                    raise PeerViolation("A renewal came that is too long.")
                renewals.append(await reader.readexactly(size))
            return renewals
        finally:
            writer.transport.abort()

    async def _follow(self, renewals: Iterable[bytes]) -> None:
        """From key to key, each as soon as it is used."""
        async with self._following:
            for data in renewals:
                generation = self._keeper.scope.generation
                try:
                    taken = self._keeper.take_renewal(data)
                except PeerViolation:
                    continue  # of a generation that is past
                except TransportError as problem:
                    log.warning("the network's key was not renewed: %s", problem.described)
                    return
                if taken and not await self._renewed(generation):
                    return

    async def _renewed(self, generation: int) -> bool:
        """Whether the keeper has gone on from that generation."""
        for _ in range(round((SWITCH_S_MAX + 1) / 0.05)):
            if self._keeper.scope.generation > generation:
                return True
            await asyncio.sleep(0.05)
        return False
