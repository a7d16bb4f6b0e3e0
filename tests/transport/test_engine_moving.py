"""An engine that goes on with other sockets, as its computer comes to another network."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
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
    until,
)
from transport.config import Peer
from transport.engine import Engine
from transport.errors import BackPressure, NoInterface, WrongMoment
from transport.group import Group
from transport.link_watch import wants_move
from transport.links import Kind, Link
from transport.loop import AsyncioWatcher, EngineJoin

CABLE = Link("eth0", Kind.WIRED, True, True, True, "10.0.0.7")
WIFI = Link("wlan0", Kind.WIRELESS, True, True, True, "10.0.0.8")
BRIDGE = Link("docker0", Kind.VIRTUAL, True, True, True, "172.17.0.1")
LOOPBACK = Link("lo", Kind.LOOPBACK, True, True, False, "127.0.0.1")
UNPLUGGED = replace(CABLE, running=False)


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 60))


def fill(group: Group) -> None:
    """Sends until there is no room."""
    while True:
        try:
            group.send(bytes(60_000))
        except BackPressure:
            return


def test_moved_engine_is_somebody_new_in_the_same_groups() -> None:
    async def story() -> None:
        config = loopback()
        engines = [Engine.open(config), Engine.open(config)]
        for engine in engines:
            EngineJoin(engine, AsyncioWatcher())
        recorders = [Recorder(engine.join(GROUP_ID, KEY)) for engine in engines]
        await until(in_one_view(recorders))
        mover, other = engines
        before = (mover.node, mover.info().address.port, open_descriptors())
        feed = Queue([b"asked after it"])
        recorders[0].group.offer(feed)
        mover.move()
        assert open_descriptors() == before[2]
        await until(lambda: in_one_view(recorders)() and mover.node != before[0])
        assert mover.info().address.port != before[1]
        recorders[0].send(b"from the new place")
        recorders[1].send(b"to it")
        await until(lambda: (other.node, b"to it") in recorders[0].messages)
        await until(lambda: b"from the new place" in recorders[1].of(recorders[0]))
        # The feed was asked at the new place; whether it met the other there yet is another matter.
        assert recorders[0].of(recorders[0])[0] == b"asked after it"
        for engine in engines:
            assert await engine.close()

    run(story())


def test_moved_engine_has_the_keys_of_its_scope_and_epoch_and_whom_it_knew() -> None:
    async def story() -> None:
        config, key = loopback(multicast=False), os.urandom(32)
        mover = Engine.open(config)
        renewed = replace(config, scope=replace(config.scope, key=key))
        other = Engine.open(renewed)
        for engine in (mover, other):
            EngineJoin(engine, AsyncioWatcher())
            engine.use_epoch(7)
        mover.add_scope_key(key)
        mover.use_scope_key(key)
        mover.drop_scope_key(config.scope.key)
        there = other.info().address
        mover.add_peer(Peer(there.text, there.port))
        recorders = [Recorder(engine.join(GROUP_ID, KEY)) for engine in (mover, other)]
        await until(in_one_view(recorders))
        mover.move()
        node = mover.node
        await until(lambda: in_one_view(recorders)() and node == mover.node)
        recorders[1].send(b"sealed in epoch 7, under the new key")
        await until(lambda: recorders[0].has_everything_of([recorders[1]]))
        for engine in (mover, other):
            await engine.close()

    run(story())


def test_whoever_waits_for_room_goes_on_after_a_move() -> None:
    async def story() -> None:
        engine = Engine.open(loopback())  # No loop steps it: its queue stays full.
        group = engine.join(GROUP_ID, KEY)
        fill(group)
        waiting = asyncio.create_task(group.send_soon(b"later"))
        await asyncio.sleep(0)
        engine.move()
        await asyncio.wait_for(waiting, 5)
        engine.destroy()

    run(story())


def test_engine_that_cannot_move_stays() -> None:
    engine = Engine.open(loopback())
    group = engine.join(GROUP_ID, KEY)
    before = (engine.node, engine.info().address)
    engine.wanted = replace(engine.wanted, interface="nosuch0")
    with pytest.raises(NoInterface):
        engine.move()
    assert (engine.node, engine.info().address) == before
    group.send(b"still here")
    engine.depart()
    with pytest.raises(WrongMoment):
        engine.move()
    engine.destroy()


@pytest.mark.parametrize(
    ("wanted", "used", "address", "links", "moves"),
    [
        ("", "lo", "127.0.0.1", [LOOPBACK], False),
        ("", "lo", "127.0.0.1", [LOOPBACK, WIFI], True),
        ("", "lo", "127.0.0.1", [LOOPBACK, BRIDGE], False),
        ("", "lo", "127.0.0.1", [LOOPBACK, replace(WIFI, address="")], False),
        ("lo", "lo", "127.0.0.1", [LOOPBACK, WIFI], False),
        ("", "eth0", "10.0.0.7", [LOOPBACK, CABLE, WIFI], False),
        ("", "eth0", "10.0.0.9", [LOOPBACK, CABLE], True),
        ("eth0", "eth0", "10.0.0.9", [LOOPBACK, CABLE], True),
        ("10.0.0.9", "eth0", "10.0.0.9", [LOOPBACK, CABLE], False),
        ("", "eth0", "10.0.0.7", [LOOPBACK, UNPLUGGED], False),
        ("", "eth0", "10.0.0.7", [LOOPBACK], False),
        ("", "eth0", "10.0.0.7", [LOOPBACK, UNPLUGGED, WIFI], True),
        ("eth0", "eth0", "10.0.0.7", [LOOPBACK, UNPLUGGED, WIFI], False),
        ("", "eth0", "10.0.0.7", [], False),
    ],
)
def test_when_an_engine_moves(
    wanted: str, used: str, address: str, links: list[Link], moves: bool
) -> None:
    assert wants_move(wanted, used, address, used == "lo", links) is moves
