"""Owns the finding of others beside the engine: announces it by mDNS, tells it who else does.

What is found is told to the running engine at once, and written to the peer book, from which the
next engine is given its known peers. A network in which mDNS is refused is logged once, and is no
error: the engine's own multicast and typed addresses do not need it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from transport.config import Peer
from transport.engine import Engine
from transport.errors import BadArgument, TransportError
from transport.peer_book import PeerBook, choose_peers

log = logging.getLogger(__name__)

# Those who come together are written to the book together.
REMEMBER_PAUSE_S = 1.0
CLOSE_BOUND_S = 1.0


class Finder:
    """One engine's announcement and lookout, in a task of the loop until closed. `found` has the
    latest first, as many as an engine is told of."""

    def __init__(self, engine: Engine, book: PeerBook) -> None:
        self.found: tuple[Peer, ...] = ()
        self.on_found: Callable[[tuple[Peer, ...]], None] | None = None
        self._engine = engine
        self._scope = engine.config.scope
        address = engine.info().address
        self._myself = Peer(address.text, address.port)
        self._book = book
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._task = loop.create_task(self._run())

    def move(self) -> None:
        """The engine is elsewhere: looks out there, and announces it anew."""
        address = self._engine.info().address
        self._myself = Peer(address.text, address.port)
        self.found = ()
        task = self._task
        if task is not None:
            task.cancel()
            self._task = task.get_loop().create_task(self._run_after(task))

    async def _run_after(self, task: asyncio.Task[None]) -> None:
        await asyncio.wait([task], timeout=CLOSE_BOUND_S)
        await self._run()

    async def close(self) -> None:
        """Takes the announcement back, within a bound. Harmless when done twice."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task], timeout=CLOSE_BOUND_S)

    async def _run(self) -> None:
        # zeroconf takes a tenth of a second to load: later than the first window, not before it.
        from transport.discovery import announce_engine, look_out  # noqa: PLC0415

        try:
            announcement = await announce_engine(self._scope, self._myself)
        except TransportError as problem:
            log.warning("others are not searched by mDNS: %s", problem.described)
            return
        try:
            lookout = look_out(self._scope, self._myself.address, self._on_peer, self._on_gone)
        except TransportError as problem:
            log.warning("others are not searched by mDNS: %s", problem.described)
            await announcement.close()
            return
        try:
            while True:
                await self._changed.wait()
                self._changed.clear()
                log.info("found by mDNS: %d", len(self.found))
                self._book.remember(self._scope, self.found)
                await asyncio.sleep(REMEMBER_PAUSE_S)
        finally:
            await lookout.close()
            await announcement.close()

    def _on_gone(self, peer: Peer) -> None:
        """It stays in the book: it may be there the next time."""
        self.found = tuple(each for each in self.found if each != peer)

    def _on_peer(self, peer: Peer) -> None:
        if peer == self._myself or self._engine.closed:
            return
        try:
            self._engine.add_peer(peer)
        except BadArgument as problem:
            log.debug("an announcement of no use here: %s", problem.described)
            return
        self.found = choose_peers([peer], self.found, myself=self._myself)
        self._changed.set()
        if self.on_found is not None:
            self.on_found(self.found)
