"""The doctor names what is wrong with a network, and what to do about it."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.transport.test_snapshots import SNAPSHOT
from transport import doctor
from transport.config import Peer
from transport.doctor import check_links, check_mdns, check_multicast, examine
from transport.engine_check import check_engine
from transport.errors import SystemRefused
from transport.findings import Finding, Verdict, as_json, as_text
from transport.identities import Identity
from transport.links import Kind, Link, best_link, ipv4_address, list_links
from transport.scopes import NEARBY, Scope
from transport.snapshots import PathState, from_json
from transport.snapshots import as_json as snapshot_as_json

CABLE = Link("eth0", Kind.WIRED, True, True, True, "10.0.0.7")
WIFI = Link("wlan0", Kind.WIRELESS, True, True, True, "10.0.0.8")
TUNNEL = Link("wg0", Kind.VPN, True, True, False, "10.9.0.2")
LOOPBACK = Link("lo", Kind.LOOPBACK, True, True, False, "127.0.0.1")


def verdicts(findings: list[Finding]) -> dict[str, Verdict]:
    return {finding.subject: finding.verdict for finding in findings}


# Interfaces


def make_link(folder: Path, name: str, **files: str) -> None:
    (folder / name).mkdir(parents=True)
    for file, content in {"type": "1", "operstate": "up", "flags": "0x1003", **files}.items():
        (folder / name / file).write_text(content + "\n")


def test_interfaces_are_told_apart(tmp_path: Path) -> None:
    make_link(tmp_path, "eth0", device="")
    make_link(tmp_path, "wlan0", device="", phy80211="", operstate="down")
    make_link(tmp_path, "wg0", type="65534", flags="0x91", operstate="unknown")
    make_link(tmp_path, "tap0", tun_flags="0x1002")
    make_link(tmp_path, "docker0", flags="0x1002")
    make_link(tmp_path, "eth0.5", ifindex="7", iflink="2")
    make_link(tmp_path, "lo", type="772", flags="0x9", operstate="unknown")
    (tmp_path / "odd").mkdir()
    links = {link.name: link for link in list_links(tmp_path, lambda name: "10.0.0.1")}
    assert {name: link.kind for name, link in links.items()} == {
        "docker0": Kind.VIRTUAL,
        "eth0": Kind.WIRED,
        "eth0.5": Kind.WIRED,
        "lo": Kind.LOOPBACK,
        "odd": Kind.VIRTUAL,
        "tap0": Kind.VPN,
        "wg0": Kind.VPN,
        "wlan0": Kind.WIRELESS,
    }
    assert links["eth0"].usable
    assert links["eth0"].multicast
    assert not links["wg0"].multicast
    assert not links["wlan0"].usable
    assert not links["docker0"].up
    assert not links["odd"].usable


def test_system_without_a_list_of_interfaces_has_none(tmp_path: Path) -> None:
    assert list_links(tmp_path / "missing") == []


def test_this_computer_has_a_loopback_interface() -> None:
    assert ipv4_address("lo") == "127.0.0.1"
    assert ipv4_address("nosuch0") == ""
    assert any(link.kind is Kind.LOOPBACK and link.usable for link in list_links())


def test_cable_is_preferred_and_loopback_is_the_last_resort() -> None:
    assert best_link([LOOPBACK, TUNNEL, WIFI, CABLE]) == CABLE
    assert best_link([LOOPBACK, TUNNEL, WIFI, replace(CABLE, running=False)]) == WIFI
    assert best_link([LOOPBACK]) == LOOPBACK
    assert best_link([replace(LOOPBACK, address="")]) is None


def test_good_cable_has_one_good_finding() -> None:
    assert check_links([LOOPBACK, CABLE]) == [
        Finding("interface", Verdict.GOOD, "eth0 (10.0.0.7) is connected.")
    ]


@pytest.mark.parametrize(
    ("links", "wanted", "subject", "verdict"),
    [
        ([CABLE], "eth1", "interface", Verdict.BAD),
        ([replace(CABLE, up=False)], "eth0", "interface", Verdict.BAD),
        ([replace(CABLE, running=False)], "eth0", "interface", Verdict.BAD),
        ([replace(CABLE, address="")], "eth0", "interface", Verdict.BAD),
        ([replace(CABLE, address="")], "", "interface", Verdict.BAD),
        ([replace(CABLE, multicast=False)], "eth0", "multicast", Verdict.ODD),
        ([CABLE, LOOPBACK], "127.0.0.1", "interface", Verdict.ODD),
        ([WIFI], "", "wireless", Verdict.ODD),
        ([CABLE, TUNNEL], "", "vpn", Verdict.ODD),
        ([CABLE, TUNNEL], "wg0", "vpn", Verdict.ODD),
    ],
)
def test_each_fault_of_an_interface_is_named_with_its_fix(
    links: list[Link], wanted: str, subject: str, verdict: Verdict
) -> None:
    findings = check_links(links, wanted)
    assert verdicts(findings)[subject] is verdict
    assert all(finding.fix for finding in findings if finding.verdict is not Verdict.GOOD)


def test_nothing_known_of_interfaces_is_no_finding() -> None:
    assert check_links([]) == []


# Multicast


def test_multicast_on_loopback_is_tried_for_real() -> None:
    finding = asyncio.run(check_multicast("127.0.0.1"))
    assert finding.verdict is Verdict.GOOD


def test_multicast_that_is_refused_or_not_heard_is_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    async def silence(address: str, group: str, wait_s: float) -> bool:
        return False

    refused = asyncio.run(check_multicast("203.0.113.9"))
    assert refused.verdict is Verdict.BAD
    assert "refused" in refused.sentence
    monkeypatch.setattr(doctor, "_probe", silence)
    unheard = asyncio.run(check_multicast("127.0.0.1"))
    assert unheard.verdict is Verdict.BAD
    assert "firewall" in unheard.fix


# The engine


def test_engine_among_others_is_good() -> None:
    quiet = replace(SNAPSHOT, counters={}, regions=())
    assert verdicts(check_engine(quiet)) == {"membership": Verdict.GOOD}


@pytest.mark.parametrize(
    ("health", "verdict"),
    [("searching", Verdict.BAD), ("joining", Verdict.BAD), ("suspended", Verdict.BAD)],
)
def test_engine_that_is_not_admitted_is_bad(health: str, verdict: Verdict) -> None:
    findings = check_engine(replace(SNAPSHOT, health=health, groups=()))
    assert verdicts(findings)["membership"] is verdict


def test_engine_that_is_alone_or_without_multicast_is_odd() -> None:
    findings = check_engine(replace(SNAPSHOT, groups=(), multicast=""))
    assert verdicts(findings) == {"membership": Verdict.ODD, "multicast": Verdict.ODD}


def test_engine_that_reaches_others_and_shares_nothing_is_good() -> None:
    alone = replace(SNAPSHOT, groups=())
    (finding,) = check_engine(alone, reached=2)
    assert (finding.subject, finding.verdict) == ("membership", Verdict.GOOD)
    assert "2 other computers are reached" in finding.sentence
    announced = [Peer("10.0.0.8", 4000)]
    assert check_mdns(NEARBY, "10.0.0.7", announced, alone, 1).verdict is Verdict.GOOD
    assert check_mdns(NEARBY, "10.0.0.7", announced, alone, 0).verdict is Verdict.ODD


def test_path_that_carries_less_than_the_interface_says_is_named() -> None:
    snapshot = replace(SNAPSHOT, short_paths=(PathState("10.0.0.9", 1280),))
    assert from_json(json.loads(json.dumps(snapshot_as_json(snapshot)))) == snapshot
    (finding,) = [each for each in check_engine(snapshot) if each.subject == "path"]
    assert finding.verdict is Verdict.ODD
    assert finding.sentence == (
        "The path to 10.0.0.9 carries only 1280 bytes although the interface eth0 says 1500."
    )
    assert "VPN" in finding.fix


@pytest.mark.parametrize(
    "counter",
    ["dropped_not_authentic", "udp_kernel_drops", "udp_send_errors", "messages_forged", "evicted"],
)
def test_counter_that_tells_a_story_is_told(counter: str) -> None:
    findings = check_engine(replace(SNAPSHOT, counters={counter: 4711}))
    told = next(finding for finding in findings if finding.subject == counter)
    assert "4711" in told.sentence
    assert told.fix


def test_one_foreign_packet_is_no_story() -> None:
    findings = check_engine(replace(SNAPSHOT, counters={"dropped_not_authentic": 1}))
    assert verdicts(findings) == {"membership": Verdict.GOOD}


# As a whole


def test_examination_of_this_computer_can_be_shown() -> None:
    findings = asyncio.run(examine([LOOPBACK], snapshot=SNAPSHOT))
    assert verdicts(findings)["multicast"] is Verdict.GOOD
    text = as_text(findings)
    assert text.index("odd ") < text.index("good")
    assert "-> " in text
    assert json.loads(json.dumps(as_json(findings)))[0]["subject"] == "interface"


def test_nothing_to_look_at_is_said() -> None:
    assert "Nothing" in as_text(asyncio.run(examine([])))


def test_clock_of_another_century_is_odd() -> None:
    assert doctor.check_clock(0).verdict is Verdict.ODD
    assert doctor.check_clock(1_800_000_000).verdict is Verdict.GOOD


def test_identity_that_others_can_read_is_bad(tmp_path: Path) -> None:
    file = tmp_path / "identity"
    assert doctor.check_identity(file).verdict is Verdict.GOOD
    identity = Identity(b"i" * 32)
    identity.save(file)
    good = doctor.check_identity(file)
    assert (good.verdict, identity.fingerprint in good.sentence) == (Verdict.GOOD, True)
    file.chmod(0o644)
    assert "chmod 600" in doctor.check_identity(file).sentence
    assert doctor.check_identity(file).verdict is Verdict.BAD
    file.chmod(0o600)
    file.write_text("rubbish")
    assert doctor.check_identity(file).verdict is Verdict.BAD


def test_program_older_than_what_is_installed_is_odd() -> None:
    assert doctor.check_version("1.0", "1.0").verdict is Verdict.GOOD
    finding = doctor.check_version("1.0", "1.1")
    assert (finding.verdict, finding.fix) == (
        Verdict.ODD,
        "End the program and start it again.",
    )


def test_mdns_tells_who_else_is_announced() -> None:
    scope = Scope.new_private("Office", os.urandom)
    alone = replace(SNAPSHOT, groups=())
    nobody = doctor.check_mdns(scope, "127.0.0.1", [], alone)
    assert "Nobody else of the scope Office" in nobody.sentence
    found_otherwise = doctor.check_mdns(scope, "127.0.0.1", [], SNAPSHOT)
    assert found_otherwise.verdict is Verdict.GOOD
    other = [Peer("127.0.0.1", 4712)]
    apart = doctor.check_mdns(scope, "127.0.0.1", other, alone)
    assert apart.verdict is Verdict.ODD
    assert "Announced are 127.0.0.1:4712, but nobody shares" in apart.sentence
    assert doctor.check_mdns(scope, "127.0.0.1", other, SNAPSHOT).verdict is Verdict.GOOD
    refused = doctor.mdns_refused(SystemRefused("Others cannot be searched here."))
    assert "5353" in refused.fix
