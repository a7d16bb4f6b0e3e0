"""Bare sockets and the engine are measured by turns, and compared with what stood beside them."""

from __future__ import annotations

from typing import Any

import pytest

from transport.benches import programs
from transport.benches.programs import Effort, beside_raw
from transport.benches.record import median_share


def test_sockets_and_engine_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    def many(program: str, *options: str | int) -> list[dict[str, Any]]:
        order.append(program)
        ways = ("plain window", "offload window")
        return [{"way": way, "received_per_s_least": 100.0 * len(order)} for way in ways]

    def one(program: str, *options: str | int) -> dict[str, Any]:
        order.append(program)
        return {"rate": 50.0 * len(order), "options": options}

    monkeypatch.setattr(programs, "run_many", many)
    monkeypatch.setattr(programs, "run", one)
    rounds = beside_raw(Effort(seconds=2.0, repeats=2), 4, (), ("--no-offload",))
    assert order == ["raw_udp", "engine_udp", "engine_udp"] * 3
    assert [each.raw.offload for each in rounds] == [100.0, 400.0, 700.0]
    assert [each.runs[1]["rate"] for each in rounds] == [150.0, 300.0, 450.0]
    options = rounds[0].runs[1]["options"]
    assert options[options.index("--milliseconds") + 1] == 1000
    assert options[options.index("--receivers") + 1] == 4
    assert options[-1] == "--no-offload"


def test_share_is_the_middle_of_the_pairs_not_of_the_rates() -> None:
    runs = [{"rate": 10.0}, {"rate": 60.0}, {"rate": 30.0}]
    assert median_share(runs, [100.0, 100.0, 50.0]) == pytest.approx(0.6)
    assert median_share(runs, [0.0, 0.0, 0.0]) == 0.0
