"""Paths that lose long datagrams and tell nobody: what is sent arrives all the same."""

from __future__ import annotations

import asyncio

from tests.transport.network import GROUP_ID, KEY, Recorder, in_one_view, loopback, until
from transport.config import Faults, Tuning
from transport.engine import Engine
from transport.events import HealthChanged
from transport.loop import AsyncioWatcher, EngineJoin
from transport.simulation import Simulation, all_admitted

# Frames of 1294 bytes, less the headers of Ethernet, IP and UDP.
PATH_BYTES = 1252
PASTES = [bytes([65 + number]) * 16_000 for number in range(3)]


def test_paste_arrives_over_sockets_that_lose_long_datagrams() -> None:
    async def story() -> None:
        # On loopback packets are as long as the system carries, unless somebody wants less.
        config = loopback(
            faults=Faults(drop_above_bytes=PATH_BYTES), tuning=Tuning(datagram_bytes_max=1400)
        )
        engines = [Engine.open(config) for _ in range(3)]
        changes: list[HealthChanged] = []
        for engine in engines:
            engine.on_health = changes.append
            EngineJoin(engine, AsyncioWatcher())
        recorders = [Recorder(engine.join(GROUP_ID, KEY)) for engine in engines]
        await until(in_one_view(recorders))
        for paste in PASTES:
            recorders[0].send(paste)
        received: list[bool] = []
        recorders[0].group.when_received(
            lambda: received.append(all(each.of(recorders[0]) == PASTES for each in recorders))
        )
        await until(lambda: all(each.of(recorders[0]) == PASTES for each in recorders))
        # The others ask again for what they lack, so the sender finds out why.
        await until(lambda: len(engines[0].short_paths()) == 2)
        assert engines[0].counters()["parts_sent"] > 0
        await until(lambda: bool(received))
        assert not any(change.problem for change in changes)
        for engine in engines:
            assert await engine.close()

    asyncio.run(asyncio.wait_for(story(), 60))


def test_what_a_short_path_carries_is_found_and_forgotten_when_it_carries_all() -> None:
    with Simulation(seed=3) as office:
        nodes = office.add_nodes(3)
        groups = [node.join(GROUP_ID, KEY) for node in nodes]
        assert office.run_until(
            lambda: all(group.view and len(group.view.members) == 3 for group in groups)
        )
        office.set_link(datagram_bytes_max=PATH_BYTES)
        nodes[0].probe_paths()
        office.run_for(4.0)
        found = nodes[0].short_paths()
        assert len(found) == 2
        assert all(PATH_BYTES - 4 <= path.bytes <= PATH_BYTES for path in found)
        assert nodes[1].short_paths() == []
        office.set_link(datagram_bytes_max=0)
        assert office.run_until(lambda: nodes[0].short_paths() == [])
        assert all_admitted(nodes)()
