"""Engines on real sockets meet without multicast: whoever starts when, whoever knows whom."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.transport.network import GROUP_ID, KEY, Recorder, in_one_view, loopback, until
from transport.config import EngineConfig, Peer
from transport.engine import Engine
from transport.errors import BadArgument, Closed
from transport.events import Health
from transport.finder import Finder
from transport.loop import AsyncioWatcher, EngineJoin
from transport.peer_book import PeerBook

HERE = "127.0.0.1"


def free_ports(count: int) -> list[int]:
    """Ports that nobody has at the moment."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    try:
        for each in sockets:
            each.bind((HERE, 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def place(engine: Engine) -> Peer:
    address = engine.info().address
    return Peer(address.text, address.port)


@asynccontextmanager
async def started(configs: Sequence[EngineConfig]) -> AsyncIterator[list[Engine]]:
    """Engines that are opened one right after the other, and not waited for."""
    engines: list[Engine] = []
    try:
        for config in configs:
            engines.append(Engine.open(config))
            EngineJoin(engines[-1], AsyncioWatcher())
        yield engines
    finally:
        for engine in engines:
            engine.destroy()


def run(story: Callable[[], object]) -> None:
    asyncio.run(asyncio.wait_for(story(), 60))  # type: ignore[arg-type]


async def talk(engines: Sequence[Engine]) -> None:
    """All come into one view, and what each says is heard by all."""
    recorders = [Recorder(engine.join(GROUP_ID, KEY)) for engine in engines]
    await until(in_one_view(recorders))
    for recorder in recorders:
        recorder.send(b"hello")
    await until(lambda: all(each.has_everything_of(recorders) for each in recorders))
    assert sum(engine.health is Health.HOST for engine in engines) == 1


@pytest.mark.parametrize("knowledge", ["both", "first", "second"])
def test_two_that_start_at_once_without_multicast_meet(knowledge: str) -> None:
    async def story() -> None:
        first, second = (Peer(HERE, port) for port in free_ports(2))
        config = loopback(multicast=False)
        configs = [
            replace(config, port=first.port, known_peers=(second,)),
            replace(config, port=second.port, known_peers=(first,)),
        ]
        if knowledge != "both":
            stranger = 1 if knowledge == "first" else 0
            configs[stranger] = replace(configs[stranger], known_peers=())
        async with started(configs) as engines:
            await talk(engines)

    run(story)


def test_running_engines_meet_when_one_is_told_of_the_other() -> None:
    async def story() -> None:
        async with started([loopback(multicast=False)] * 3) as engines:
            for engine in engines:
                assert await engine.ready() is Health.HOST
            engines[0].add_peer(place(engines[1]))
            engines[2].add_peer(place(engines[0]))
            await talk(engines)

    run(story)


def test_what_mdns_finds_is_used_by_the_running_engine(tmp_path: Path) -> None:
    async def story() -> None:
        loop = asyncio.get_running_loop()
        async with started([loopback(multicast=False)] * 2) as engines:
            for engine in engines:
                await engine.ready()
            # The second one is announced when the first has been looking out for a while.
            finders = [
                Finder(engine, PeerBook(tmp_path / f"{number}"))
                for number, engine in enumerate(engines)
            ]
            finders[0].start(loop)
            await asyncio.sleep(0.5)
            finders[1].start(loop)
            await talk(engines)
            await until(lambda: bool(PeerBook(tmp_path / "0").peers(engines[0].config.scope)))
            for finder in finders:
                await finder.close()

    run(story)


def test_one_that_insists_becomes_host_and_the_others_stay_together() -> None:
    async def story() -> None:
        config = loopback()
        async with started([config, replace(config, insists_to_host=True)]) as engines:
            await until(lambda: engines[1].health is Health.HOST)
            await talk(engines)
            assert engines[1].health is Health.HOST

    run(story)


def test_useless_peers_are_refused_or_harmless() -> None:
    async def story() -> None:
        async with started([loopback()]) as (engine,):
            engine.add_peer(place(engine))
            with pytest.raises(BadArgument):
                engine.add_peer(Peer("fd00::1", 4711))
            for port in range(20000, 20100):
                engine.add_peer(Peer(HERE, port))
            assert await engine.ready() is Health.HOST
            engine.destroy()
            with pytest.raises(Closed):
                engine.add_peer(Peer(HERE, 4711))

    run(story)
    with pytest.raises(BadArgument):
        loopback(may_host=False, insists_to_host=True)
