"""Engines in networks of their own: namespaces on a bridge, IPv4, IPv6 and several interfaces.

Each test makes namespaces, runs the C program test_udp_peer in them and takes them down again. A
namespace of its own holds the bridges, so that nothing appears in the machine's real network.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NATIVE = Path(__file__).resolve().parents[2] / "native"
PROGRAM = NATIVE / "build" / "sanitize" / "bin" / "test_udp_peer"


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


def why_not_permitted() -> str | None:
    """Why this machine cannot make network namespaces; None: it can."""
    if shutil.which("ip") is None:
        return "the program ip (iproute2) is missing"
    name = f"qsm-try-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], check=False, capture_output=True, text=True)
    if made.returncode != 0:
        return f"network namespaces are not permitted here: {made.stderr.strip()}"
    run("ip", "netns", "del", name)
    return None


@pytest.fixture(scope="session")
def peer_program() -> Path:
    run("make", "--no-print-directory", "-C", str(NATIVE), str(PROGRAM.relative_to(NATIVE)))
    return PROGRAM


class Network:
    """Some hosts, each with an interface lan0, lan1, … on as many separate bridges."""

    def __init__(self, program: Path, hosts: int, lans: int, mtu: int = 1500) -> None:
        self.program = program
        self.prefix = f"qsm-{os.getpid()}"
        self.switch = f"{self.prefix}-switch"
        self.hosts = [f"{self.prefix}-{number}" for number in range(hosts)]
        try:
            self._make(lans, mtu)
        except BaseException:
            self.close()
            raise

    def _make(self, lans: int, mtu: int) -> None:
        for name in [self.switch, *self.hosts]:
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        for lan in range(lans):
            # Without snooping a bridge passes multicast to all its ports, as a plain switch does.
            run("ip", "-n", self.switch, "link", "add", f"br{lan}", "type", "bridge",
                "mcast_snooping", "0")  # fmt: skip
            run("ip", "-n", self.switch, "link", "set", f"br{lan}", "up")
            for number, host in enumerate(self.hosts):
                self._plug_in(lan, number, host, mtu)

    def _plug_in(self, lan: int, number: int, host: str, mtu: int) -> None:
        port = f"p{lan}-{number}"
        run("ip", "-n", self.switch, "link", "add", port, "type", "veth",
            "peer", "name", f"lan{lan}", "netns", host)  # fmt: skip
        run("ip", "-n", self.switch, "link", "set", port, "mtu", str(mtu), "master", f"br{lan}")
        run("ip", "-n", self.switch, "link", "set", port, "up")
        run("ip", "-n", host, "link", "set", f"lan{lan}", "mtu", str(mtu), "up")
        run("ip", "-n", host, "addr", "add", f"10.99.{lan}.{number + 1}/24", "dev", f"lan{lan}")
        # Without the question whether somebody has the address already, which takes seconds.
        run("ip", "-n", host, "addr", "add", f"fd99:{lan}::{number + 1}/64",
            "dev", f"lan{lan}", "nodad")  # fmt: skip

    def close(self) -> None:
        for name in [*self.hosts, self.switch]:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)

    def start(self, host: int, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["ip", "netns", "exec", self.hosts[host], str(self.program), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def make_network(peer_program: Path) -> Iterator[Any]:
    reason = why_not_permitted()
    if reason is not None:
        pytest.skip(reason)
    networks: list[Network] = []

    def make(hosts: int, lans: int = 1, mtu: int = 1500) -> Network:
        networks.append(Network(peer_program, hosts, lans, mtu))
        return networks[-1]

    yield make
    for network in networks:
        network.close()


def finish(peers: list[subprocess.Popen[str]]) -> list[dict[str, Any]]:
    """What each peer said of itself; fails with what they complained about."""
    answers = []
    for peer in peers:
        try:
            out, complaints = peer.communicate(timeout=150)
        except subprocess.TimeoutExpired:
            for other in peers:
                other.kill()
            raise
        answers.append((peer.returncode, out, complaints))
    failed = [complaints for code, _, complaints in answers if code != 0]
    if failed:
        pytest.fail("\n".join(failed), pytrace=False)
    return [json.loads(out) for _, out, _ in answers]


def test_three_hosts_talk_over_the_interface_that_the_system_chooses(make_network: Any) -> None:
    network = make_network(3)
    said = finish([network.start(host, "--interface", "", "--members", "3") for host in range(3)])
    assert [answer["interface"] for answer in said] == ["lan0"] * 3
    assert all(answer["multicast"] == 1 and answer["loopback"] == 0 for answer in said)
    assert all(answer["family"] == 4 for answer in said)


def test_three_hosts_talk_over_ipv6(make_network: Any) -> None:
    network = make_network(3)
    said = finish(
        [
            network.start(host, "--interface", "lan0", "--ipv6", "--members", "3")
            for host in range(3)
        ]
    )
    assert all(answer["family"] == 6 and answer["multicast"] == 1 for answer in said)


def test_two_lans_of_the_same_hosts_do_not_hear_each_other(make_network: Any) -> None:
    network = make_network(2, lans=2)
    said = finish(
        [
            network.start(host, "--interface", lan, "--members", "2")
            for host in range(2)
            for lan in ("lan0", "lan1")
        ]
    )
    assert [answer["interface"] for answer in said] == ["lan0", "lan1"] * 2
    assert all(answer["heard_from"] <= 2 for answer in said)


def test_loss_and_a_small_mtu_are_survived(make_network: Any) -> None:
    network = make_network(3, mtu=1280)
    finish(
        [
            network.start(host, "--interface", "lan0", "--members", "3", "--drop", "50",
                          "--bytes", "2000", "--messages", "100")
            for host in range(3)
        ]
    )  # fmt: skip


def test_without_another_interface_loopback_is_chosen(make_network: Any) -> None:
    network = make_network(1, lans=0)
    said = finish([network.start(0, "--interface", "", "--members", "2") for _ in range(2)])
    assert all(answer["loopback"] == 1 and answer["interface"] == "lo" for answer in said)


def refusal(network: Network, *arguments: str) -> str:
    peer = network.start(0, *arguments)
    _, complaints = peer.communicate(timeout=60)
    assert peer.returncode == 1
    return complaints


def test_an_interface_that_is_down_is_refused(make_network: Any) -> None:
    network = make_network(1)
    run("ip", "-n", network.hosts[0], "link", "set", "lan0", "down")
    assert "lan0 is down" in refusal(network, "--interface", "lan0")


def test_an_interface_without_an_address_is_refused(make_network: Any) -> None:
    network = make_network(1)
    run("ip", "-n", network.hosts[0], "addr", "flush", "dev", "lan0")
    assert "lan0 has no IPv4 address" in refusal(network, "--interface", "lan0")


def test_an_interface_without_multicast_is_refused(make_network: Any) -> None:
    network = make_network(1)
    run("ip", "-n", network.hosts[0], "link", "set", "lan0", "multicast", "off")
    assert "lan0 is not made for multicast" in refusal(network, "--interface", "lan0")


def test_loopback_has_no_ipv6_multicast_and_the_sentence_says_so(make_network: Any) -> None:
    network = make_network(1, lans=0)
    sentence = refusal(network, "--interface", "lo", "--ipv6")
    assert "multicast group ff05::" in sentence
    assert "interface lo" in sentence
