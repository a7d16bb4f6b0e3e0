"""Groups: what is sent arrives, in batches; joining and leaving."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transport.network import (
    GROUP_ID,
    KEY,
    Members,
    Queue,
    Recorder,
    in_one_view,
    simulated_members,
)
from transport import binding
from transport.errors import AlreadyJoined, BackPressure, BadArgument, Closed, TooLarge
from transport.interfaces import Delivery, Feed, Network
from transport.simulation import Simulation


def test_group_fulfils_the_contract(members: Members) -> None:
    network: Network = members[0][0]
    feed: Feed = Queue()
    assert isinstance(feed, Feed)
    assert network.node == members[1][0].group.me


# Sending


def test_messages_arrive_in_order_at_everybody_the_sender_included(
    simulation: Simulation, alice: Recorder, bob: Recorder
) -> None:
    for number in range(200):
        alice.send(b"a%d" % number)
        bob.send(b"b%d" % number)
    everybody = [alice, bob]
    assert simulation.run_until(
        lambda: all(reader.has_everything_of(everybody) for reader in everybody)
    )
    assert len(alice.messages) == 400


@pytest.mark.parametrize("size", [0, 1, 1000, 1472, 5000, binding.MESSAGE_BYTES_MAX])
def test_message_of_any_allowed_size_arrives_whole(
    simulation: Simulation, alice: Recorder, bob: Recorder, size: int
) -> None:
    alice.send(bytes(index * 7 % 256 for index in range(size)))
    assert simulation.run_until(lambda: bob.has_everything_of([alice]))


def test_too_large_message_is_refused(alice: Recorder) -> None:
    with pytest.raises(TooLarge):
        alice.group.send(bytes(binding.MESSAGE_BYTES_MAX + 1))


def test_deliveries_of_a_turn_come_in_one_call(
    simulation: Simulation, alice: Recorder, bob: Recorder
) -> None:
    for number in range(100):
        alice.send(b"%d" % number)
    assert simulation.run_until(lambda: bob.has_everything_of([alice]))
    assert len(bob.batches) < 50
    assert max(bob.batches) > 5


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_kind_of_bytes_can_be_sent(
    simulation: Simulation,
    alice: Recorder,
    bob: Recorder,
    kind: Callable[[bytes], bytes | bytearray | memoryview],
) -> None:
    alice.group.send(kind(b"octets"))
    assert simulation.run_until(lambda: bob.of(alice) == [b"octets"])


def test_full_queue_is_back_pressure_and_clears(
    simulation: Simulation, alice: Recorder, bob: Recorder
) -> None:
    for number in range(binding.SEND_QUEUE_MAX):
        alice.send(b"%d" % number)
    with pytest.raises(BackPressure) as caught:
        alice.group.send(b"one too many")
    assert caught.value.details["group"] == GROUP_ID.hex()
    assert simulation.run_until(lambda: bob.has_everything_of([alice]))
    alice.send(b"room again")
    assert simulation.run_until(lambda: bob.has_everything_of([alice]))


def test_sender_is_told_once_when_all_have_received_what_it_sent(
    simulation: Simulation, alice: Recorder, bob: Recorder
) -> None:
    told: list[int] = []
    for number in range(100):
        alice.send(b"%d" % number)
    alice.group.when_received(lambda: told.append(len(bob.of(alice))))
    assert simulation.run_until(lambda: bool(told))
    assert told[0] == 100
    simulation.run_for(1.0)
    assert len(told) == 1
    alice.group.when_received(lambda: told.append(-1))
    assert simulation.run_until(lambda: told[1:] == [-1])


def test_feed_may_ask_whether_what_it_gives_was_received(
    simulation: Simulation, alice: Recorder, bob: Recorder
) -> None:
    told: list[bool] = []

    class Asking:
        def __init__(self) -> None:
            self.left = [b"x" * 50_000, b"last"]

        def pull(self, bytes_max: int) -> bytes | None:
            if not self.left:
                return None
            if len(self.left) == 1:
                alice.group.when_received(lambda: told.append(b"last" in bob.of(alice)))
            return self.left.pop(0)

    alice.group.offer(Asking())
    assert simulation.run_until(lambda: bool(told))
    assert told == [True]


# Leaving


def test_no_callback_runs_after_leaving(
    simulation: Simulation, alice: Recorder, bob: Recorder
) -> None:
    calls: list[int] = []

    def leave(deliveries: Sequence[Delivery]) -> None:
        calls.append(len(deliveries))
        bob.group.leave()

    bob.group.on_deliveries = leave
    for number in range(500):
        alice.send(b"%d" % number)
    assert simulation.run_until(in_one_view([alice]))
    assert len(calls) == 1


def test_left_group_refuses_and_leaving_twice_is_harmless(alice: Recorder) -> None:
    alice.group.leave()
    alice.group.leave()
    with pytest.raises(Closed):
        alice.group.send(b"late")
    with pytest.raises(Closed):
        alice.group.offer(Queue())
    with pytest.raises(Closed):
        alice.group.deliveries()
    alice.group.when_received(lambda: pytest.fail("nobody knows"))
    assert alice.group.unacknowledged == 0
    assert "closed" in repr(alice.group)


def test_group_can_be_joined_again_after_leaving(
    simulation: Simulation, alice: Recorder, bob: Recorder, members: Members
) -> None:
    bob.group.leave()
    assert simulation.run_until(in_one_view([alice]))
    again = Recorder(members[0][1].join(GROUP_ID, KEY))
    assert simulation.run_until(in_one_view([alice, again]))
    alice.send(b"welcome back")
    assert simulation.run_until(lambda: again.of(alice) == [b"welcome back"])


def test_second_join_of_a_group_is_refused(alice: Recorder, members: Members) -> None:
    with pytest.raises(AlreadyJoined):
        members[0][0].join(GROUP_ID, KEY)


@pytest.mark.parametrize(("id_bytes", "key_bytes"), [(15, 32), (17, 32), (16, 31), (16, 33)])
def test_malformed_id_or_key_is_refused(members: Members, id_bytes: int, key_bytes: int) -> None:
    with pytest.raises(BadArgument):
        members[0][0].join(bytes(id_bytes), bytes(key_bytes))


def test_group_that_was_left_is_freed(alice: Recorder, members: Members) -> None:
    alice.group.offer(Queue([b"unsent"]))
    alice.group.leave()
    assert members[0][0].groups == ()
    gc.collect()
    owners = [type(owner).__name__ for owner in gc.get_referrers(alice.group)]
    assert "SimulatedEngine" not in owners


def test_thousands_of_groups_are_cheap(simulation: Simulation) -> None:
    node = simulation.add_node()
    groups = [node.join(number.to_bytes(16, "big"), KEY) for number in range(2000)]
    assert simulation.run_until(lambda: all(group.view is not None for group in groups))
    heard: list[int] = []

    def note(number: int, deliveries: Sequence[Delivery]) -> None:
        heard.append(number)

    for number, group in enumerate(groups):
        group.on_deliveries = partial(note, number)
        group.send(b"here")
    assert simulation.run_until(lambda: len(heard) == len(groups))


# Any story


@given(
    seed=st.integers(0, 2**32),
    loss=st.sampled_from([0.0, 0.05]),
    story=st.lists(
        st.tuples(
            st.integers(0, 2), st.sampled_from(["send", "offer", "wait"]), st.binary(max_size=40)
        ),
        max_size=40,
    ),
)
@settings(max_examples=25)
def test_any_story_is_delivered_in_order_exactly_once(
    seed: int, loss: float, story: list[tuple[int, str, bytes]]
) -> None:
    with Simulation(seed) as simulation:
        _, recorders = simulated_members(simulation, 3)
        simulation.set_link(loss=loss)
        for who, what, data in story:
            member = recorders[who]
            if what == "send":
                member.send(data)
            elif what == "offer":
                member.sent.append(data)
                member.group.offer(Queue([data]))
                simulation.run_for(0.01)
            else:
                simulation.run_for(0.003)
        delivered = simulation.run_until(
            lambda: all(
                sorted(reader.of(sender)) == sorted(sender.sent)
                for reader in recorders
                for sender in recorders
            )
        )
        assert delivered, f"replay: seed={seed} loss={loss} story={story!r}"
        for sender in recorders:
            assert len({tuple(reader.of(sender)) for reader in recorders}) == 1
