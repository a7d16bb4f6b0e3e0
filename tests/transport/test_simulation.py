"""Simulated networks: the same groups, on a clock that costs nothing, with every fault on
demand."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from tests.transport.network import (
    GROUP_ID,
    KEY,
    Recorder,
    in_one_view,
    simulated_members,
    until,
)
from tests.transport.virtual_loop import VirtualLoop
from transport.config import EngineConfig
from transport.errors import BadArgument, Closed, WrongMoment
from transport.events import Health
from transport.loop import AsyncioWatcher
from transport.simulation import Link, Simulation, all_admitted
from transport.simulation_driver import SimulationDriver


def chatter(recorders: list[Recorder], rounds: int) -> None:
    for number in range(rounds):
        for index, recorder in enumerate(recorders):
            recorder.send(b"%d of %d" % (number, index))


def test_five_replicas_under_loss_take_milliseconds() -> None:
    started_s = time.process_time()  # this process's own: others may be busy
    with Simulation(seed=5) as simulation:
        _, recorders = simulated_members(simulation, 5)
        simulation.set_link(loss=0.2, delay_s=0.001, jitter_s=0.002)
        chatter(recorders, 50)
        assert simulation.run_until(
            lambda: all(recorder.has_everything_of(recorders) for recorder in recorders)
        )
        assert simulation.traffic().lost > 0
    # Milliseconds where the machine is fast; the bound is for one that is not.
    assert time.process_time() - started_s < 2


def test_duplicated_and_reordered_datagrams_are_invisible() -> None:
    with Simulation(seed=6) as simulation:
        _, recorders = simulated_members(simulation, 3)
        simulation.set_link(Link(delay_s=0.0005, jitter_s=0.005, duplication=0.3))
        chatter(recorders, 50)
        assert simulation.run_until(
            lambda: all(recorder.has_everything_of(recorders) for recorder in recorders)
        )
        assert simulation.traffic().duplicated > 0


def test_same_seed_and_calls_give_the_same_history() -> None:
    def history(seed: int) -> tuple[int, list[tuple[int, bytes]]]:
        with Simulation(seed) as simulation:
            _, recorders = simulated_members(simulation, 3)
            simulation.set_link(loss=0.1)
            chatter(recorders, 20)
            simulation.run_for(2)
            return simulation.trace_hash, recorders[0].messages

    assert history(7) == history(7)
    assert history(7)[0] != history(8)[0]


def test_one_way_block_is_healed_by_the_others() -> None:
    with Simulation(seed=13) as simulation:
        nodes, recorders = simulated_members(simulation, 3)
        simulation.block(nodes[0], nodes[1])
        recorders[0].send(b"around the block")
        assert simulation.run_until(lambda: recorders[1].of(recorders[0]) == recorders[0].sent)
        simulation.block(nodes[0], nodes[1], blocked=False)


def test_partition_gives_each_side_its_view_and_heals() -> None:
    with Simulation(seed=9) as simulation:
        nodes, recorders = simulated_members(simulation, 4)
        left, right = recorders[:2], recorders[2:]
        simulation.partition(nodes[:2], nodes[2:])
        assert simulation.run_until(lambda: in_one_view(left)() and in_one_view(right)())
        left[0].send(b"left")
        right[0].send(b"right")
        assert simulation.run_until(
            lambda: left[1].of(left[0]) == [b"left"] and right[1].of(right[0]) == [b"right"]
        )
        assert left[1].of(right[0]) == []
        simulation.heal()
        assert simulation.run_until(in_one_view(recorders))
        left[0].send(b"together")
        assert simulation.run_until(lambda: right[1].of(left[0])[-1:] == [b"together"])


def test_crashed_member_leaves_the_view_and_its_groups_are_closed() -> None:
    with Simulation(seed=10) as simulation:
        nodes, recorders = simulated_members(simulation, 3)
        me = nodes[2].node
        nodes[2].crash()
        assert nodes[2].closed
        assert nodes[2].health is Health.CLOSED
        assert nodes[2].node == me, "the last one it had"
        with pytest.raises(Closed):
            recorders[2].group.send(b"from the grave")
        with pytest.raises(Closed):
            nodes[2].counters()
        assert simulation.run_until(in_one_view(recorders[:2]))


def test_restarted_node_is_a_new_one_and_joins_again() -> None:
    with Simulation(seed=11) as simulation:
        nodes, recorders = simulated_members(simulation, 3)
        before = nodes[2].node
        nodes[2].crash()
        simulation.run_for(0.5)
        nodes[2].restart()
        again = Recorder(nodes[2].join(GROUP_ID, KEY))
        assert simulation.run_until(in_one_view([*recorders[:2], again]))
        assert nodes[2].node != before
        recorders[0].send(b"welcome")
        assert simulation.run_until(lambda: again.of(recorders[0]) == [b"welcome"])


def test_running_node_cannot_be_restarted() -> None:
    with Simulation() as simulation:
        node = simulation.add_node()
        with pytest.raises(WrongMoment):
            node.restart()


def test_short_freeze_delays_and_loses_nothing() -> None:
    with Simulation(seed=12) as simulation:
        nodes, recorders = simulated_members(simulation, 3)
        nodes[1].freeze(0.2)
        chatter([recorders[0]], 50)
        simulation.run_for(0.1)
        assert recorders[2].has_everything_of([recorders[0]])
        assert recorders[1].messages == []
        assert simulation.run_until(lambda: recorders[1].has_everything_of([recorders[0]]))


def test_blocked_direction_carries_nothing_until_it_is_opened() -> None:
    with Simulation(seed=13) as simulation:
        nodes, recorders = simulated_members(simulation, 2)
        simulation.block(nodes[0], nodes[1])
        recorders[0].send(b"later")
        simulation.run_for(0.2)
        assert recorders[1].messages == []
        assert simulation.traffic().blocked > 0
        simulation.block(nodes[0], nodes[1], blocked=False)
        assert simulation.run_until(lambda: recorders[1].of(recorders[0]) == recorders[0].sent)


def test_link_of_one_pair_differs_from_the_rest() -> None:
    with Simulation(seed=14) as simulation:
        nodes, recorders = simulated_members(simulation, 3)
        simulation.set_link(between=(nodes[0], nodes[1]), delay_s=0.05)
        recorders[0].send(b"far and near")
        start_s = simulation.time()
        assert simulation.run_until(lambda: bool(recorders[2].messages))
        assert simulation.time() - start_s < 0.05
        assert simulation.run_until(lambda: bool(recorders[1].messages))
        simulation.unset_link((nodes[0], nodes[1]))


def test_node_departs_cleanly() -> None:
    with Simulation(seed=15) as simulation:
        nodes, recorders = simulated_members(simulation, 3)
        start_s = simulation.time()
        nodes[0].depart()
        assert simulation.run_until(in_one_view(recorders[1:]))
        assert simulation.run_until(lambda: nodes[0].health is Health.CLOSED)
        assert simulation.time() - start_s < 2


def test_nodes_of_other_scopes_do_not_meet() -> None:
    from transport.scopes import Scope

    with Simulation(seed=16) as simulation:
        scopes = [Scope.from_key("Office", bytes([number]) * 32) for number in (1, 2)]
        nodes = [simulation.add_node(EngineConfig(scope=scope)) for scope in scopes]
        recorders = [Recorder(node.join(GROUP_ID, KEY)) for node in nodes]
        simulation.run_for(5)
        for recorder in recorders:
            assert in_one_view([recorder])()


def test_health_and_counters_can_be_watched() -> None:
    with Simulation(seed=17) as simulation:
        nodes = simulation.add_nodes(2)
        changes: list[Health] = []
        nodes[1].on_health = lambda change: changes.append(change.health)
        assert simulation.run_until(all_admitted(nodes))
        simulation.run_for(1)
        assert changes[-1] is nodes[1].health
        assert nodes[1].admitted
        assert any(nodes[0].counters().values())
        assert nodes[0].trace_text()
        assert "simulated" in repr(nodes[0]).lower()


def test_regions_are_listed() -> None:
    with Simulation(seed=18) as simulation:
        nodes, _ = simulated_members(simulation, 3)
        region = next(region for region in nodes[0].regions() if region.member)
        assert region.alive == 3


# Virtual time


def test_timers_fire_at_their_virtual_time_in_order() -> None:
    with Simulation() as simulation:
        start_s = simulation.time()
        fired: list[tuple[str, float]] = []

        def note(what: str) -> None:
            fired.append((what, round(simulation.time() - start_s, 6)))

        simulation.call_later(2.0, lambda: note("two"))
        simulation.call_later(
            1.0, lambda: simulation.call_later(0.5, lambda: note("one and a half"))
        )
        simulation.call_later(0.5, lambda: note("never")).cancel()
        simulation.run_for(1.75)
        assert fired == [("one and a half", 1.5)]
        simulation.run_for(1)
        assert fired[1:] == [("two", 2.0)]
        assert simulation.time() == pytest.approx(start_s + 2.75)


def test_timer_set_in_a_callback_of_a_group_is_on_time() -> None:
    with Simulation(seed=19) as simulation:
        _, (alice, bob) = simulated_members(simulation, 2)
        times: list[float] = []

        def later(deliveries: object) -> None:
            times.append(simulation.time())
            simulation.call_later(0.003, lambda: times.append(simulation.time()))

        bob.group.on_deliveries = later
        alice.send(b"tick")
        simulation.run_for(5)
        assert times[1] - times[0] == pytest.approx(0.003)


def test_waiting_for_what_never_happens_ends_at_the_limit() -> None:
    with Simulation() as simulation:
        start_s = simulation.time()
        assert not simulation.run_until(lambda: False, limit_s=3)
        assert simulation.time() == pytest.approx(start_s + 3)


def test_callback_cannot_run_or_close_the_simulation() -> None:
    with Simulation() as simulation:
        refused: list[type[Exception]] = []

        def nest() -> None:
            for call in (lambda: simulation.run_for(1), simulation.close):
                with pytest.raises(WrongMoment) as caught:
                    call()
                refused.append(caught.type)

        simulation.call_later(0.1, nest)
        simulation.run_for(1)
        assert len(refused) == 2


def test_closed_simulation_refuses_and_closing_twice_is_harmless() -> None:
    simulation = Simulation()
    node = simulation.add_node()
    group = node.join(GROUP_ID, KEY)
    simulation.close()
    simulation.close()
    for call in (
        simulation.add_node,
        simulation.traffic,
        lambda: simulation.run_for(1),
        lambda: simulation.run_until(lambda: True),
        lambda: simulation.call_later(1, lambda: None),
        lambda: simulation.set_link(loss=0.5),
        lambda: node.freeze(1),
        node.restart,
        lambda: group.send(b"late"),
    ):
        with pytest.raises(Closed):
            call()


@pytest.mark.parametrize(
    "wrong", [{"loss": 1.5}, {"loss": -0.1}, {"duplication": 2}, {"delay_s": -1.0}]
)
def test_impossible_link_is_refused(wrong: dict[str, Any]) -> None:
    with Simulation() as simulation, pytest.raises(BadArgument):
        simulation.set_link(**wrong)


def test_failure_prints_the_line_that_replays_it(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(RuntimeError), Simulation(seed=4711):
        raise RuntimeError("a test failed")
    assert "seed=4711" in caplog.text


@pytest.mark.parametrize("seed", range(5))
def test_killed_host_is_replaced_within_two_seconds_without_losing_a_message(seed: int) -> None:
    with Simulation(seed=seed) as simulation:
        nodes, members = simulated_members(simulation, 5)
        (host,) = [node for node in nodes if node.health is Health.HOST]
        rest = [member for node, member in zip(nodes, members, strict=True) if node is not host]
        for number in range(50):
            for member in rest:
                member.send(b"%d" % number)
        simulation.run_for(0.005)  # some are under way
        host.crash()
        for number in range(50, 100):
            for member in rest:
                member.send(b"%d" % number)
        assert simulation.run_until(in_one_view(rest), limit_s=2.0), f"seed {seed}"
        assert simulation.run_until(
            lambda: all(member.has_everything_of(rest) for member in rest), limit_s=2.0
        ), f"seed {seed}"


# Virtual time with real time


def test_driver_lets_virtual_time_pass_with_the_loop_and_skips_what_it_missed() -> None:
    loop = VirtualLoop()
    with Simulation() as simulation:
        start_s = simulation.time()
        driver = SimulationDriver(simulation, loop, clock=loop.clock)
        loop.run_until(loop.now_s + 1)
        assert simulation.time() - start_s == pytest.approx(1, abs=0.02)
        loop.now_s += 3600  # the machine slept
        loop.run_until(loop.now_s + 1)
        assert simulation.time() - start_s == pytest.approx(2, abs=0.1)
        driver.close()
        assert loop.appointments == []


def test_groups_work_under_asyncio_with_no_network() -> None:
    async def story() -> list[bytes]:
        with Simulation(seed=20) as simulation:
            driver = SimulationDriver(simulation, AsyncioWatcher(), tick_s=0.002)
            alice, bob = (node.join(GROUP_ID, KEY) for node in simulation.add_nodes(2))
            await until(lambda: bob.view is not None and len(bob.view.members) == 2)
            reader = bob.deliveries()
            for number in range(3):
                await alice.send_soon(b"%d" % number)
            heard = [bytes((await anext(reader)).data) for _ in range(3)]
            driver.close()
            return heard

    assert asyncio.run(story()) == [b"0", b"1", b"2"]
