"""Members of an object learn who the others are, by signatures that are good for this view only."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from liveobj.channels.introductions import VIEWS_KEPT, Introductions
from liveobj.channels.messages import BadMessage, Introduction, decode, encode
from liveobj.objects.text_note import new_note, open_note
from tests.liveobj.simulated import SimulatedOffice
from tests.liveobj.support import Clock, LocalNetwork, make_host
from transport.identities import Identity
from transport.simulation import Link

GROUP = b"g" * 16
ADA, JUN, EVE = (Identity(bytes([number]) * 32) for number in (1, 2, 3))
NOTE = new_note("Plan", random.Random(5).randbytes)


def member(identity: Identity | None, me: int, nodes: tuple[int, ...] = (1, 2)) -> Introductions:
    introductions = Introductions(GROUP, identity)
    introductions.on_view(me, 7, nodes)
    return introductions


def said(introductions: Introductions) -> Introduction:
    introduction = introductions.mine()
    assert introduction is not None
    sent = decode(encode(introduction))
    assert sent == introduction
    return introduction


def test_signature_for_this_view_verifies() -> None:
    jun = member(JUN, 2)
    assert jun.verified(1) == ""
    assert jun.accept(1, said(member(ADA, 1)))
    assert jun.verified(1) == ADA.fingerprint
    jun.on_view(2, 8, (1, 2, 3))
    assert jun.verified(1) == ADA.fingerprint  # Who stays need not sign again.
    jun.on_view(2, 9, (2, 3))
    assert jun.verified(1) == ""


def test_one_without_an_identity_says_nothing() -> None:
    assert member(None, 1).mine() is None
    assert Introductions(GROUP, ADA).mine() is None


@pytest.mark.parametrize("what", ["group", "node", "members", "number", "key", "signature"])
def test_signature_for_anything_else_does_not(what: str) -> None:
    other = Introductions(b"h" * 16 if what == "group" else GROUP, ADA)
    node = 3 if what == "node" else 1
    nodes = (1, 2, 3) if what in {"node", "members"} else (1, 2)
    other.on_view(node, 6 if what == "number" else 7, nodes)
    introduction = replace(said(other), view=7)
    if what == "key":
        introduction = replace(introduction, public=EVE.public)
    if what == "signature":
        introduction = replace(introduction, signature=bytes(64))
    jun = member(JUN, 2)
    with pytest.raises(BadMessage):
        jun.accept(1, introduction)
    assert jun.verified(1) == ""


def test_recorded_signature_is_no_good_for_one_who_was_not_there() -> None:
    """Eve takes a node id that Ada once had, and plays what Ada said then."""
    recorded = said(member(ADA, 1, (1, 2)))
    newcomer = member(JUN, 9, (1, 9))  # Even the number of the view is the same.
    with pytest.raises(BadMessage):
        newcomer.accept(1, recorded)
    assert newcomer.verified(1) == ""


def test_views_that_were_not_seen_are_passed_over_and_few_are_kept() -> None:
    jun = member(JUN, 2)
    assert not jun.accept(1, replace(said(member(ADA, 1)), view=99))
    assert not jun.accept(5, said(member(ADA, 1)))
    for number in range(8, 9 + VIEWS_KEPT):
        jun.on_view(2, number, (1, 2))
    assert not jun.accept(1, said(member(ADA, 1)))


def test_two_who_sign_for_one_node_are_both_not_believed() -> None:
    jun = member(JUN, 2)
    jun.accept(1, said(member(ADA, 1)))
    jun.accept(1, said(member(EVE, 1)))
    assert jun.verified(1) == ""
    jun.accept(1, said(member(ADA, 1)))
    assert jun.verified(1) == ""


@pytest.mark.parametrize(
    "introduction",
    [
        Introduction(bytes(31), 1, bytes(64)),
        Introduction(bytes(32), -1, bytes(64)),
        Introduction(bytes(32), 1, bytes(63)),
    ],
)
def test_introduction_out_of_bounds_is_no_message(introduction: Introduction) -> None:
    with pytest.raises(BadMessage):
        decode(encode(introduction))


def test_people_are_shown_verified_or_not(tmp_path: Path) -> None:
    network, clock = LocalNetwork(), Clock()
    hosts = [
        replace(make_host(network, node, tmp_path, clock), identity=identity)
        for node, identity in ((1, ADA), (2, None), (3, JUN))
    ]
    notes = [open_note(NOTE, host) for host in hosts]
    network.run()
    shown = [{e.name: e.fingerprint for e in note.presence.others.values()} for note in notes]
    assert shown[0] == {"person 2": "", "person 3": JUN.fingerprint}
    assert shown[1] == {"person 1": ADA.fingerprint, "person 3": JUN.fingerprint}
    told: list[str] = []
    notes[0].presence.observe(lambda p: told.append(p.others[2].fingerprint))
    notes[2].presence.set_person("Jun", "#102030")  # A new entry does not lose the signature.
    network.run()
    assert notes[0].presence.others[3].fingerprint == JUN.fingerprint
    assert told == [""]
    assert all(note.channel.counters.dropped == 0 for note in notes)
    for note in notes:
        note.close()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_all_are_verified_over_a_network_that_loses_parts_and_heals(
    tmp_path: Path, seed: int
) -> None:
    office = SimulatedOffice(tmp_path, 4, seed, Link(loss=0.1))
    identities = [Identity(bytes([number + 1]) * 32) for number in range(4)]
    hosts = [
        replace(host, identity=identity)
        for host, identity in zip(office.hosts, identities, strict=True)
    ]
    notes = [open_note(NOTE, host) for host in hosts]
    wanted = [
        {identity.fingerprint for identity in identities if identity is not own}
        for own in identities
    ]

    def verified() -> bool:
        shown = [{e.fingerprint for e in note.presence.others.values()} for note in notes]
        return shown == wanted

    office.until(verified)
    office.simulation.partition(office.engines[:2], office.engines[2:])
    office.until(lambda: all(len(note.presence.others) == 1 for note in notes), 120)
    office.simulation.heal()
    office.until(verified, 120)
    office.close()
