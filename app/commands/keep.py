"""`live-objects keep FILE…`: a member without a window that keeps objects alive and on disk.

Whoever opens a kept object later has what was written while nobody else was there. Plain asyncio;
ends cleanly on SIGTERM and SIGINT.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from pathlib import Path

from app.errors import StartProblem
from app.headless import run_until_ended
from app.network_profile import NetworkProfile
from app.paths import Paths, find_paths
from liveobj.host import Host, Person
from liveobj.keeping import Keeper
from transport.config import EngineConfig
from transport.engine import Engine
from transport.key_rotation import KeyRotation
from transport.loop import AsyncioWatcher, EngineJoin
from transport.peer_book import choose_peers
from transport.streams import LoopStreams


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("files", metavar="FILE", type=Path, nargs="+", help="reference files of what is to be kept")
    add("--interface", metavar="ADDR", default="", help="network interface, by name or address")
    add("--name", metavar="NAME", default="Keeper", help="how the others see it")
    add("--state-dir", metavar="DIR", type=Path, help="keep everything below this folder")


def run(arguments: argparse.Namespace) -> int:
    missing = [file for file in arguments.files if not file.is_file()]
    if missing:
        raise StartProblem(f"There is no file {str(missing[0])!r} to keep.")
    paths = find_paths(os.environ, arguments.state_dir)
    paths.make()
    return run_until_ended(lambda ended: _keep(arguments, paths, ended))


async def _keep(arguments: argparse.Namespace, paths: Paths, ended: asyncio.Event) -> int:
    loop = asyncio.get_running_loop()
    profile = NetworkProfile.of(paths)
    scope = profile.scope()
    peers = choose_peers([], profile.book().peers(scope))
    engine = Engine.open(
        EngineConfig(scope=scope, interface=arguments.interface, known_peers=peers)
    )
    try:
        watcher = AsyncioWatcher()
        EngineJoin(engine, watcher)
        keys = KeyRotation(engine, watcher.call_at, time.monotonic, time.time)
        person = Person(arguments.name)
        streams = LoopStreams(loop, engine.info().address.text, os.urandom)
        await streams.start()
        host = Host(
            engine,
            paths.objects,
            person,
            loop,
            os.urandom,
            wall_time=time.time,
            identity=profile.identity(),
            streams=streams,
            watch_readable=watcher.watch_readable,
        )
        keeper = Keeper(host, [file.resolve() for file in arguments.files])
        try:
            for kept in keeper.state():
                sys.stdout.write(f"{kept.path}: {kept.sentence}\n")
            sys.stdout.flush()
            await ended.wait()
        finally:
            keeper.close()
            keys.close()
            await streams.close()
    finally:
        await engine.close()
    return 0
