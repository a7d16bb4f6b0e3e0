"""Engines on real sockets: two of them in one process, on the loopback interface, under asyncio."""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
import time
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.transport.network import (
    GROUP_ID,
    KEY,
    Queue,
    Recorder,
    in_one_view,
    loopback,
    open_descriptors,
    running,
    until,
)
from transport import binding
from transport.config import EngineConfig, Faults, Peer, Tuning
from transport.engine import Engine
from transport.errors import (
    BackPressure,
    BadArgument,
    Closed,
    EnvironmentRefused,
    NoInterface,
    Overrun,
    PortInUse,
    TransportError,
    ViewKept,
    WrongMoment,
)
from transport.events import Health
from transport.interfaces import Delivery, Network
from transport.loop import AsyncioWatcher, EngineJoin


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 40))


async def meet(engines: Sequence[Engine]) -> list[Recorder]:
    recorders = [Recorder(engine.join(GROUP_ID, KEY)) for engine in engines]
    await until(in_one_view(recorders))
    return recorders


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


# Reading with coroutines


def test_deliveries_and_views_can_be_iterated() -> None:
    async def story() -> None:
        config = loopback()
        async with running(config, config) as engines:
            alice, bob = (engine.join(GROUP_ID, KEY) for engine in engines)
            async with bob.views() as views:
                async for view in views:
                    if len(view.members) == 2:
                        break
            assert await bob.joined() == bob.view
            async with bob.deliveries() as deliveries:
                for number in range(10):
                    alice.send(b"%d" % number)
                read = [await anext(deliveries) for _ in range(10)]
            assert [bytes(delivery.data) for delivery in read] == [b"%d" % n for n in range(10)]
            assert {delivery.sender for delivery in read} == {alice.me}

    run(story())


def test_reader_that_falls_behind_is_told() -> None:
    async def story() -> None:
        async with running(loopback()) as (engine,):
            (alice,) = await meet([engine])
            reader = alice.group.deliveries(messages_max=5)
            for number in range(10):
                alice.send(b"%d" % number)
            await until(lambda: len(alice.messages) == 10)
            assert [bytes((await anext(reader)).data) for _ in range(5)] == alice.sent[:5]
            with pytest.raises(Overrun):
                await anext(reader)

    run(story())


def test_readers_end_when_the_group_is_left_and_fail_when_the_engine_closes() -> None:
    async def story() -> None:
        async with running(loopback()) as (engine,):
            (alice,) = await meet([engine])
            other = engine.join(b"o" * 16, KEY)
            left, lost = alice.group.deliveries(), other.deliveries()
            alice.group.leave()
            assert [delivery async for delivery in left] == []
            await engine.close()
            with pytest.raises(Closed):
                await anext(lost)

    run(story())


# Back-pressure


def test_sender_can_wait_for_room() -> None:
    async def story() -> None:
        config = loopback()
        async with running(config, config) as engines:
            alice, bob = await meet(engines)
            refused = 0
            for number in range(5000):
                data = b"%d" % number
                try:
                    alice.group.send(data)
                except BackPressure:
                    refused += 1
                    await alice.group.send_soon(data)
                alice.sent.append(data)
            await alice.group.drain()
            assert refused > 0
            await until(lambda: bob.has_everything_of([alice]))

    run(story())


def test_whoever_waits_for_room_is_told_when_the_group_is_left() -> None:
    async def story() -> None:
        engine = Engine.open(loopback())  # and nobody steps it
        group = engine.join(GROUP_ID, KEY)
        for _ in range(binding.SEND_QUEUE_MAX):
            group.send(b"x")
        waiting = asyncio.create_task(group.send_soon(b"x"))
        await asyncio.sleep(0)
        group.leave()
        with pytest.raises(Closed):
            await waiting
        engine.destroy()

    run(story())


# Lifetimes


def test_lent_data_is_released_after_the_callback() -> None:
    async def story() -> None:
        async with running(loopback()) as (engine,):
            (alice,) = await meet([engine])
            kept: list[memoryview] = []
            alice.group.on_deliveries = lambda batch: kept.extend(item.data for item in batch)
            alice.send(b"lent")
            await until(lambda: bool(kept))
            with pytest.raises(ValueError, match="released"):
                bytes(kept[0])

    run(story())


