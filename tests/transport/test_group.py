"""Groups: what is offered and sent arrives, in batches, and mistakes stay where they were made."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transport.network import GROUP_ID, KEY, Queue, Recorder, in_one_view, simulated_members
from transport import binding
from transport.errors import (
    AlreadyJoined,
    BackPressure,
    BadArgument,
    CallbackFailed,
    Closed,
    FeedFailed,
    TooLarge,
    TransportError,
    WrongMoment,
)
from transport.group import Group
from transport.interfaces import Delivery, Feed, Network
from transport.simulation import SimulatedEngine, Simulation

Members = tuple[list[SimulatedEngine], list[Recorder]]


@pytest.fixture
def simulation() -> Iterator[Simulation]:
    with Simulation(seed=1) as simulation:
        yield simulation


@pytest.fixture
def members(simulation: Simulation) -> Members:
    return simulated_members(simulation, 2)


@pytest.fixture
def alice(members: Members) -> Recorder:
    return members[1][0]


@pytest.fixture
def bob(members: Members) -> Recorder:
    return members[1][1]


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


# Feeds


class Newest:
    """A feed of a state: however often it changed, the newest is all that is worth sending."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._state: bytes | None = None

    def change(self, state: bytes) -> None:
        self._state = state
        self._group.offer(self)

    def pull(self, bytes_max: int) -> bytes | None:
        state, self._state = self._state, None
        return state


def test_what_changed_before_the_pull_is_one_message(
    simulation: Simulation, alice: Recorder, bob: Recorder
) -> None:
    feed = Newest(alice.group)
    for number in range(100):
        feed.change(b"state %d" % number)
    assert simulation.run_until(lambda: bool(bob.messages))
    simulation.run_for(1)
    assert bob.of(alice) == [b"state 99"]


def test_feed_is_not_asked_while_nothing_can_be_sent(
    simulation: Simulation, alice: Recorder, bob: Recorder, members: Members
) -> None:
    members[0][0].freeze(0.05)
    feed = Newest(alice.group)
    for number in range(50):
        feed.change(b"state %d" % number)
        simulation.run_for(0.0005)
    assert bob.messages == []
    assert simulation.run_until(lambda: bob.of(alice) == [b"state 49"])


def test_feed_is_asked_until_it_has_nothing_then_forgotten(
    simulation: Simulation, alice: Recorder, bob: Recorder
) -> None:
    feed = Queue([b"1", b"2", b"3"])
    alice.group.offer(feed)
    alice.group.offer(feed)
    assert simulation.run_until(lambda: bob.of(alice) == [b"1", b"2", b"3"])
    simulation.run_for(1)
    assert feed.pulls == 4
    feed.messages.append(b"4")
    simulation.run_for(1)
    assert feed.pulls == 4
    alice.group.offer(feed)
    assert simulation.run_until(lambda: bob.of(alice)[-1] == b"4")


def test_feeds_of_one_group_take_turns(
    simulation: Simulation, alice: Recorder, bob: Recorder
) -> None:
    alice.group.offer(Queue([b"a1", b"a2", b"a3"]))
    alice.group.offer(Queue([b"b1", b"b2", b"b3"]))
    assert simulation.run_until(lambda: len(bob.messages) == 6)
    assert bob.of(alice) == [b"a1", b"b1", b"a2", b"b2", b"a3", b"b3"]


def test_urgent_feed_goes_first(simulation: Simulation, alice: Recorder, bob: Recorder) -> None:
    alice.group.offer(Queue([b"slow 1", b"slow 2"]), priority=2)
    alice.group.offer(Queue([b"usual"]))
    alice.group.offer(Queue([b"fast"]), priority=0)
    assert simulation.run_until(lambda: len(bob.messages) == 4)
    assert bob.of(alice) == [b"fast", b"usual", b"slow 1", b"slow 2"]


class Many:
    """A feed that gives several messages at once."""

    def __init__(self, *batches: Sequence[bytes]) -> None:
        self.batches = list(batches)

    def pull(self, bytes_max: int) -> bytes | None:
        raise AssertionError("asked for one where many could be had")

    def pull_many(self, count_max: int, bytes_max: int) -> Sequence[bytes]:
        return self.batches.pop(0) if self.batches else []


