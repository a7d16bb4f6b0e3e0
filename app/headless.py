"""Running without a window: plain asyncio until SIGTERM or SIGINT, problems in one sentence."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Awaitable, Callable

from app.errors import StartProblem
from transport.errors import TransportError

# Works until the event is set, then ends cleanly.
Work = Callable[[asyncio.Event], Awaitable[int]]


def run_until_ended(work: Work) -> int:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    try:
        return asyncio.run(_run(work))
    except TransportError as problem:
        raise StartProblem(str(problem)) from None


async def _run(work: Work) -> int:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, ended.set)
    return await work(ended)
