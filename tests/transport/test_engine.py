"""Engines on real sockets: two of them in one process, on the loopback interface, under asyncio."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest

from tests.transport.network import GROUP_ID, KEY, in_one_view, loopback, meet, run, running, until
from transport.config import Faults, Peer, Tuning
from transport.engine import Engine
from transport.errors import Closed
from transport.events import Health
from transport.interfaces import Network
from transport.loop import AsyncioWatcher, EngineJoin


def test_two_engines_meet_and_talk() -> None:
    async def story() -> None:
        config = loopback()
        async with running(config, config) as engines:
            network: Network = engines[0]
            assert network.node == engines[0].node
            recorders = await meet(engines)
            for number in range(300):
                for recorder in recorders:
                    recorder.send(b"%d" % number)
            await until(lambda: all(reader.has_everything_of(recorders) for reader in recorders))
            assert sorted(engine.health for engine in engines) == [Health.MEMBER, Health.HOST]

    run(story())


def test_engines_that_start_at_the_same_moment_find_one_host() -> None:
    async def story() -> None:
        config = loopback()
        engines = [Engine.open(config) for _ in range(3)]
        try:
            for engine in engines:
                EngineJoin(engine, AsyncioWatcher())
            recorders = await meet(engines)
            recorders[0].send(b"hello")
            await until(lambda: all(reader.of(recorders[0]) == [b"hello"] for reader in recorders))
            assert sorted(engine.health for engine in engines)[1:] == [Health.MEMBER, Health.HOST]
        finally:
            for engine in engines:
                engine.destroy()

    run(story())


def test_losses_on_the_way_are_repaired() -> None:
    async def story() -> None:
        config = loopback(faults=Faults(drop_in_per_mille=100, drop_out_per_mille=50))
        async with running(config, config) as engines:
            recorders = await meet(engines)
            for number in range(100):
                for recorder in recorders:
                    recorder.send(b"%d" % number * 50)
            await until(lambda: all(reader.has_everything_of(recorders) for reader in recorders))

    run(story())


def test_feed_is_pulled_late_so_that_changes_merge() -> None:
    async def story() -> None:
        config = loopback()
        async with running(config, config) as engines:
            alice, bob = await meet(engines)
            pulled: list[int] = []
            changes = 0

            class Merging:
                def pull(self, bytes_max: int) -> bytes | None:
                    nonlocal changes
                    if not changes:
                        return None
                    pulled.append(changes)
                    changes = 0
                    return b"merged"

            feed = Merging()
            for _ in range(100):
                changes += 1
                alice.group.offer(feed)
            await until(lambda: bob.of(alice) == [b"merged"])
            assert pulled == [100]

    run(story())


def test_wakes_only_when_there_is_something_to_do() -> None:
    async def story() -> None:
        async with running(loopback()) as (engine,):
            await engine.ready()
            group = engine.join(GROUP_ID, KEY)
            await group.joined()
            await asyncio.sleep(0.3)
            started_s, cpu_s = time.monotonic(), time.process_time()
            await asyncio.sleep(1.0)
            share = (time.process_time() - cpu_s) / (time.monotonic() - started_s)
            assert share < 0.02, f"an idle engine used {share:.1%} of a core"

    run(story())


def test_departure_is_seen_at_once() -> None:
    async def story() -> None:
        # A silent member would be missed after this time, which no busy machine comes near.
        config = loopback(tuning=Tuning(failure_s=30))
        async with running(config, config) as engines:
            bob, alice = await meet(engines)
            started_s = time.monotonic()
            assert await engines[1].close()
            await until(in_one_view([bob]))
            assert time.monotonic() - started_s < 15
            assert engines[1].closed
            with pytest.raises(Closed):
                alice.group.send(b"late")

    run(story())


def test_departure_of_the_host_leaves_a_host_and_a_view_behind() -> None:
    async def story() -> None:
        config = loopback()
        async with running(config, config) as engines:
            _, bob = await meet(engines)
            assert engines[0].health is Health.HOST
            assert await engines[0].close()
            await until(lambda: engines[1].health is Health.HOST)
            await until(in_one_view([bob]))

    run(story())


def test_configuration_without_multicast_is_unicast_only() -> None:
    async def story() -> None:
        first = loopback(multicast=False)
        engine = Engine.open(first)
        EngineJoin(engine, AsyncioWatcher())
        await engine.ready()
        address = engine.info().address
        second = replace(first, known_peers=(Peer(address.text, address.port),))
        try:
            async with running(second) as (other,):
                recorders = await meet([engine, other])
                recorders[0].send(b"by unicast")
                await until(lambda: recorders[1].has_everything_of([recorders[0]]))
        finally:
            engine.destroy()

    run(story())


def test_engines_meet_by_a_typed_address_without_multicast() -> None:
    async def story() -> None:
        first = loopback(multicast=False)
        async with running(first) as (engine,):
            await engine.ready()
            address = engine.info().address
            second = replace(first, known_peers=(Peer(address.text, address.port),))
            async with running(second) as (other,):
                recorders = await meet([engine, other])
                for number in range(100):
                    recorders[0].send(b"by unicast %d" % number)
                await until(lambda: recorders[1].has_everything_of([recorders[0]]))
                assert other.info().multicast is False

    run(story())
