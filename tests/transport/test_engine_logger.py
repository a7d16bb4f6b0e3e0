"""What an engine writes into its event log, and what only with leave."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.transport.event_logs import closed, opened, rows
from tests.transport.network import GROUP_ID, KEY, Recorder, in_one_view
from transport.binding import counter_names
from transport.engine_logger import EngineLogger
from transport.event_log import EventLog
from transport.event_log_schema import Record, Row
from transport.events import Health
from transport.simulation import SimulatedEngine, Simulation


class _Timer:
    def __init__(self, timer: Any) -> None:
        self.close: Callable[[], None] = timer.cancel


def logger_of(
    node: SimulatedEngine, simulation: Simulation, folder: Path, person: str = ""
) -> EngineLogger:
    """One that logs into the folder, by the simulation's clock."""

    def call_at(deadline_s: float, callback: Callable[[], None]) -> _Timer:
        return _Timer(simulation.call_later(deadline_s - simulation.time(), callback))

    log = EventLog(
        folder,
        program="test",
        scope_label="",
        counter_names=counter_names(),
        wall_ns=lambda: int(simulation.time() * 1e9),
        clock=simulation.time,
    )
    return EngineLogger(node, log, call_at, simulation.time, person=person)


def all_rows(folder: Path) -> list[Row]:
    return [row for path in closed(folder) for row in rows(path)]


def test_engine_is_logged_with_health_views_counters_and_regions(tmp_path: Path) -> None:
    with Simulation(seed=3) as simulation:
        node, *others = simulation.add_nodes(3)
        logger = logger_of(node, simulation, tmp_path)
        recorders = [Recorder(each.join(GROUP_ID, KEY)) for each in (node, *others)]
        assert simulation.run_until(in_one_view(recorders))
        for number in range(10):
            recorders[1].send(b"%d" % number)
        simulation.run_for(25)
        logger.note("opened", objects=1)
        logger.close()
        logger.close()
        me = node.node
    kept = all_rows(tmp_path)
    kinds = {row.kind for row in kept}
    assert kinds == set(Record) - {Record.LOST, Record.LEFT, Record.DELIVERY}
    assert any(row.kind is Record.HEALTH and Health(row.values["health"]).admitted for row in kept)
    last_view = [row for row in kept if row.kind is Record.VIEW][-1]
    assert len(last_view.values["members"]) == 3
    assert last_view.values["node"] == me
    names = kept[0].values["counter_names"]
    samples = [row for row in kept if row.kind is Record.COUNTERS]
    delivered = dict(zip(names, samples[-1].values["values"], strict=True))["messages_delivered"]
    assert delivered == 10
    assert len(samples) >= 3
    assert not opened(tmp_path)


def test_groups_are_logged_with_what_they_cost_until_they_are_left(tmp_path: Path) -> None:
    with Simulation(seed=4) as simulation:
        node, other = simulation.add_nodes(2)
        logger = logger_of(node, simulation, tmp_path)
        recorders = [Recorder(each.join(GROUP_ID, KEY)) for each in (node, other)]
        assert simulation.run_until(in_one_view(recorders))
        recorders[0].send(b"own")
        recorders[1].send(b"other's")
        simulation.run_for(15)
        logger.delivered(recorders[0].group, other.node, 7, 0.002)
        simulation.run_for(30)
        node.leave(recorders[0].group)
        logger.close()
        me = node.node
    kept = all_rows(tmp_path)
    tallies = [row.values for row in kept if row.kind is Record.GROUP]
    assert len(tallies) <= 3, "a group in which nothing happened is not logged again"
    last = tallies[-1]
    assert (last["messages"], last["bytes"], last["own_messages"], last["own_bytes"]) == (
        *(2, 10, 1, 3),
    )
    (left,) = [row.values for row in kept if row.kind is Record.LEFT]
    assert left == {"node": me, "group": GROUP_ID}
    (delivery,) = [row.values for row in kept if row.kind is Record.DELIVERY]
    assert delivery["latency_ns"] == 2_000_000


@pytest.mark.parametrize("person", ["", "0123456789abcdef"])
def test_what_a_person_does_is_logged_only_for_those_who_agreed(
    tmp_path: Path, person: str
) -> None:
    with Simulation(seed=5) as simulation:
        node, other = simulation.add_nodes(2)
        logger = logger_of(node, simulation, tmp_path, person)
        recorders = [Recorder(each.join(GROUP_ID, KEY)) for each in (node, other)]
        assert simulation.run_until(in_one_view(recorders))
        recorders[1].send(b"somebody else's")
        simulation.run_for(15)
        recorders[0].send(b"own")
        simulation.run_for(25)
        node.leave(recorders[0].group)
        logger.close()
    kept = all_rows(tmp_path)
    told = [row.values for row in kept if row.kind is Record.APPLICATION]
    if person:
        assert [each["name"] for each in told] == ["opened", "edited", "closed"]
        assert {each["values"]["person"] for each in told} == {person}
        assert {each["values"]["group"] for each in told} == {GROUP_ID.hex()}
    else:
        assert told == []


def test_what_is_only_fetched_was_not_opened_by_anybody(tmp_path: Path) -> None:
    with Simulation(seed=5) as simulation:
        (node,) = simulation.add_nodes(1)
        logger = logger_of(node, simulation, tmp_path, "0123456789abcdef")
        logger.fetched(GROUP_ID)
        for used in (False, True):
            recorder = Recorder(node.join(GROUP_ID, KEY))
            assert simulation.run_until(in_one_view([recorder]))
            if used:
                logger.used(GROUP_ID)
            node.leave(recorder.group)
            simulation.run_for(1)
        logger.close()
    kept = all_rows(tmp_path)
    told = [row.values["name"] for row in kept if row.kind is Record.APPLICATION]
    assert told == ["prefetched", "used", "opened", "closed"]
