"""What transport offers to coroutines, on the loops that Qt drives: qasync's own, and ours."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import qasync

from app.event_loop import EventLoop
from tests.transport.network import GROUP_ID, KEY, loopback
from transport.engine import Engine
from transport.loop import AsyncioWatcher, EngineJoin


async def speak_and_listen() -> list[bytes]:
    """Two engines in one loop; gives what the second has heard of the first."""
    config = loopback()
    engines = [Engine.open(config), Engine.open(config)]
    for engine in engines:
        EngineJoin(engine, AsyncioWatcher())
        await engine.ready()
    first, second = (engine.join(GROUP_ID, KEY) for engine in engines)
    async with second.views() as views, second.deliveries(3000) as deliveries:
        async for view in views:
            if len(view.members) == 2:
                break
        await first.joined()
        # More than the queue of a group takes: sending has to wait for room.
        sending = asyncio.create_task(send(first, 3000))
        heard = [bytes((await anext(deliveries)).data) for _ in range(3000)]
        await sending
    for engine in engines:
        assert await engine.close()
    return heard


async def send(group: Any, count: int) -> None:
    for number in range(count):
        await group.send_soon(b"%d" % number)


@pytest.mark.parametrize("make_loop", [qasync.QEventLoop, EventLoop])
def test_engines_run_on_loops_that_qt_drives(qapp: Any, make_loop: Any) -> None:
    loop = make_loop(qapp)
    try:
        heard = loop.run_until_complete(asyncio.wait_for(speak_and_listen(), 60))
    finally:
        loop.close()
    assert heard == [b"%d" % number for number in range(3000)]
