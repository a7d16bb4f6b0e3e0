"""Contents after an unclean end: checked before anybody uses them, and fetched again if wrong."""

from __future__ import annotations

import heapq
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from liveobj.contents import checked
from liveobj.contents.checked import CheckedContents, end_all
from liveobj.contents.checking import TURN_BYTES, ContentChecks
from liveobj.contents.store import ContentStore, Intake
from tests.disk_faults import refusing
from tests.liveobj.contents.test_contents import DATA, NAME, Office
from tests.liveobj.support import Clock
from transport.bulk import content_id


def crash() -> None:
    """The process is gone, and has ended nothing."""
    checked._in_use.clear()


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    yield
    end_all()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def shorten(path: Path) -> None:
    path.write_bytes(DATA[:-1])


def zero(path: Path) -> None:
    path.write_bytes(bytes(len(DATA)))


def change(path: Path) -> None:
    path.write_bytes(b"x" + DATA[1:])


def replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(random.Random(9).randbytes(len(DATA)))
    other.replace(path)


DAMAGES = [empty, shorten, zero, change, replace]
Damage = Callable[[Path], None]


def damaged(folder: Path, damage: Damage) -> ContentStore:
    """A store in which a crash has left a content that only looks as it should, to its times."""
    store = ContentStore(folder)
    store.add_bytes(DATA)
    path = store.place(NAME)
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    damage(path)
    os.utime(path, ns=times)
    crash()
    return ContentStore(folder)


class Turns(Clock):
    """A scheduler that runs what is due one by one."""

    def turn(self) -> None:
        timer = heapq.heappop(self._timers)
        if not timer.cancelled:
            timer.callback()


def check(store: ContentStore, name: str = NAME) -> tuple[dict[str, bool], int]:
    """Checks one content: what is said of it, and after how many turns."""
    clock, told = Turns(), {}

    def done(name: str, right: bool) -> None:
        told[name] = right

    checks = ContentChecks(store, clock, done)
    checks.add(name)
    turns = 0
    while name in checks:
        clock.turn()
        turns += 1
        assert turns < 1000
    return told, turns


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_content_is_not_there_and_is_removed(tmp_path: Path, damage: Damage) -> None:
    store = damaged(tmp_path / "contents", damage)
    assert store.find(NAME) is None
    assert store.is_doubtful(NAME)
    assert check(store)[0] == {NAME: False}
    assert not store.place(NAME).exists()
    assert not store.is_doubtful(NAME)
    assert store.add_bytes(DATA) == NAME
    found = store.find(NAME)
    assert found is not None
    assert found.read_bytes() == DATA


def test_content_that_is_right_is_checked_once_and_then_known(tmp_path: Path) -> None:
    store = damaged(tmp_path / "contents", lambda _: None)
    assert store.find(NAME) is None, "after an unclean end nothing is sure"
    assert check(store)[0] == {NAME: True}
    assert store.find(NAME) == store.place(NAME)
    end_all()
    assert ContentStore(tmp_path / "contents").find(NAME) is not None, "it stays known"


def test_deleted_content_is_not_there(tmp_path: Path) -> None:
    store = damaged(tmp_path / "contents", lambda path: path.unlink() or path.touch())
    store.place(NAME).unlink()
    assert store.find(NAME) is None
    assert not store.is_doubtful(NAME)
    assert check(store)[0] == {NAME: False}


@pytest.mark.parametrize("damage", DAMAGES)
def test_content_that_somebody_changes_is_doubted_without_a_crash_too(
    tmp_path: Path, damage: Damage
) -> None:
    store = ContentStore(tmp_path / "contents")
    store.add_bytes(DATA)
    damage(store.place(NAME))
    assert store.find(NAME) is None
    assert store.is_doubtful(NAME)


def test_after_a_clean_end_nothing_is_read_again(tmp_path: Path) -> None:
    store = ContentStore(tmp_path / "contents")
    store.add_bytes(DATA)
    end_all()
    again = ContentStore(tmp_path / "contents")
    assert again.find(NAME) is not None
    assert again.used_bytes() == len(DATA)


def test_contents_of_an_earlier_version_are_checked_at_first_use(tmp_path: Path) -> None:
    place = tmp_path / "contents" / NAME[:2] / NAME
    place.parent.mkdir(parents=True)
    place.write_bytes(DATA)
    store = ContentStore(tmp_path / "contents")
    assert store.is_doubtful(NAME)
    assert check(store)[0] == {NAME: True}
    assert store.find(NAME) is not None


def test_number_of_the_generation_that_is_lost_makes_nothing_sure(tmp_path: Path) -> None:
    folder = tmp_path / "contents"
    store = damaged(folder, lambda _: None)
    check(store)
    end_all()
    (folder / ".generation").write_bytes(b"rubbish")
    assert ContentStore(folder).find(NAME) is None


def test_large_content_is_checked_a_piece_at_a_time(tmp_path: Path) -> None:
    data = random.Random(5).randbytes(5 * TURN_BYTES + 7)
    store = ContentStore(tmp_path / "contents")
    name = store.add_bytes(data)
    crash()
    told, turns = check(ContentStore(tmp_path / "contents"), name)
    assert told == {name: True}
    assert turns >= 6