def test_part_that_is_kept_is_reported_and_never_freed_under_its_holder(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> None:
        async with running(loopback()) as (engine,):
            (alice,) = await meet([engine])
            errors: list[TransportError] = []
            kept: list[memoryview] = []

            def keep(batch: Sequence[Delivery]) -> None:
                if not kept:
                    kept.append(batch[0].data[2:4])
                alice.messages += [(item.sender, bytes(item.data)) for item in batch]

            alice.group.on_error = errors.append
            alice.group.on_deliveries = keep
            alice.send(b"a slice of this")
            for number in range(200):
                alice.send(b"%d" % number * 100)
            await until(lambda: alice.has_everything_of([alice]))
            assert bytes(kept[0]) == b"sl"
            assert [type(error) for error in errors] == [ViewKept]
            kept.append(memoryview(b""))
            del kept[0]
            alice.send(b"the next turn frees it")
            await until(lambda: alice.has_everything_of([alice]))
            assert engine.loans_returned()

    with caplog.at_level(logging.ERROR):
        run(story())
    assert "kept" in caplog.text


def test_step_inside_a_callback_goes_on_in_order() -> None:
    """What a nested event loop does: a dialog opened by a callback, a drag."""

    async def story() -> None:
        config = loopback()
        async with running(config, config) as engines:
            alice, bob = await meet(engines)
            nested: list[int] = []

            def nest(batch: Sequence[Delivery]) -> None:
                copies = [(item.sender, bytes(item.data)) for item in batch]
                bob.messages += copies
                if len(nested) < 3:
                    nested.append(len(batch))
                    for engine in engines:
                        engine.step(0.001)
                    assert [bytes(item.data) for item in batch] == [data for _, data in copies]

            bob.group.on_deliveries = nest
            for number in range(500):
                alice.send(b"%d" % number)
            await until(lambda: bob.has_everything_of([alice]))
            assert nested

    run(story())


# Opening and closing


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


def test_closed_engine_refuses_everything_and_leaves_no_descriptor() -> None:
    before = open_descriptors()
    engine = Engine.open(loopback())
    assert open_descriptors() > before
    group = engine.join(GROUP_ID, KEY)
    assert engine.close_blocking()
    assert engine.close_blocking()
    engine.destroy()
    assert open_descriptors() == before
    assert engine.health is Health.CLOSED
    assert engine.node != 0
    for call in (
        engine.step,
        engine.descriptors,
        engine.counters,
        engine.info,
        engine.depart,
        lambda: engine.join(GROUP_ID, KEY),
        lambda: group.send(b"late"),
    ):
        with pytest.raises(Closed):
            call()


def test_closing_is_bounded_and_says_when_it_was_not_clean() -> None:
    async def story() -> None:
        config = loopback(tuning=Tuning(failure_s=30))  # an unbounded close would take as long
        async with running(config, config) as engines:
            await meet(engines)
            host = next(engine for engine in engines if engine.health is Health.HOST)
            member = next(engine for engine in engines if engine.health is Health.MEMBER)
            host.destroy()
            started_s = time.monotonic()
            await member.close(bound_s=0.05)
            assert time.monotonic() - started_s < 10
            assert member.closed

    run(story())


def test_callback_cannot_destroy_the_engine_that_calls_it() -> None:
    async def story() -> None:
        async with running(loopback()) as (engine,):
            (alice,) = await meet([engine])
            refused: list[bool] = []

            def destroy(batch: Sequence[Delivery]) -> None:
                with pytest.raises(WrongMoment):
                    engine.destroy()
                refused.append(True)

            alice.group.on_deliveries = destroy
            alice.send(b"x")
            await until(lambda: bool(refused))

    run(story())


def test_feed_cannot_step_or_close_the_engine() -> None:
    async def story() -> None:
        async with running(loopback()) as (engine,):
            await engine.ready()
            group = engine.join(GROUP_ID, KEY)
            refused: list[bool] = []

            class Meddling(Queue):
                def pull(self, bytes_max: int) -> bytes | None:
                    for call in (engine.step, engine.depart):
                        with pytest.raises(WrongMoment):
                            call()
                        refused.append(True)
                    return None

            group.offer(Meddling())
            await until(lambda: len(refused) == 2)

    run(story())


def test_closing_the_engine_takes_its_join_out_of_the_loop() -> None:
    async def story() -> None:
        engine = Engine.open(loopback())
        join = EngineJoin(engine, AsyncioWatcher())
        await engine.ready()
        await engine.close()
        assert join.closed
        await asyncio.sleep(0)

    run(story())


def test_waiting_for_admission_ends_when_the_engine_closes() -> None:
    async def story() -> None:
        engine = Engine.open(loopback(may_host=False))
        EngineJoin(engine, AsyncioWatcher())
        waiting = asyncio.create_task(engine.ready())
        await asyncio.sleep(0.01)
        engine.destroy()
        with pytest.raises(Closed):
            await waiting

    run(story())


def test_busy_port_is_one_clear_sentence() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(PortInUse) as caught:
            Engine.open(loopback(port=port))
    assert str(port) in str(caught.value)
    assert caught.value.details["port"] == port
    assert isinstance(caught.value, EnvironmentRefused)


def test_missing_interface_is_one_clear_sentence() -> None:
    with pytest.raises(NoInterface) as caught:
        Engine.open(loopback(interface="nosuch0"))
    assert "nosuch0" in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    "tuning", [Tuning(ring_size_max=1), Tuning(datagram_bytes_max=100), Tuning(ring_size_max=10**6)]
)
def test_tuning_out_of_bounds_is_refused(tuning: Tuning) -> None:
    with pytest.raises(BadArgument):
        Engine.open(loopback(tuning=tuning))


def test_failed_opening_leaves_nothing_open() -> None:
    before = open_descriptors()
    for _ in range(20):
        with pytest.raises(NoInterface):
            Engine.open(loopback(interface="nosuch0"))
    assert open_descriptors() == before


def test_engine_says_what_it_runs_on() -> None:
    engine = Engine.open(loopback())
    try:
        info = engine.info()
        assert info.loopback
        assert info.interface == "lo"
        assert info.address.text == "127.0.0.1"
        assert info.address.port > 0
        assert info.rendezvous.multicast
        assert engine.regions() == []
        assert "Test" in repr(engine)
    finally:
        engine.destroy()


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


def test_many_engines_come_and_go_without_a_trace() -> None:
    gc.collect()
    before = open_descriptors()
    for _ in range(10):
        engine = Engine.open(loopback())
        engine.join(GROUP_ID, KEY).send(b"never heard")
        engine.step(0.001)
        engine.destroy()
    assert open_descriptors() == before


def test_default_configuration_is_nearby() -> None:
    assert EngineConfig().scope.name == "Nearby"
