"""Keys of groups change with the epoch while messages flow, whatever the members' clocks say."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transport.network import GROUP_ID, KEY, Recorder, in_one_view, simulated_members
from transport.group_keys import EPOCHS, KEYS_MAX, OWN, GroupKeys, epoch_key
from transport.key_rotation import KeyRotation, epoch_at
from transport.node import Node
from transport.simulation import Simulation, Timer

PERIOD_S = 10.0


class Holder:
    """What the engine does with keys, as its header says."""

    def __init__(self, own: bytes) -> None:
        self.keys = {OWN: own}
        self.used = OWN

    def add_key(self, epoch: int, key: bytes) -> None:
        assert epoch not in self.keys
        assert len(self.keys) < KEYS_MAX
        self.keys[epoch] = key

    def use_key(self, epoch: int) -> None:
        assert epoch in self.keys
        self.used = epoch

    def drop_key(self, epoch: int) -> None:
        assert epoch != self.used
        del self.keys[epoch]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, EPOCHS)), max_size=60))
def test_whatever_is_used_or_wanted_is_held(story: list[tuple[bool, int]]) -> None:
    holder, keys = Holder(KEY), GroupKeys(KEY)
    for use, epoch in story:
        if use:
            keys.use(holder, epoch)
            assert holder.used == keys.used == epoch
        elif epoch not in holder.keys:
            keys.want(holder, epoch)
        assert holder.keys[epoch] == epoch_key(KEY, epoch)
        assert OWN in holder.keys


def test_keys_of_epochs_all_differ_and_follow_from_the_groups_own() -> None:
    keys = {epoch_key(KEY, epoch) for epoch in range(EPOCHS + 1)}
    assert len(keys) == EPOCHS + 1
    assert epoch_key(KEY, OWN) == KEY
    assert epoch_key(b"o" * 32, 1) not in keys
    assert epoch_key(KEY, 7).hex()[:16] == "05a482f869d2763c"  # For ever: others have it.


def test_epochs_follow_one_another_by_day_and_never_are_the_own_key() -> None:
    day = 24 * 3600
    epochs = [epoch_at(number * day + 5) for number in range(600)]
    assert set(epochs) == set(range(1, EPOCHS + 1))
    assert all(a != b for a, b in itertools.pairwise(epochs))
    assert epoch_at(-5.0) in range(1, EPOCHS + 1)  # A clock before 1970.


class _Closing:
    def __init__(self, timer: Timer) -> None:
        self.close = timer.cancel


def rotate(simulation: Simulation, node: Node, off_s: float = 0.0) -> KeyRotation:
    """Keys by the virtual clock, read `off_s` wrongly."""

    def call_at(when: float, callback: Callable[[], None]) -> _Closing:
        return _Closing(simulation.call_later(when - simulation.time(), callback))

    def wall_time() -> float:
        return simulation.time() + off_s

    return KeyRotation(node, call_at, simulation.time, wall_time, PERIOD_S)


# Clocks that are right; a little apart; days apart, and one before 1970; one without rotation.
@pytest.mark.parametrize("offsets", [[0, 0, 0], [-4, 0, 3], [-1e9, 1e4, 35], [None, 0, 100]])
@pytest.mark.parametrize("seed", [1, 2])
def test_keys_change_while_everybody_sends_and_nothing_is_lost(
    offsets: list[float | None], seed: int
) -> None:
    with Simulation(seed) as simulation:
        nodes, members = simulated_members(simulation, 3)
        simulation.set_link(loss=0.05)
        rotations = [
            rotate(simulation, node, off)
            for node, off in zip(nodes, offsets, strict=True)
            if off is not None
        ]
        for number in range(450):
            for member in members:
                member.send(b"%d" % number)
            simulation.run_for(0.1)
        newcomer = Recorder(simulation.add_node().join(GROUP_ID, KEY))
        rotations.append(rotate(simulation, newcomer.group.node_of_group, 12345.0))
        assert simulation.run_until(in_one_view([*members, newcomer]))
        for member in (*members, newcomer):
            member.send(b"last")
        assert simulation.run_until(
            lambda: all(
                member.of(other)[-1:] == [b"last"]
                for member in (*members, newcomer)
                for other in (*members, newcomer)
            )
        )
        assert all(member.has_everything_of(members) for member in members)
        for node in simulation.nodes:
            assert node.counters()["messages_locked"] == 0
            assert node.counters()["messages_forged"] == 0
        used = {member.group.keys.used for member in members}
        assert used != {OWN}
        for rotation in rotations:
            rotation.close()
            rotation.close()


def test_rotation_of_an_engine_that_has_gone_ends() -> None:
    with Simulation(3) as simulation:
        node = simulation.add_node()
        rotate(simulation, node)
        node.crash()
        simulation.run_for(3 * PERIOD_S)