def test_content_that_cannot_be_read_is_left_and_not_asked_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = damaged(tmp_path / "contents", lambda _: None)
    opened = Path.open

    def refuse(path: Path, *arguments: str) -> object:
        if path.name == NAME:
            raise OSError(5, "Input/output error")
        return opened(path, *arguments)

    monkeypatch.setattr(Path, "open", refuse)
    told: list[bool] = []
    clock = Clock()
    checks = ContentChecks(store, clock, lambda _, right: told.append(right))
    for _ in range(3):
        checks.add(NAME)
        clock.advance(1.0)
    assert told == [False]
    assert store.place(NAME).exists()


def test_content_that_is_replaced_while_it_is_checked_is_checked_again(tmp_path: Path) -> None:
    data = random.Random(5).randbytes(3 * TURN_BYTES)
    store = ContentStore(tmp_path / "contents")
    name = store.add_bytes(data)
    crash()
    store = ContentStore(tmp_path / "contents")
    clock, told = Turns(), []
    checks = ContentChecks(store, clock, lambda _, right: told.append(right))
    store.place(name).write_bytes(b"wrong" * TURN_BYTES)
    checks.add(name)
    clock.turn()
    replacement = tmp_path / "right"
    replacement.write_bytes(data)
    replacement.replace(store.place(name))
    clock.advance(1.0)
    assert told == [True]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_content_is_not_given_to_others_and_is_fetched_again(
    tmp_path: Path, damage: Damage
) -> None:
    damaged(tmp_path / "node1" / "contents", damage)
    office = Office(tmp_path, 3)
    office.give(2)
    first, offers = office.exchanges[0], office.hub.nodes[1].offers
    first.offer(NAME)
    assert not offers
    assert first.find(NAME) is None
    first.want(NAME, len(DATA))
    arrival = first.arrival(NAME)
    assert arrival is not None
    assert arrival.moving, "it is being checked"
    office.settle(2.0)
    found = first.find(NAME)
    assert found is not None
    assert found.read_bytes() == DATA
    assert NAME in office.said[0]
    assert [name for _, name in offers] == [bytes.fromhex(NAME)]


def test_content_that_has_just_come_is_not_read_a_second_time(tmp_path: Path) -> None:
    office = Office(tmp_path, 2)
    office.give(1)
    office.exchanges[0].want(NAME, len(DATA))
    office.settle(1.0)
    assert office.exchanges[0].store.find(NAME) is not None
    assert NAME not in office.exchanges[0]._checks


def test_file_that_was_taken_in_is_known(tmp_path: Path) -> None:
    source = tmp_path / "file"
    source.write_bytes(DATA)
    store = ContentStore(tmp_path / "contents")
    intake = Intake(store, source, 10**7)
    list(iter(intake.step, False))
    assert store.find(NAME) is not None


# Marks of those who write


def begun(folder: Path, process: int, boot: str = "boot", alive: set[int] | None = None) -> int:
    """A process that begins to write; returns the generation."""
    running = alive or set()
    contents = CheckedContents(folder, process=process, boot=boot, runs=running.__contains__)
    contents.writing()
    return contents.generation


def test_mark_of_a_program_that_runs_means_nothing(tmp_path: Path) -> None:
    first = begun(tmp_path, 10)
    assert begun(tmp_path, 11, alive={10}) == first
    assert begun(tmp_path, 12, alive={10}) == first + 1, "11 is gone"
    assert begun(tmp_path, 13, alive={10, 12}) == first + 1


def test_programs_of_one_profile_do_not_check_what_the_other_has_checked(tmp_path: Path) -> None:
    file = tmp_path / "content"
    file.write_bytes(DATA)

    def start(process: int) -> CheckedContents:
        return CheckedContents(tmp_path, process=process, boot="boot", runs={10}.__contains__)

    window = start(10)
    window.writing()
    start(11).writing()
    later = start(12)
    assert later.generation > window.generation, "11 has crashed"
    window.approve(file)
    assert not later.is_right(file)
    later.approve(file)
    assert later.is_right(file)
    assert window.is_right(file)


def test_mark_of_another_run_of_the_system_is_that_of_a_crash(tmp_path: Path) -> None:
    first = begun(tmp_path, 10)
    assert begun(tmp_path, 11, boot="another", alive={10}) == first + 1


def test_disk_that_refuses_the_mark_refuses_nothing_else(tmp_path: Path) -> None:
    with refusing():
        assert begun(tmp_path / "contents", 10) == 1
    assert begun(tmp_path / "contents", 11) == 1


def test_disk_that_keeps_no_times_keeps_the_knowledge_for_this_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_named: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "utime", refuse)
    store = ContentStore(tmp_path / "contents")
    assert store.find(store.add_bytes(DATA)) is not None
    store.place(NAME).write_bytes(b"changed")
    assert store.find(content_id(DATA).hex()) is None
