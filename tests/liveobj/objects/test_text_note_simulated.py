"""The text note over the real engine in the simulator: loss, late join, partition, crash."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from liveobj.capabilities import view_only
from liveobj.objects.text_note import TextNote, new_note, open_note
from tests.liveobj.simulated import SimulatedOffice
from transport.simulation import Link

NOTE = new_note("Plan", random.Random(5).randbytes)


@pytest.fixture
def offices(tmp_path: Path) -> Iterator[list[SimulatedOffice]]:
    made: list[SimulatedOffice] = []
    yield made
    for office in made:
        office.close()


def start(
    offices: list[SimulatedOffice], tmp_path: Path, nodes: int, seed: int, loss: float = 0.0
) -> tuple[SimulatedOffice, list[TextNote]]:
    office = SimulatedOffice(tmp_path, nodes, seed, Link(loss=loss))
    offices.append(office)
    notes = [open_note(NOTE, host) for host in office.hosts]
    office.until(lambda: all(note.state.people == nodes for note in notes))
    return office, notes


def same(notes: list[TextNote]) -> bool:
    versions = [note.document.version for note in notes]
    return all(version == versions[0] for version in versions)


def type_in(note: TextNote, word: str) -> None:
    note.text.insert(note.text.length, word)


@pytest.mark.parametrize("loss", [0.0, 0.1])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_five_people_write_at_once(
    offices: list[SimulatedOffice], tmp_path: Path, seed: int, loss: float
) -> None:
    office, notes = start(offices, tmp_path, 5, seed, loss)
    for turn in range(20):
        for number, note in enumerate(notes):
            type_in(note, f"{number}.{turn} ")
        office.simulation.run_for(0.01)
    office.until(lambda: same(notes))
    words = str(notes[0].text).split()
    assert sorted(words) == sorted(f"{n}.{t}" for n in range(5) for t in range(20))
    assert {str(note.text) for note in notes} == {str(notes[0].text)}
    office.until(lambda: all(n.state.saved and not n.state.unsent for n in notes))
    office.until(lambda: all(len(note.presence.others) == 4 for note in notes), 10)


def test_one_who_comes_late_gets_a_long_text(
    offices: list[SimulatedOffice], tmp_path: Path
) -> None:
    office, notes = start(offices, tmp_path, 2, 4, 0.05)
    noise = random.Random(1).randbytes(60_000).hex()
    type_in(notes[0], noise)
    office.until(lambda: same(notes))
    notes.append(open_note(view_only(NOTE), office.add()))
    office.until(lambda: str(notes[2].text) == noise)
    assert notes[2].channel.counters.refused == 0


@pytest.mark.parametrize("seed", [5, 6, 7, 9])
def test_both_sides_of_a_partition_write_and_merge(
    offices: list[SimulatedOffice], tmp_path: Path, seed: int
) -> None:
    office, notes = start(offices, tmp_path, 4, seed)
    office.simulation.partition(office.engines[:2], office.engines[2:])
    office.until(lambda: all(note.state.people == 2 for note in notes), 120)
    type_in(notes[0], "left ")
    type_in(notes[3], "right ")
    office.until(lambda: same(notes[:2]) and same(notes[2:]))
    office.simulation.heal()
    office.until(lambda: all(note.state.people == 4 for note in notes), 120)
    office.until(lambda: same(notes))
    assert sorted(str(notes[1].text).split()) == ["left", "right"]


def test_what_a_crashed_writer_had_sent_or_saved_is_not_lost(
    offices: list[SimulatedOffice], tmp_path: Path
) -> None:
    office, notes = start(offices, tmp_path, 3, 6)
    type_in(notes[0], "sent ")
    office.until(lambda: same(notes))
    office.simulation.partition(office.engines[:1], office.engines[1:])
    type_in(notes[0], "saved ")
    office.until(lambda: notes[0].state.saved)
    office.engines[0].crash()
    office.simulation.heal()
    office.until(lambda: all(note.state.people == 2 for note in notes[1:]), 120)
    office.engines[0].restart()
    again = open_note(NOTE, office.host(office.engines[0], 0))
    assert str(again.text) == "sent saved "
    office.until(lambda: str(notes[2].text) == "sent saved ", 120)
