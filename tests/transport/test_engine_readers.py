"""Coroutines at engines on real sockets: they read deliveries and views, and wait for room."""

from __future__ import annotations

import asyncio

import pytest

from tests.transport.network import GROUP_ID, KEY, loopback, meet, run, running, until
from transport import binding
from transport.engine import Engine
from transport.errors import BackPressure, Closed, Overrun


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
