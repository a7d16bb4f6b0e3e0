"""Callbacks of groups and engines: what they may do; their mistakes stay where they were made."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import pytest

from tests.transport.network import Members, Recorder, Wrong
from transport.errors import CallbackFailed, TransportError
from transport.interfaces import Delivery
from transport.simulation import Simulation


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
