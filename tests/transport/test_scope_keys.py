"""The key of a scope changes under traffic and loss, and nobody notices but those without it."""

from __future__ import annotations

import pytest

from tests.transport.network import KEY, Recorder, in_one_view, simulated_members
from transport.errors import BadArgument, Misuse, NotFound, TransportError
from transport.simulation import SimulatedEngine, Simulation

NEW = b"n" * 32


def old_key(node: SimulatedEngine) -> bytes:
    return node.config.scope.key


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_key_changes_under_traffic_and_loss_without_a_new_view(seed: int) -> None:
    with Simulation(seed=seed) as simulation:
        nodes, members = simulated_members(simulation, 5)
        simulation.set_link(loss=0.1)
        views = [len(member.views) for member in members]

        def talk(rounds: int) -> None:
            for number in range(rounds):
                for member in members:
                    member.send(b"%d" % number)
                simulation.run_for(0.01)

        talk(20)
        # Not all at the same time: each step is begun by one while others are still before it.
        for step in ("add_scope_key", "use_scope_key"):
            for node in nodes:
                getattr(node, step)(NEW)
                talk(5)
        for node in nodes:
            node.drop_scope_key(old_key(node))
            talk(5)
        assert simulation.run_until(
            lambda: all(member.has_everything_of(members) for member in members)
        ), f"seed {seed}"
        assert [len(member.views) for member in members] == views, f"seed {seed}"


def test_who_has_not_got_the_key_is_put_out_and_hears_nothing_more() -> None:
    with Simulation(seed=7) as simulation:
        nodes, members = simulated_members(simulation, 4)
        *rest, left_out = members
        for step in ("add_scope_key", "use_scope_key"):
            for node in nodes[:3]:
                getattr(node, step)(NEW)
        for node in nodes[:3]:
            node.drop_scope_key(old_key(node))
        heard = len(left_out.messages)
        assert simulation.run_until(in_one_view(rest))
        for member in rest:
            member.send(b"among us")
        left_out.send(b"let me in")
        simulation.run_for(10)
        assert all(member.of(rest[0])[-1:] == [b"among us"] for member in rest)
        assert b"let me in" not in [data for member in rest for _, data in member.messages]
        assert b"among us" not in [data for _, data in left_out.messages[heard:]]
        # A newcomer with the old key does not get in either.
        late = Recorder(simulation.add_node().join(b"another group...", KEY))
        simulation.run_for(5)
        assert late.group.view is None or len(late.group.view.members) == 1
        assert in_one_view(rest)()


def test_steps_out_of_order_are_refused() -> None:
    with Simulation(seed=9) as simulation:
        node = simulation.add_node()
        with pytest.raises(BadArgument, match="32 bytes"):
            node.add_scope_key(b"short")
        with pytest.raises(NotFound):
            node.use_scope_key(NEW)
        with pytest.raises(NotFound):
            node.drop_scope_key(NEW)
        with pytest.raises(Misuse):
            node.drop_scope_key(old_key(node))
        node.add_scope_key(NEW)
        node.add_scope_key(NEW)
        for number in range(2):
            node.add_scope_key(bytes([number]) * 32)
        with pytest.raises(TransportError):
            node.add_scope_key(bytes([3]) * 32)
        node.drop_scope_key(NEW)
        node.add_scope_key(bytes([3]) * 32)
