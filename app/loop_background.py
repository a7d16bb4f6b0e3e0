"""Work that would hold an event loop up, such as waiting for the disk: in a thread of its own, one
piece after another, for programs without a window."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

Done = Callable[[Exception | None], None]


class LoopBackground:
    """Called with the work, and with who is called of its end, in the thread of the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._pool = ThreadPoolExecutor(1, "background")
        self._closed = False

    def __call__(self, work: Callable[[], None], done: Done) -> None:
        self._pool.submit(self._run, work, done)

    def close(self) -> None:
        """Waits until all that was asked for is done; nobody is called any more."""
        self._closed = True
        self._pool.shutdown(wait=True)

    def _finish(self, done: Done, problem: Exception | None) -> None:
        if not self._closed:
            done(problem)

    # In the thread

    def _run(self, work: Callable[[], None], done: Done) -> None:
        problem: Exception | None = None
        try:
            work()
        except Exception as raised:
            problem = raised
        self._loop.call_soon_threadsafe(self._finish, done, problem)