def test_feed_can_give_many_messages_at_once(
    simulation: Simulation, alice: Recorder, bob: Recorder
) -> None:
    batches = [[b"%d-%d" % (batch, n) * (n % 7 * 60) for n in range(64)] for batch in range(40)]
    batches[3][5] = bytes(50_000)  # longer than a packet, with others behind it
    alice.group.offer(Many(*batches))
    expected = [data for batch in batches for data in batch]
    assert simulation.run_until(lambda: len(bob.messages) == len(expected))
    assert bob.of(alice) == expected


@pytest.mark.parametrize(
    "batch",
    [[b"x"] * 65, ["text"], [b"fine", bytearray(3)], [bytes(binding.MESSAGE_BYTES_MAX + 1)]],
    ids=["too many", "no bytes", "one of another type", "too long"],
)
def test_batch_that_is_not_in_order_is_refused_and_nothing_of_it_sent(
    simulation: Simulation, alice: Recorder, bob: Recorder, batch: list[bytes]
) -> None:
    errors: list[TransportError] = []
    alice.group.on_error = errors.append
    alice.group.offer(Many(batch))
    simulation.run_for(0.5)
    assert [type(error) for error in errors] == [FeedFailed]
    assert bob.of(alice) == []


@pytest.mark.parametrize("priority", [-1, 3])
def test_unknown_priority_is_refused(alice: Recorder, priority: int) -> None:
    with pytest.raises(BadArgument):
        alice.group.offer(Queue(), priority)


def test_withdrawn_feed_is_not_asked(
    simulation: Simulation, alice: Recorder, bob: Recorder
) -> None:
    feed = Queue([b"never"])
    alice.group.offer(feed)
    alice.group.withdraw(feed)
    simulation.run_for(1)
    assert feed.pulls == 0
    alice.group.offer(feed)
    assert simulation.run_until(lambda: bob.of(alice) == [b"never"])


def test_feed_that_offers_itself_while_asked_is_asked_again(
    simulation: Simulation, alice: Recorder, bob: Recorder
) -> None:
    class Hesitant:
        pulls = 0

        def pull(self, bytes_max: int) -> bytes | None:
            self.pulls += 1
            if self.pulls < 3:
                alice.group.offer(self)
                return None
            return b"at last" if self.pulls == 3 else None

    alice.group.offer(Hesitant())
    assert simulation.run_until(lambda: bob.of(alice) == [b"at last"])


def test_feed_that_offers_another_while_asked(
    simulation: Simulation, alice: Recorder, bob: Recorder, members: Members
) -> None:
    other = Recorder(members[0][0].join(b"o" * 16, KEY))

    class Leader(Queue):
        def pull(self, bytes_max: int) -> bytes | None:
            if not self.pulls:
                alice.group.offer(Queue([b"same group"]))
                other.group.offer(Queue([b"other group"]))
            return super().pull(bytes_max)

    alice.group.offer(Leader([b"leader"]))
    assert simulation.run_until(lambda: len(bob.messages) == 2 and len(other.messages) == 1)


