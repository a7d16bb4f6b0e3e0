"""A host of live objects without a window: engine, keys, streams and storage of one profile."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from app.errors import StartProblem
from app.headless_network import HeadlessNetwork
from app.line_server import claim
from app.loop_background import LoopBackground
from app.network_profile import NetworkProfile
from app.network_report import host_socket
from app.network_wishes import NetworkWishes
from app.paths import Paths
from app.settings import load_settings
from liveobj.host import Host, Person
from transport.engine import Engine
from transport.key_rotation import KeyRotation
from transport.loop import AsyncioWatcher
from transport.streams import LoopStreams


@asynccontextmanager
async def headless_host(paths: Paths, wishes: NetworkWishes, name: str) -> AsyncIterator[Host]:
    """The host, for as long as it is used; others see it under that name. The first one of a
    profile is the one that scripts ask about the network."""
    loop = asyncio.get_running_loop()
    profile = NetworkProfile.of(paths)
    scope = profile.scope()
    moving: set[asyncio.Task[None]] = set()

    def on_moved(address: str) -> None:
        task = loop.create_task(streams.move(address))
        moving.add(task)
        task.add_done_callback(moving.discard)

    network = HeadlessNetwork(
        _free_socket(paths),
        lambda: name,
        log_events=load_settings(paths.settings).event_log,
        on_moved=on_moved,
    )
    background = LoopBackground(loop)
    engine = Engine.open(wishes.config(scope, profile.book().peers(scope)))
    try:
        watcher = AsyncioWatcher()
        keys = KeyRotation(engine, watcher.call_at, time.monotonic, time.time)
        streams = LoopStreams(loop, engine.info().address.text, os.urandom)
        async with network.around(engine, profile):
            await streams.start()
            try:
                host = Host(
                    engine,
                    paths.objects,
                    Person(name),
                    loop,
                    os.urandom,
                    wall_time=time.time,
                    identity=profile.identity(),
                    streams=streams,
                    watch_readable=watcher.watch_readable,
                    in_background=background,
                )
                engine.on_new_identity = lambda: host.new_identity.notify(None)
                yield host
            finally:
                keys.close()
                background.close()
                await streams.close()
    finally:
        await engine.close()


def _free_socket(paths: Paths) -> Path | None:
    try:
        claim(host_socket(paths))
    except StartProblem:
        return None
    return host_socket(paths)
