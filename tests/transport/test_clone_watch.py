"""A machine that goes on from a snapshot, or as a clone, takes new ids before it sends anything."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Coroutine
from typing import Any

import pytest

from tests.transport.network import GROUP_ID, KEY, Recorder, in_one_view, loopback, until
from transport.clone_watch import JUMP_S, RENEWAL_PAUSE_S, CloneWatch, SnapshotSigns
from transport.engine import Engine
from transport.errors import BadArgument
from transport.events import HealthChanged, Reason
from transport.loop import AsyncioWatcher, EngineJoin
from transport.simulation import Simulation, all_admitted

DAY_S = 86_400.0


class Clocks:
    """The wall clock and the time since boot of a machine that the test drives."""

    def __init__(self) -> None:
        self.wall_s = 1_800_000_000.0
        self.boot_s = 5_000.0

    def wall(self) -> float:
        return self.wall_s

    def boot(self) -> float:
        return self.boot_s

    def pass_time(self, seconds: float) -> None:
        self.wall_s += seconds
        self.boot_s += seconds


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 60))


def test_jump_of_the_wall_clock_against_the_time_since_boot_is_a_sign() -> None:
    for jump_s in (DAY_S, -DAY_S, JUMP_S + 1, -JUMP_S - 1):
        signs = SnapshotSigns(1000.0, 10.0)
        assert not signs.clocks_jumped(1001.0, 11.0)
        assert signs.clocks_jumped(1002.0 + jump_s, 12.0)
        assert not signs.clocks_jumped(1003.0 + jump_s, 13.0)


def test_suspended_laptop_and_a_clock_that_drifts_are_no_sign() -> None:
    signs = SnapshotSigns(1000.0, 10.0)
    # Both clocks count the night in suspend; the time server moves the wall clock a little.
    assert not signs.clocks_jumped(1000.0 + DAY_S / 3, 10.0 + DAY_S / 3)
    assert not signs.clocks_jumped(1003.0 + DAY_S / 3, 11.0 + DAY_S / 3)
    for second in range(100):
        wall_s, boot_s = 1003.0 + DAY_S / 3 + 1.5 * second, 11.0 + DAY_S / 3 + second
        assert not signs.clocks_jumped(wall_s, boot_s)


def test_resumed_machine_is_somebody_new_in_the_same_groups() -> None:
    async def story() -> None:
        config, clocks = loopback(), Clocks()
        engines = [Engine.open(config), Engine.open(config)]
        watcher = AsyncioWatcher()
        joins = [EngineJoin(engine, watcher) for engine in engines]
        clone, other = engines
        watch = CloneWatch(clone, joins[0], watcher, clocks.wall, clocks.boot)
        renewals: list[int] = []
        changes: list[HealthChanged] = []
        clone.on_new_identity = lambda: renewals.append(clone.node)
        clone.on_health = changes.append
        recorders = [Recorder(engine.join(GROUP_ID, KEY)) for engine in engines]
        await until(in_one_view(recorders))
        before, place = clone.node, clone.info().address
        clocks.wall_s += DAY_S
        await until(lambda: clone.node != before)
        assert renewals == [clone.node]
        assert clone.info().address == place
        # The others hear nothing of it: the old id falls silent, as its twin may live on.
        await until(in_one_view(recorders))
        recorders[0].send(b"under the new id")
        recorders[1].send(b"to the new id")
        await until(lambda: b"under the new id" in recorders[1].of(recorders[0]))
        await until(lambda: (other.node, b"to the new id") in recorders[0].messages)
        assert Reason.RESUMED in [change.reason for change in changes]
        watch.close()
        for engine in engines:
            assert await engine.close()

    run(story())


def test_clock_that_jumps_again_and_again_causes_one_renewal_a_minute() -> None:
    async def story() -> None:
        engine, clocks = Engine.open(loopback()), Clocks()
        watcher = AsyncioWatcher()
        watch = CloneWatch(engine, EngineJoin(engine, watcher), watcher, clocks.wall, clocks.boot)
        renewals: list[int] = []
        engine.on_new_identity = lambda: renewals.append(engine.node)
        for _ in range(3 * int(RENEWAL_PAUSE_S)):
            clocks.pass_time(1.0)
            clocks.wall_s += 1000.0
            watch.check()
        assert len(renewals) == len(set(renewals)) == 3
        watch.close()
        watch.close()
        engine.destroy()

    run(story())


def test_another_generation_of_the_virtual_machine_is_a_sign() -> None:
    async def story() -> None:
        engine, clocks = Engine.open(loopback()), Clocks()
        kernel, news = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        news.setblocking(False)
        watcher = AsyncioWatcher()
        join = EngineJoin(engine, watcher)
        watch = CloneWatch(engine, join, watcher, clocks.wall, clocks.boot, news)
        before = engine.node
        kernel.send(b"add@/devices/virtual/net/veth0\0ACTION=add\0")
        await asyncio.sleep(0.05)
        assert engine.node == before
        kernel.send(b"change@/devices/x\0ACTION=change\0NEW_VMGENID=1\0")
        await until(lambda: engine.node != before)
        watch.close()
        assert join.before_step is None
        kernel.close()
        engine.destroy()

    run(story())


def test_twins_from_one_snapshot_go_on_under_different_ids() -> None:
    after: list[set[int]] = []
    before: list[list[int]] = []
    for seed in (bytes(32), b"1" * 32):
        with Simulation(seed=7) as office:
            nodes = office.add_nodes(3)
            groups = [node.join(GROUP_ID, KEY) for node in nodes]
            assert office.run_until(all_admitted(nodes))
            before.append([node.node for node in nodes])
            for node in nodes:
                node.renew_identity(seed)
            assert office.run_until(
                lambda nodes=nodes, groups=groups: all(
                    group.view is not None
                    and {member.node for member in group.view.members}
                    == {node.node for node in nodes}
                    for group in groups
                )
            )
            after.append({node.node for node in nodes})
    assert before[0] == before[1]
    assert not after[0] & after[1]
    assert not after[0] & set(before[0])


def test_seed_of_another_length_is_refused_and_changes_nothing() -> None:
    with Simulation(seed=8) as office:
        node = office.add_node()
        before = node.node
        with pytest.raises(BadArgument, match="32"):
            node.renew_identity(b"short")
        assert node.node == before
