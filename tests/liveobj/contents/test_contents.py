"""Contents: kept by their hash, fetched from whoever has them, whatever happens on the way."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from pathlib import Path

import pytest

from liveobj.channels.messages import BadMessage
from liveobj.channels.presence import PresenceEntry
from liveobj.contents.exchange import RETRY_S, ContentExchange
from liveobj.contents.store import ContentProblem, ContentStore, Intake, is_content_name
from liveobj.objects.text_note import new_note, open_note
from tests.disk_faults import FAULTS, all_files, refusing
from tests.liveobj.support import Clock, LocalNetwork, make_host
from transport.bulk import content_id
from transport.simulated_streams import StreamHub

NOTE = new_note("x", random.Random(2).randbytes)
DATA = random.Random(3).randbytes(300_000)
NAME = content_id(DATA).hex()


class Office:
    """People in one object, each with contents of their own."""

    def __init__(self, folder: Path, count: int) -> None:
        self.clock, self.network = Clock(), LocalNetwork()
        self.hub = StreamHub(self.clock)
        self.exchanges: list[ContentExchange] = []
        self.said: list[list[str]] = []
        for node in range(1, count + 1):
            host = make_host(self.network, node, folder, self.clock)
            host = replace(host, streams=self.hub.streams())
            exchange = ContentExchange(open_note(NOTE, host), host)
            said: list[str] = []
            exchange.observe(said.append)
            self.exchanges.append(exchange)
            self.said.append(said)
        self.settle()

    def settle(self, seconds: float = 0.3) -> None:
        for _ in range(3):
            self.network.run()
            self.clock.advance(seconds / 3)

    def give(self, who: int) -> None:
        self.exchanges[who].store.add_bytes(DATA)
        self.exchanges[who].offer(NAME)


def test_it_comes_from_whoever_has_it_and_is_passed_on(tmp_path: Path) -> None:
    office = Office(tmp_path, 3)
    office.exchanges[0].want(NAME, len(DATA))
    office.settle()
    arrival = office.exchanges[0].arrival(NAME)
    assert arrival is not None
    assert not arrival.moving
    office.give(2)
    office.settle(RETRY_S + 1)
    path = office.exchanges[0].find(NAME)
    assert path is not None
    assert path.read_bytes() == DATA
    assert office.exchanges[0].arrival(NAME) is None
    assert NAME in office.said[0]
    office.exchanges[2].close()
    office.exchanges[1].want(NAME, len(DATA))
    office.settle()
    assert office.exchanges[1].find(NAME) is not None, "who has fetched it gives it on"


def test_it_goes_on_after_an_interruption(tmp_path: Path) -> None:
    office = Office(tmp_path, 2)
    office.give(1)
    office.exchanges[0].want(NAME, len(DATA))
    office.clock.advance(0.003)
    office.hub.reachable = lambda _one, _other: False
    office.settle()
    arrival = office.exchanges[0].arrival(NAME)
    assert arrival is not None
    assert 0 < arrival.done < len(DATA)
    office.hub.reachable = lambda _one, _other: True
    office.settle(RETRY_S + 1)
    assert office.exchanges[0].find(NAME) is not None


def test_what_was_changed_on_the_way_is_thrown_away(tmp_path: Path) -> None:
    office = Office(tmp_path, 2)
    office.give(1)
    office.hub.damage = lambda piece: b"x" * len(piece)
    office.exchanges[0].want(NAME, len(DATA))
    office.settle()
    assert office.exchanges[0].find(NAME) is None
    office.hub.damage = lambda piece: piece
    office.settle(RETRY_S + 1)
    assert office.exchanges[0].find(NAME) is not None


def test_who_is_hidden_still_gives_what_they_have(tmp_path: Path) -> None:
    office = Office(tmp_path, 2)
    office.exchanges[1]._shared.presence.set_hidden(True)
    office.settle()
    assert not office.exchanges[0]._shared.presence.others
    office.give(1)
    office.exchanges[0].want(NAME, len(DATA))
    office.settle()
    assert office.exchanges[0].find(NAME) is not None


def test_nobody_is_asked_for_what_is_forgotten(tmp_path: Path) -> None:
    office = Office(tmp_path, 2)
    office.exchanges[0].want(NAME, len(DATA))
    office.exchanges[0].forget(NAME)
    office.give(1)
    office.settle(RETRY_S + 1)
    assert office.exchanges[0].find(NAME) is None
    assert office.exchanges[0].arrival(NAME) is None


def test_without_room_it_says_so(tmp_path: Path) -> None:
    office = Office(tmp_path, 2)
    office.give(1)
    office.exchanges[0].store.quota_bytes = 1000
    office.exchanges[0].want(NAME, len(DATA))
    office.settle()
    arrival = office.exchanges[0].arrival(NAME)
    assert arrival is not None
    assert "no room" in arrival.problem


def test_a_file_is_taken_in_piece_by_piece(tmp_path: Path) -> None:
    store = ContentStore(tmp_path / "contents")
    source = tmp_path / "file"
    source.write_bytes(DATA * 5)
    intake = Intake(store, source, 10**7)
    steps = 1
    while intake.step():
        steps += 1
    assert steps > 2
    assert intake.name == content_id(DATA * 5).hex()
    found = store.find(intake.name)
    assert found is not None
    assert found.read_bytes() == DATA * 5
    store.remove(intake.name)
    assert store.used_bytes() == 0


def test_files_that_are_too_large_or_not_there_leave_nothing(tmp_path: Path) -> None:
    store = ContentStore(tmp_path / "contents")
    source = tmp_path / "file"
    source.write_bytes(DATA)
    with pytest.raises(ContentProblem, match="more than"):
        Intake(store, source, 1000)
    with pytest.raises(ContentProblem, match="cannot be read"):
        Intake(store, tmp_path / "missing", 10**7)
    growing = Intake(store, source, len(DATA) + 10)
    source.write_bytes(DATA * 2)
    with pytest.raises(ContentProblem, match="more than"):
        growing.step()
    cancelled = Intake(store, source, 10**7)
    cancelled.step()
    cancelled.cancel()
    assert store.used_bytes() == 0


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "a" * 63, "A" * 64, "g" * 64, 5, None])
def test_names_of_contents_are_hashes_and_nothing_else(name: object) -> None:
    assert not is_content_name(name)


@pytest.mark.parametrize(
    "streams",
    [["example.org", 80], ["127.0.0.1", 0], ["127.0.0.1", 70000], ["x" * 99, 5], [1, 2], "x", [1]],
)
def test_places_that_cannot_be_are_refused(streams: object) -> None:
    fields = {"name": "Ada", "colour": "#112233", "streams": streams}
    with pytest.raises(BadMessage):
        PresenceEntry.read(fields)
    fields["streams"] = ["192.168.1.5", 4000]
    assert PresenceEntry.read(fields).streams == ("192.168.1.5", 4000)


@pytest.mark.parametrize(("call", "code"), FAULTS)
def test_disk_that_refuses_a_content_says_so_and_keeps_nothing(
    tmp_path: Path, call: str, code: int
) -> None:
    store = ContentStore(tmp_path / "contents")
    source = tmp_path / "file"
    source.write_bytes(DATA)
    with refusing(call, code):
        with pytest.raises(ContentProblem, match="refuses"):
            store.add_bytes(DATA)
        intake = Intake(store, source, 10**7)
        with pytest.raises(ContentProblem, match="cannot be copied"):
            list(iter(intake.step, False))
    assert store.find(NAME) is None
    assert all_files(tmp_path) == {"file": DATA}


def test_contents_are_their_users_alone(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        store = ContentStore(tmp_path / "contents")
        source = tmp_path / "file"
        source.write_bytes(DATA * 2)
        intake = Intake(store, source, 10**7)
        list(iter(intake.step, False))
        names = [store.add_bytes(DATA), intake.name]
    finally:
        os.umask(mask)
    for name in names:
        assert store.place(name).stat().st_mode & 0o777 == 0o600