class Wrong:
    """A feed that answers with whatever it is given, or raises it."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.pulls = 0

    def pull(self, bytes_max: int) -> bytes | None:
        self.pulls += 1
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer  # type: ignore[return-value]


@pytest.mark.parametrize(
    "answer", [ValueError("broken"), "text", 7, bytes(binding.MESSAGE_BYTES_MAX + 1)]
)
def test_feed_that_fails_is_withdrawn_and_the_group_told(
    simulation: Simulation,
    alice: Recorder,
    bob: Recorder,
    caplog: pytest.LogCaptureFixture,
    answer: object,
) -> None:
    told: list[TransportError] = []
    alice.group.on_error = told.append
    wrong = Wrong(answer)
    with caplog.at_level(logging.ERROR):
        alice.group.offer(wrong)
        alice.group.offer(Queue([b"the others go on"]))
        assert simulation.run_until(lambda: bob.of(alice) == [b"the others go on"])
    assert wrong.pulls == 1
    assert [type(error) for error in told] == [FeedFailed]
    assert isinstance(told[0].__cause__, Exception)
    assert told[0].details == {"group": GROUP_ID.hex(), "feed": "Wrong"}
    assert len(caplog.records) == 1


def test_feed_cannot_send_or_join_while_it_is_asked(
    simulation: Simulation, alice: Recorder, bob: Recorder, members: Members
) -> None:
    refused: list[TransportError] = []

    class Impatient(Queue):
        def pull(self, bytes_max: int) -> bytes | None:
            for forbidden in (
                lambda: alice.group.send(b"no"),
                lambda: members[0][0].join(b"n" * 16, KEY),
                lambda: simulation.run_for(1),
            ):
                with pytest.raises(WrongMoment) as caught:
                    forbidden()
                refused.append(caught.value)
            return super().pull(bytes_max)

    alice.group.offer(Impatient([b"yes"]))
    assert simulation.run_until(lambda: bob.of(alice) == [b"yes"])
    assert len(refused) >= 3


def test_feed_may_leave_its_group_while_it_is_asked(
    simulation: Simulation, alice: Recorder, bob: Recorder
) -> None:
    class Last:
        def pull(self, bytes_max: int) -> bytes | None:
            alice.group.leave()
            return None

    alice.group.offer(Last())
    assert simulation.run_until(in_one_view([bob]))
    assert alice.group.closed


# Callbacks


def test_callback_that_raises_disturbs_nobody(
    simulation: Simulation, alice: Recorder, bob: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[TransportError] = []

    def fail(deliveries: Sequence[Delivery]) -> None:
        raise ZeroDivisionError("in a callback")

    bob.group.on_deliveries = fail
    bob.group.on_error = told.append
    with caplog.at_level(logging.ERROR):
        alice.send(b"one")
        assert simulation.run_until(lambda: alice.has_everything_of([alice]) and bool(told))
    assert [type(error) for error in told] == [CallbackFailed]
    assert isinstance(told[0].__cause__, ZeroDivisionError)
    assert len(caplog.records) == 1
    Recorder(bob.group)
    alice.send(b"two")
    simulation.run_for(1)
    assert bob.group.on_deliveries is not fail


def test_hook_of_the_engine_hears_what_no_group_wants_to(
    simulation: Simulation, alice: Recorder, members: Members
) -> None:
    told: list[TransportError] = []
    members[0][0].on_error = told.append
    alice.group.offer(Wrong(ValueError("broken")))
    assert simulation.run_until(lambda: bool(told))


def test_hook_that_raises_is_contained_too(simulation: Simulation, alice: Recorder) -> None:
    def fail(error: TransportError) -> None:
        raise RuntimeError("the hook")

    wrong = Wrong(ValueError("broken"))
    alice.group.on_error = fail
    alice.group.offer(wrong)
    assert simulation.run_until(lambda: wrong.pulls == 1)


def test_interrupt_in_a_callback_reaches_whoever_runs_the_engine(
    simulation: Simulation, alice: Recorder, bob: Recorder
) -> None:
    def interrupt(deliveries: Sequence[Delivery]) -> None:
        raise KeyboardInterrupt

    bob.group.on_deliveries = interrupt
    alice.send(b"one")
    with pytest.raises(KeyboardInterrupt):
        simulation.run_for(1)
    bob = Recorder(bob.group)
    alice.group.offer(Wrong(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        simulation.run_for(1)


def test_lent_data_cannot_be_read_after_the_callback(
    simulation: Simulation, alice: Recorder, bob: Recorder
) -> None:
    kept: list[memoryview] = []
    seen: list[bytes] = []

    def keep(deliveries: Sequence[Delivery]) -> None:
        kept.extend(delivery.data for delivery in deliveries)
        seen.extend(bytes(delivery.data) for delivery in deliveries)

    bob.group.on_deliveries = keep
    alice.send(b"lent")
    assert simulation.run_until(lambda: bool(kept))
    assert seen == [b"lent"]
    with pytest.raises(ValueError, match="released"):
        bytes(kept[0])


def test_answer_from_inside_a_callback_arrives(
    simulation: Simulation, alice: Recorder, bob: Recorder
) -> None:
    def answer(deliveries: Sequence[Delivery]) -> None:
        for delivery in deliveries:
            if bytes(delivery.data) == b"question":
                bob.group.send(b"answer")

    bob.group.on_deliveries = answer
    alice.send(b"question")
    assert simulation.run_until(lambda: alice.of(bob) == [b"answer"])


def test_callback_may_call_another_node(
    simulation: Simulation, alice: Recorder, bob: Recorder
) -> None:
    def pass_on(deliveries: Sequence[Delivery]) -> None:
        if bytes(deliveries[0].data) == b"pass on":
            alice.group.send(b"passed on")

    bob.group.on_deliveries = pass_on
    alice.group.send(b"pass on")
    assert simulation.run_until(lambda: alice.of(alice) == [b"pass on", b"passed on"], 1)


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
