"""Owns the finding of others beside the engine: announces it by mDNS, remembers who else does.

What is found is written to the peer book, from which the next engine is given its known peers; an
engine takes them when it is opened. A network in which mDNS is refused is logged once, and is no
error: the engine's own multicast and typed addresses do not need it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from transport.config import Peer
from transport.engine import Engine
from transport.errors import TransportError
from transport.peer_book import PeerBook, choose_peers

log = logging.getLogger(__name__)

FIRST_SEARCH_S = 3.0
SEARCH_AGAIN_S = 600.0
CLOSE_BOUND_S = 1.0


class Finder:
    """One engine's announcement and searches, in a task of the loop until closed."""

    def __init__(self, engine: Engine, book: PeerBook) -> None:
        self.found: tuple[Peer, ...] = ()
        self.on_found: Callable[[tuple[Peer, ...]], None] | None = None
        self._scope = engine.config.scope
        address = engine.info().address
        self._myself = Peer(address.text, address.port)
        self._book = book
        self._task: asyncio.Task[None] | None = None

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._task = loop.create_task(self._run())

    async def close(self) -> None:
        """Takes the announcement back, within a bound. Harmless when done twice."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task], timeout=CLOSE_BOUND_S)

    async def _run(self) -> None:
        # zeroconf takes a tenth of a second to load: later than the first window, not before it.
        from transport.discovery import Announcement  # noqa: PLC0415

        try:
            announcement = await Announcement.start(self._scope, self._myself)
        except TransportError as problem:
            log.warning("others are not searched by mDNS: %s", problem.described)
            return
        try:
            while True:
                await self._search()
                await asyncio.sleep(SEARCH_AGAIN_S)
        except TransportError as problem:
            log.warning("others are not searched by mDNS any more: %s", problem.described)
        finally:
            await announcement.close()

    async def _search(self) -> None:
        from transport.discovery import find_peers  # noqa: PLC0415 - as above

        found = await find_peers(self._scope, self._myself.address, find_s=FIRST_SEARCH_S)
        self.found = choose_peers(found, myself=self._myself)
        if self.found:
            log.info("found by mDNS: %d", len(self.found))
            self._book.remember(self._scope, self.found)
            if self.on_found is not None:
                self.on_found(self.found)
