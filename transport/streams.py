"""Contents between members over TCP, for those who know no event loop: offers, fetches, their end.

Everything runs in tasks of the loop that was given; nothing here blocks or waits.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from transport.bulk import BulkServer, fetch
from transport.errors import TransportError
from transport.interfaces import Fetching, StreamPlace
from transport.sealed_stream import SILENCE_S_MAX

log = logging.getLogger(__name__)


class LoopStreams:
    """`Streams` on the loop of a program; see `transport.interfaces`. `start` lets others ask this
    computer, `close` ends everything."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        address: str,
        random_bytes: Callable[[int], bytes],
    ) -> None:
        """`address` is the one at which the engine listens."""
        self._loop = loop
        self._address = address
        self._random_bytes = random_bytes
        self._server = BulkServer(random_bytes, SILENCE_S_MAX)
        self._place: StreamPlace | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def place(self) -> StreamPlace | None:
        return self._place

    async def start(self) -> None:
        """Begins to answer; without a port this computer can fetch, but is not asked."""
        try:
            await self._server.listen(self._address)
        except TransportError as error:
            log.warning("contents cannot be offered: %s", error.described)
            return
        self._place = StreamPlace(self._address, self._server.port)

    async def move(self, address: str) -> None:
        """This computer has another address: lets others ask there. What is on its way from here
        is asked for again by whoever wants it."""
        self._address = address
        self._place = None
        await self._server.close()
        await self.start()

    def offer(self, group_id: bytes, key: bytes, name: bytes, path: Path) -> None:
        self._server.offer_known(group_id, key, name, path)

    def withdraw(self, group_id: bytes, name: bytes | None = None) -> None:
        self._server.withdraw(group_id, name)

    def fetch(
        self,
        place: StreamPlace,
        group_id: bytes,
        key: bytes,
        name: bytes,
        destination: Path,
        size_max: int,
        progress: Callable[[int, int], None],
        done: Callable[[str], None],
    ) -> Fetching:
        async def run() -> None:
            try:
                await fetch(
                    place.address,
                    place.port,
                    group_id,
                    key,
                    name,
                    destination,
                    random_bytes=self._random_bytes,
                    size_max=size_max,
                    progress=progress,
                )
            except TransportError as error:
                log.info("a content did not come: %s", error.described)
                done(str(error))
            else:
                done("")

        task = self._loop.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return _TaskFetching(task)

    async def close(self) -> None:
        """Ends everything that is going on."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.close()


class _TaskFetching:
    def __init__(self, task: asyncio.Task[None]) -> None:
        self._task = task

    def cancel(self) -> None:
        self._task.cancel()
