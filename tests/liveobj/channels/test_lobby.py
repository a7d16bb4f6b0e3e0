"""The lobby: who is there, and references from hand to hand, on the simulated network."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import msgpack
import pytest

from liveobj.channels.lobby import OFFER_EVERY_S, Lobby, Offer
from liveobj.host import Person
from liveobj.objects.text_note import new_note
from tests.liveobj.simulated import SimulatedOffice

NAMES = ["Ada", "Jun", "Mia"]


class Lobbies(SimulatedOffice):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder, len(NAMES), 3)
        self.lobbies = [
            Lobby(host.network, host.scheduler, Person(name, "#006892"), host.random_bytes)
            for host, name in zip(self.hosts, NAMES, strict=True)
        ]
        self.offers: list[list[Offer]] = [[] for _ in NAMES]
        for lobby, offers in zip(self.lobbies, self.offers, strict=True):
            lobby.on_offer(offers.append)
        self.until(lambda: all(len(lobby.neighbours) == 2 for lobby in self.lobbies))

    def node(self, of: int, name: str) -> int:
        return next(n for n, one in self.lobbies[of].neighbours.items() if one.name == name)


@pytest.fixture
def office(tmp_path: Path) -> Any:
    office = Lobbies(tmp_path)
    yield office
    for lobby in office.lobbies:
        lobby.close()
    office.close()


def test_a_reference_reaches_the_one_it_is_for_and_nobody_else(office: Lobbies) -> None:
    note = new_note("Lunch", random.Random(1).randbytes)
    heard: list[bytes] = []
    listen = office.lobbies[2]._take
    office.lobbies[2]._take = lambda sender, fields: (  # type: ignore[method-assign]
        heard.append(msgpack.packb(fields)),
        listen(sender, fields),
    )[1]
    assert office.lobbies[0].hand_over(office.node(0, "Jun"), note, "Lunch")
    office.until(lambda: bool(office.offers[1]))
    offer = office.offers[1][0]
    assert (offer.sender.name, offer.title, offer.reference) == ("Ada", "Lunch", note)
    office.until(lambda: bool(heard))
    assert office.offers[2] == []
    assert all(key not in b"".join(heard) for key in note.secrets.keys.values())


def test_names_change_people_hide_and_go(office: Lobbies) -> None:
    office.lobbies[1].set_person(Person("Jun Sato", "#c1277a"), hidden=False)
    names = lambda: {one.name for one in office.lobbies[0].neighbours.values()}  # noqa: E731
    office.until(lambda: names() == {"Jun Sato", "Mia"})
    office.lobbies[1].set_person(Person("Jun Sato", "#c1277a"), hidden=True)
    office.until(lambda: names() == {"Mia"})
    office.lobbies[2].close()
    office.until(lambda: names() == set())
    assert not office.lobbies[0].hand_over(12345, new_note("x", random.Random(1).randbytes), "x")


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\xc1",
        msgpack.packb(5),
        msgpack.packb({"name": "x" * 101, "colour": "#123456", "key": b"k" * 32}),
        msgpack.packb({"name": "x", "colour": "red", "key": b"k" * 32}),
        msgpack.packb({"name": "x", "colour": "#123456", "key": b"short"}),
        msgpack.packb({"to": "me", "box": b""}),
        msgpack.packb({"strange": 1}),
    ],
)
def test_rubbish_is_counted_and_changes_nothing(office: Lobbies, message: bytes) -> None:
    before = office.lobbies[1].neighbours
    office.lobbies[0]._group.send(message)
    office.until(lambda: office.lobbies[1].refused == 1)
    assert office.lobbies[1].neighbours == before


def test_offers_that_cannot_be_read_or_come_too_fast_are_not_shown(office: Lobbies) -> None:
    jun = office.node(0, "Jun")
    office.lobbies[0]._group.send(msgpack.packb({"to": jun, "box": b"nonsense"}))
    office.until(lambda: office.lobbies[1].refused == 1)
    note = new_note("Lunch", random.Random(1).randbytes)
    office.lobbies[0].hand_over(jun, note, "too soon")
    office.until(lambda: office.lobbies[1].refused == 2)
    assert office.offers[1] == []
    later_s = office.hosts[0].scheduler.time() + OFFER_EVERY_S + 1
    office.until(lambda: office.hosts[0].scheduler.time() > later_s)
    office.lobbies[0].hand_over(jun, note, "in time")
    office.until(lambda: [offer.title for offer in office.offers[1]] == ["in time"])
