"""The benchmark of Python callbacks: it measures, within bounds, and names what it cannot."""

from __future__ import annotations

import pytest

from transport.benches import callbacks
from transport.benches.callback_roles import BATCH, EACH, OTHERS, ROLES
from transport.benches.callbacks import Result, measure, measure_system
from transport.benches.programs import Effort, RawLimit

SHORT = Effort(seconds=0.4, repeats=1)


@pytest.mark.parametrize("way", [BATCH, EACH])
def test_both_ways_of_ours_are_measured(way: str) -> None:
    result = measure_system(way, SHORT.seconds)
    assert result.problem == ""
    assert result.messages_per_s > 0
    assert result.receiver_us > 0


def test_what_is_not_installed_is_named_and_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callbacks, "_installed", lambda name: False)
    assert measure_system("pyzmq", 1).problem == "not installed: make bench PEERS=1"


def test_system_that_fails_is_a_line_and_not_the_end() -> None:
    assert "no such system" in measure_system("no such system", 0.5).problem


def test_others_are_compared_with_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = {BATCH: 900.0, EACH: 800.0, "pyzmq": 300.0, "eclipse-zenoh": 450.0}
    monkeypatch.setattr(callbacks, "raw_limit", lambda *_: RawLimit(1000.0, 9000.0))

    def measured(system: str, _: float) -> Result:
        return Result(system, rates.get(system, 0.0), 1.0, 1.0, "" if system in rates else "gone")

    monkeypatch.setattr(callbacks, "measure_system", measured)
    found = {record.what: record for record in measure(SHORT)}
    assert (found[BATCH].ratio, found[EACH].met) == (0.1, False)
    assert (found["pyzmq"].ratio, found["pyzmq"].met) == (3.0, True)
    assert (found["eclipse-zenoh"].ratio, found["eclipse-zenoh"].met) == (2.0, False)
    assert (found["cyclonedds"].more["absent"], found["cyclonedds"].met) == ("gone", None)


def test_every_other_system_has_its_role() -> None:
    assert set(OTHERS) < set(ROLES)
