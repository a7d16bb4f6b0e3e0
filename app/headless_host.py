"""A host of live objects without a window: engine, keys, streams and storage of one profile."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.network_profile import NetworkProfile
from app.network_wishes import NetworkWishes
from app.paths import Paths
from app.scope_care import ScopeCare
from liveobj.host import Host, Person
from transport.engine import Engine
from transport.finder import Finder
from transport.key_rotation import KeyRotation
from transport.link_watch import LinkWatch
from transport.loop import AsyncioWatcher, EngineJoin
from transport.streams import LoopStreams


@asynccontextmanager
async def headless_host(paths: Paths, wishes: NetworkWishes, name: str) -> AsyncIterator[Host]:
    """The host, for as long as it is used; others see it under that name."""
    loop = asyncio.get_running_loop()
    profile = NetworkProfile.of(paths)
    scope = profile.scope()
    engine = Engine.open(wishes.config(scope, profile.book().peers(scope)))
    try:
        watcher = AsyncioWatcher()
        EngineJoin(engine, watcher)
        keys = KeyRotation(engine, watcher.call_at, time.monotonic, time.time)
        streams = LoopStreams(loop, engine.info().address.text, os.urandom)
        await streams.start()
        finder = Finder(engine, profile.book())
        finder.start(loop)
        care: ScopeCare | None = None
        moving: set[asyncio.Task[None]] = set()

        def on_moved() -> None:
            finder.move()
            if care is not None:
                care.move()
            task = loop.create_task(streams.move(engine.info().address.text))
            moving.add(task)
            task.add_done_callback(moving.discard)

        links = LinkWatch(engine, watcher, time.monotonic, on_moved)
        if scope.private:
            care = ScopeCare(engine, profile, watcher.call_at, lambda: name)
            care.start(loop, engine.config.known_peers, finder)
        try:
            yield Host(
                engine,
                paths.objects,
                Person(name),
                loop,
                os.urandom,
                wall_time=time.time,
                identity=profile.identity(),
                streams=streams,
                watch_readable=watcher.watch_readable,
            )
        finally:
            links.close()
            keys.close()
            if care is not None:
                await care.close()
            await finder.close()
            await streams.close()
    finally:
        await engine.close()
