"""Feeds: asked when something can be sent, in turns, and put away when they misbehave."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import pytest

from tests.transport.network import GROUP_ID, KEY, Members, Queue, Recorder, Wrong, in_one_view
from transport import binding
from transport.errors import BadArgument, FeedFailed, TransportError, WrongMoment
from transport.group import Group
from transport.simulation import Simulation


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
