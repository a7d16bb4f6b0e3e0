"""What ends when, on real sockets: lent data after its callback, an engine and all that uses it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence

import pytest

from tests.transport.network import (
    GROUP_ID,
    KEY,
    Queue,
    loopback,
    meet,
    open_descriptors,
    run,
    running,
    until,
)
from transport.config import Tuning
from transport.engine import Engine
from transport.errors import Closed, TransportError, ViewKept, WrongMoment
from transport.events import Health
from transport.interfaces import Delivery
from transport.loop import AsyncioWatcher, EngineJoin


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
