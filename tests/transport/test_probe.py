"""Another computer is tried, not guessed about: by a guest, by its system's answer, by the way that
packets take."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from tests.source_tree import ROOT
from tests.transport.network import loopback, running
from tests.transport.test_snapshots import SNAPSHOT
from transport import probe
from transport.config import Peer
from transport.doctor import check_neighbours
from transport.engine_check import check_engine
from transport.findings import Verdict
from transport.links import Kind, Link
from transport.probe import Answer, Tried, check_others_multicast, judge_peer, judge_peers, try_peer
from transport.scopes import ANNOUNCED_VERSION, NEARBY, Scope, scope_label

HERE = "127.0.0.1"
PEER = Peer("10.0.0.9", 4711)
CABLE = Link("eth0", Kind.WIRED, True, True, True, "10.0.0.7")
WIFI = Link("wlan0", Kind.WIRELESS, True, True, True, "10.0.0.8")
TUNNEL = Link("wg0", Kind.VPN, True, True, False, "10.9.0.2")
LINKS = [CABLE, WIFI, TUNNEL]
LO = Link("lo", Kind.LOOPBACK, True, True, True, HERE)


def run(story: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(story(), 30))  # type: ignore[arg-type]


def test_engine_of_the_scope_lets_a_guest_in_and_is_left_as_it_was() -> None:
    async def story() -> None:
        async with running(loopback(multicast=False)) as (engine,):
            await engine.ready()
            address = engine.info().address
            peer = Peer(address.text, address.port)
            tried = await try_peer(engine.config.scope, HERE, peer)
            assert tried == Tried(peer, True, Answer.YES, HERE)
            assert judge_peer(tried, LO, [LO]).verdict is Verdict.GOOD
            # With another key nobody is let in, though the computer answers.
            stranger = Scope.from_key("Test", bytes(32))
            refused = await try_peer(stranger, HERE, peer, wait_s=0.7)
            assert (refused.let_in, refused.answer) == (False, Answer.YES)
            finding = judge_peer(refused, LO, [LO])
            assert (finding.subject, finding.verdict) == ("firewall", Verdict.BAD)
            assert "compare scope and version" in finding.fix

    run(story)


def test_port_without_a_program_is_told_from_a_computer_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            taken.bind((HERE, 0))
            peer = Peer(HERE, taken.getsockname()[1])
        tried = await try_peer(NEARBY, HERE, peer, wait_s=0.3)
        assert (tried.let_in, tried.answer) == (False, Answer.NOBODY)
        assert judge_peer(tried, LO, [LO]).verdict is Verdict.ODD

        async def nobody(_peer: Peer) -> bool:
            return False

        monkeypatch.setattr(probe, "_nobody_there", nobody)
        for problem, answer in (
            (OSError(errno.EHOSTUNREACH, "No route to host"), Answer.UNREACHABLE),
            (OSError(errno.EACCES, "Permission denied"), Answer.SILENT),
            (TimeoutError(), Answer.SILENT),
            (ConnectionRefusedError(), Answer.YES),
        ):

            async def refuse(*_: object, problem: OSError = problem) -> None:
                raise problem

            monkeypatch.setattr(asyncio, "open_connection", refuse)
            assert await probe._knock(peer, 0.3) is answer

    run(story)


@pytest.mark.parametrize(
    ("tried", "link", "subject", "words"),
    [
        (Tried(PEER, False, Answer.SILENT, "10.0.0.8"), WIFI, "isolation", "client isolation"),
        (Tried(PEER, False, Answer.UNREACHABLE, "10.0.0.8"), WIFI, "isolation", "access point"),
        (Tried(PEER, False, Answer.YES, "10.0.0.8"), WIFI, "firewall", "both firewalls"),
        (Tried(PEER, False, Answer.SILENT, "10.9.0.2"), CABLE, "vpn", "Switch wg0 off"),
        (Tried(PEER, False, Answer.SILENT, "10.0.0.8"), CABLE, "route", "wlan0"),
        (Tried(PEER, False, Answer.UNREACHABLE, "10.0.0.7"), CABLE, "peer", "same network"),
        (Tried(PEER, False, Answer.SILENT, ""), CABLE, "peer", "same network"),
    ],
)
def test_what_came_of_it_names_the_fix(tried: Tried, link: Link, subject: str, words: str) -> None:
    finding = judge_peer(tried, link, LINKS)
    assert (finding.subject, finding.verdict) == (subject, Verdict.BAD)
    assert words in finding.fix


def test_that_others_answer_says_something_of_one_who_does_not() -> None:
    answering = Tried(Peer("10.0.0.3", 4711), False, Answer.YES, "10.0.0.7")
    silent = Tried(PEER, False, Answer.SILENT, "10.0.0.7")
    assert [each.subject for each in judge_peers([silent], CABLE, LINKS)] == ["peer"]
    subjects = [each.subject for each in judge_peers([answering, silent], CABLE, LINKS)]
    assert subjects == ["firewall", "isolation"]


def test_multicast_of_others_is_listened_for() -> None:
    async def story() -> None:
        async with running(loopback()) as (engine,):
            rendezvous = engine.info().rendezvous
            # Only this computer speaks there, which proves nothing about others.
            quiet = await check_others_multicast(rendezvous.text, rendezvous.port, LO, wait_s=1.3)
            assert quiet.verdict is Verdict.ODD
            assert "IGMP snooping" in quiet.fix
            other = asyncio.create_task(
                check_others_multicast(rendezvous.text, rendezvous.port, LO, wait_s=5)
            )
            await asyncio.sleep(0.1)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mouth:
                mouth.bind(("127.0.0.2", 0))
                mouth.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(HERE))
                mouth.sendto(b"x", (rendezvous.text, rendezvous.port))
            heard = await other
            assert heard.verdict is Verdict.GOOD
            assert "127.0.0.2" in heard.sentence

    run(story)


def test_the_announced_version_is_the_engines() -> None:
    header = (ROOT / "native" / "src" / "core" / "wire.h").read_text()
    assert f"#define QSM_WIRE_VERSION {ANNOUNCED_VERSION}u" in header


def test_neighbours_of_another_scope_or_version_are_told() -> None:
    same = {"scope": scope_label(NEARBY), "version": ANNOUNCED_VERSION}
    assert check_neighbours(NEARBY, [same, {}]).verdict is Verdict.GOOD
    older = check_neighbours(NEARBY, [same, {**same, "version": "0"}])
    assert (older.subject, older.verdict) == ("version", Verdict.ODD)
    strange = check_neighbours(NEARBY, [{"scope": "0123"}])
    assert (strange.subject, strange.verdict) == ("key", Verdict.ODD)
    assert "1 computer in other scopes" in strange.sentence
    among_others = check_neighbours(NEARBY, [{"scope": "0123"}], SNAPSHOT)
    assert among_others.verdict is Verdict.GOOD


def test_regions_that_fell_back_to_unicast_are_told() -> None:
    region = replace(SNAPSHOT.regions[0], unicast=True, alive=3)
    snapshot = replace(SNAPSHOT, multicast="239.1.1.1:17474", regions=(region,))
    found = {finding.subject: finding for finding in check_engine(snapshot)}
    assert found["unicast"].verdict is Verdict.ODD
    assert "By unicast: 1 region, since multicast does not reach" in found["unicast"].sentence
    assert "on the other computers" in found["unicast"].fix
    deaf = replace(snapshot, unheard=("10.0.0.8:4000", "10.0.0.9:4000"))
    found = {finding.subject: finding for finding in check_engine(deaf)}
    assert "of 10.0.0.8:4000, 10.0.0.9:4000 is not heard here" in found["unicast"].sentence
    assert "IGMP snooping" in found["unicast"].fix
    missed = replace(snapshot, missed="239.192.1.2", missed_rests_s=61.0)
    found = {finding.subject: finding for finding in check_engine(missed)}
    assert "239.192.1.2 does not arrive here; multicast is tried again in 2 minutes" in (
        found["unicast"].sentence
    )
    assert "have a querier" in found["unicast"].fix
