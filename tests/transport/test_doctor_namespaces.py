"""The doctor on networks that are really broken: isolated ports, a firewall, multicast that goes
one way, a VPN that takes the traffic. Each is made of namespaces on a bridge."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.native.test_namespaces import run
from tests.transport.test_namespaces import (
    ROOT,
    Lan,
    MakeLan,
    Member,
    make_lan,
    wait_for,
    wait_heard,
    wait_together,
)

__all__ = ["make_lan"]

# Holds a tunnel open, so that it has a carrier, until its input ends.
_TUNNEL = """
import fcntl, struct, sys
tunnel = open("/dev/net/tun", "r+b", buffering=0)
fcntl.ioctl(tunnel, 0x400454CA, struct.pack("16sH", b"tun0", 0x0001 | 0x1000))
print("open", flush=True)
sys.stdin.read()
"""


def command(lan: Lan, host: int, *arguments: str) -> list[str]:
    return ["ip", "netns", "exec", lan.network.hosts[host], sys.executable, *arguments]


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    return tmp_path / "profile"


def doctor(lan: Lan, host: int, profile: Path, *arguments: str) -> dict[str, dict[str, Any]]:
    """What the doctor on that host says, by subject."""
    if not (profile / "scope").exists():
        profile.mkdir(parents=True)
        lan.scope.write(profile / "scope")
    done = subprocess.run(
        command(lan, host, "-m", "app.main", "doctor", "--json", "--state-dir", str(profile),
                *arguments),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )  # fmt: skip
    assert done.returncode in {0, 1}, done.stderr
    return {finding["subject"]: finding for finding in json.loads(done.stdout)}


def place(member: Member) -> tuple[str, str]:
    return "--peer", str(member.report()["address"])


@contextmanager
def held(process: subprocess.Popen[str], beginning: str) -> Iterator[None]:
    """A process that has said so, until the end."""
    try:
        assert process.stdout is not None
        assert any(line.startswith(beginning) for line in process.stdout)
        yield
    finally:
        process.kill()
        process.communicate()


def start(lan: Lan, host: int, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(lan, host, *arguments),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_isolated_ports_are_told_from_a_computer_that_is_off(
    make_lan: MakeLan, profile: Path
) -> None:
    lan = make_lan(3)
    for host in (0, 1):
        run("ip", "-n", lan.switch, "link", "set", f"p0-{host}", "type", "bridge_slave",
            "isolated", "on")  # fmt: skip
    reached = lan.start(2)  # The first hosts: who cannot reach the host is not let in.
    wait_together([reached])
    apart = lan.start(1)
    wait_together([apart, reached])
    found = doctor(lan, 0, profile, *place(apart), *place(reached))
    assert found["interface"]["verdict"] == "good"
    assert "10.99.0.3" in found["peer"]["sentence"]
    assert found["peer"]["verdict"] == "good"
    assert "10.99.0.2" in found["isolation"]["sentence"]
    assert "while others on lan0 answer" in found["isolation"]["sentence"]
    assert "isolation at the switch" in found["isolation"]["fix"]


def test_a_firewall_that_lets_no_udp_in_is_named(make_lan: MakeLan, profile: Path) -> None:
    lan = make_lan(2)
    other = lan.start(1)
    wait_together([other])
    wall = lan.network.hosts[1]
    run("ip", "-n", wall, "rule", "add", "pref", "10", "lookup", "local")
    run("ip", "-n", wall, "rule", "add", "pref", "5", "iif", "lan0", "ipproto", "udp", "blackhole")
    run("ip", "-n", wall, "rule", "del", "pref", "0")
    found = doctor(lan, 0, profile, *place(other))
    assert found["firewall"]["verdict"] == "bad"
    assert "10.99.0.2" in found["firewall"]["sentence"]
    run("ip", "-n", wall, "rule", "del", "pref", "5")
    assert doctor(lan, 0, profile, *place(other))["peer"]["verdict"] == "good"


def set_multicast(lan: Lan, host: int, reaches_it: str) -> None:
    port = f"p0-{host}"
    run("ip", "-n", lan.switch, "link", "set", port, "type", "bridge_slave", "mcast_flood",
        reaches_it)  # fmt: skip


def wait_unicast(members: list[Member], expected: bool) -> None:
    wait_for(
        f"unicast: {expected}",
        members,
        lambda: all(member.report()["unicast"] == [expected] for member in members),
    )


@pytest.mark.parametrize("host", [0, 1])
def test_multicast_that_goes_one_way_is_told_and_the_region_goes_on_by_unicast(
    host: int, make_lan: MakeLan, profile: Path
) -> None:
    lan = make_lan(2)
    set_multicast(lan, 1, "off")
    # Once who hears no multicast hosts the membership, once the other.
    members = [lan.start(host)]
    wait_together(members)
    members.append(lan.start(1 - host))
    wait_together(members)
    for member in members:
        member.tell("send 100")
    wait_heard(members, members)
    wait_unicast(members, True)
    deaf, hearing = (next(m for m in members if m.name == f"m{which}") for which in (1, 0))
    assert deaf.report()["unheard"] == [hearing.report()["address"]]
    assert hearing.report()["unheard"] == []
    if host == 1:  # It works again.
        set_multicast(lan, 1, "on")
        wait_unicast(members, False)
        assert deaf.report()["unheard"] == []
        return
    doctor(lan, 1, profile)  # makes the profile
    program = start(lan, 1, "-m", "app.main", "gms", "--no-mdns", "--state-dir", str(profile))
    with held(program, "member, with another host"):
        found = doctor(lan, 1, profile, *place(members[0]))
    assert found["multicast from others"]["verdict"] == "odd"
    assert "IGMP snooping" in found["multicast from others"]["fix"]
    assert found["peer"]["verdict"] == "good"


def test_a_path_that_carries_less_than_interfaces_say_is_named(
    make_lan: MakeLan, profile: Path
) -> None:
    lan = make_lan(2)
    # What is longer is lost at the plug; the computers' own interfaces say 1500.
    run("ip", "-n", lan.switch, "link", "set", "p0-1", "mtu", "1280")
    other = lan.start(1)
    wait_together([other])
    doctor(lan, 0, profile)  # makes the profile
    program = start(lan, 0, "-m", "app.main", "gms", "--no-mdns", "--state-dir", str(profile))
    with held(program, "member, with another host"):
        found = doctor(lan, 0, profile, *place(other))
    assert found["path"]["verdict"] == "odd"
    sentence = found["path"]["sentence"]
    assert sentence.startswith("The path to 10.99.0.2 carries only 12")
    assert sentence.endswith("although the interface lan0 says 1500.")


def test_a_vpn_is_told_from_the_office_network(make_lan: MakeLan, profile: Path) -> None:
    lan = make_lan(2)
    here = lan.network.hosts[0]
    other = lan.start(1)
    with held(start(lan, 0, "-c", _TUNNEL), "open"):
        run("ip", "-n", here, "addr", "add", "10.8.0.2/24", "dev", "tun0")
        run("ip", "-n", here, "link", "set", "tun0", "up")
        run("ip", "-n", here, "route", "add", "default", "dev", "tun0")
        mine = lan.start(0)
        wait_together([mine, other])
        assert mine.report()["interface"] == "lan0"
        found = doctor(lan, 0, profile, *place(other))
        assert "lan0 (10.99.0.1)" in found["interface"]["sentence"]
        assert "A VPN is up (tun0)" in found["vpn"]["sentence"]
        assert found["peer"]["verdict"] == "good"
        run("ip", "-n", here, "route", "add", "10.99.0.2/32", "dev", "tun0")
        taken = doctor(lan, 0, profile, *place(other))["vpn"]
        assert taken["verdict"] == "bad"
        assert taken["fix"].startswith("Switch tun0 off")
