"""Members of a private scope renew its key: those there follow at once, one left out does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.transport.network import KEY, Recorder, in_one_view
from transport.config import EngineConfig
from transport.errors import PeerViolation, WrongMoment
from transport.identities import Identity
from transport.scope_keeper import BOTH_S, ScopeKeeper
from transport.scope_records import RENEWALS_MAX, ScopeRecords
from transport.scope_renewal import make_renewal, open_renewal, state
from transport.scopes import Scope
from transport.simulation import SimulatedEngine, Simulation, Timer

OFFICE = Scope.from_key("Office", b"o" * 32)
NAMES = ("Ada", "Jun", "Mia", "Noa")


class Ending:
    def __init__(self, timer: Timer) -> None:
        self._timer = timer

    def close(self) -> None:
        self._timer.cancel()


class Place:
    """One member: an engine in the scope, its keeper, and a group besides that knows nothing."""

    def __init__(self, simulation: Simulation, folder: Path, number: int, scope: Scope) -> None:
        self.simulation = simulation
        self.identity = Identity(bytes([number + 1]) * 32)
        self.node: SimulatedEngine = simulation.add_node(EngineConfig(scope=scope))
        self.records = ScopeRecords(folder / NAMES[number], scope)
        self.scopes: list[Scope] = []
        self.left_out_by: list[bytes] = []
        self.keeper = ScopeKeeper(
            self.node,
            scope,
            self.identity,
            self.records,
            lambda at, call: Ending(simulation.call_later(at - simulation.time(), call)),
            simulation.time,
            lambda: NAMES[number],
        )
        self.keeper.on_scope = self.scopes.append
        self.keeper.on_left_out = self.left_out_by.append
        self.work = Recorder(self.node.join(b"an object's id..", KEY))


Make = Callable[..., list[Place]]


@pytest.fixture
def simulation() -> Simulation:
    return Simulation(seed=5)


@pytest.fixture
def make(simulation: Simulation, tmp_path: Path) -> Make:
    def made(count: int) -> list[Place]:
        places = [Place(simulation, tmp_path, number, OFFICE) for number in range(count)]
        assert simulation.run_until(in_one_view([place.work for place in places]))
        assert simulation.run_until(
            lambda: all(len(place.keeper.members) == count for place in places)
        )
        return places

    return made


def test_everybody_there_follows_under_traffic_and_loss(simulation: Simulation, make: Make) -> None:
    places = make(4)
    works = [place.work for place in places]
    everybody = works[0].views[-1].members
    simulation.set_link(loss=0.1)
    assert [each.name for each in places[0].keeper.members] == sorted(NAMES)
    renewed = places[0].keeper.renew()
    for number in range(100):
        for work in works:
            work.send(b"%d" % number)
        simulation.run_for(0.02)
    assert simulation.run_until(lambda: all(place.scopes == [renewed] for place in places))
    with pytest.raises(WrongMoment, match="wait a minute"):
        places[1].keeper.renew()
    simulation.run_for(BOTH_S + 1)
    for work in works:
        work.send(b"afterwards")
    assert simulation.run_until(lambda: all(work.has_everything_of(works) for work in works))
    # Each key has a group of its members, so views may be new: of the same people.
    assert {view.members for work in works for view in work.views[1:]} <= {everybody}
    # And once more, by another.
    again = places[1].keeper.renew()
    assert simulation.run_until(lambda: all(place.keeper.scope == again for place in places))
    assert again.generation == 2


def test_one_left_out_gets_no_key_and_is_told(simulation: Simulation, make: Make) -> None:
    places = make(3)
    *rest, left_out = places
    renewed = rest[0].keeper.renew(without=[left_out.identity.public])
    assert simulation.run_until(lambda: all(place.keeper.scope == renewed for place in rest))
    assert simulation.run_until(lambda: left_out.left_out_by == [rest[0].identity.public])
    simulation.run_for(BOTH_S + 5)
    assert left_out.keeper.scope == OFFICE
    assert in_one_view([place.work for place in rest])()
    rest[0].work.send(b"among us")
    simulation.run_for(5)
    assert rest[1].work.messages[-1][1] == b"among us"
    assert b"among us" not in [data for _, data in left_out.work.messages]
    assert [each.name for each in rest[0].keeper.members] == ["Ada", "Jun"]
    # Nor does a word from earlier bring them back; a statement under the new key does.
    assert not rest[0].records.add_member(state(OFFICE, left_out.identity, "Mia"))
    assert rest[0].records.add_member(state(renewed, left_out.identity, "Mia"))


def test_two_renewals_at_the_same_time_end_in_one_key(simulation: Simulation, make: Make) -> None:
    places = make(4)
    keys = {place.keeper.renew().key for place in places[:3]}
    assert simulation.run_until(lambda: len({place.keeper.scope for place in places}) == 1)
    simulation.run_for(2 * BOTH_S)
    assert {place.keeper.scope.key for place in places} <= keys
    assert len({place.keeper.scope for place in places}) == 1
    works = [place.work for place in places]
    for work in works:
        work.send(b"still here")
    assert simulation.run_until(lambda: all(work.has_everything_of(works) for work in works))


def test_who_was_away_follows_with_the_renewals_of_another(
    simulation: Simulation, make: Make, tmp_path: Path
) -> None:
    places = make(3)
    away = places[2]
    away.node.crash()
    for place in (places[0], places[1]):
        place.keeper.renew()
        simulation.run_for(BOTH_S + 10)
    newest = places[0].keeper.scope
    assert newest.generation == 2
    known = ScopeRecords(tmp_path / NAMES[1], OFFICE)
    assert known.newest(OFFICE, away.identity) == newest
    assert known.newest(OFFICE, Identity(b"x" * 32)) == OFFICE
    back = Place(simulation, tmp_path, 2, OFFICE)
    simulation.run_for(10)
    assert back.work.group.view is None or len(back.work.group.view.members) == 1
    for data in known.since(OFFICE.generation):
        assert back.keeper.take_renewal(data)
        simulation.run_for(2)
    assert back.keeper.scope == newest
    assert simulation.run_until(
        in_one_view([places[0].work, places[1].work, back.work]), limit_s=60
    )


def test_rubbish_from_a_member_changes_nothing(simulation: Simulation, make: Make) -> None:
    places = make(2)
    _, stranger = make_renewal(Scope.from_key("Other", b"x" * 32), places[0].identity, [], bytes)
    group = places[0].keeper._roster.group
    for data in (
        b"",
        b"\xff",
        b"\x92\x01\x90",
        b"\x92\x02\xc4\x01x",
        b"\x92\x03\xc4\x01x",
        stranger,
    ):
        group.send(data)
    simulation.run_for(2)
    assert [place.keeper.scope for place in places] == [OFFICE, OFFICE]
    with pytest.raises(PeerViolation):
        places[0].keeper.take_renewal(stranger)


def test_records_are_bounded_and_an_unreadable_file_is_an_empty_memory(tmp_path: Path) -> None:
    ada = Identity(b"a" * 32)
    file = tmp_path / "records"
    records = ScopeRecords(file, OFFICE)
    assert records.add_member(state(OFFICE, ada, "Ada"))
    assert not records.add_member(state(OFFICE, ada, "Ada"))
    scope = OFFICE
    for _ in range(RENEWALS_MAX + 2):
        renewed, data = make_renewal(scope, ada, [], bytes)
        records.add_renewal(scope.generation, data, open_renewal(scope, ada, data))
        scope = replace(renewed)
    records.save()
    assert file.stat().st_mode & 0o077 == 0
    again = ScopeRecords(file, OFFICE)
    assert again.members == records.members
    assert len(again.renewals) == RENEWALS_MAX
    assert again.since(0) == []
    assert ScopeRecords(file, Scope.from_key("Other", b"x" * 32)).members == {}
    file.write_text("rubbish")
    assert ScopeRecords(file, OFFICE).members == {}
