"""Computers in a network of their own: processes in namespaces on a bridge find each other, lose
their host, are cut apart and come together again.

Every member is a real process that is asked what it has seen. Tests wait for conditions; the
deadlines only end a test that would never end. Where namespaces are not permitted the tests say
that they were not run.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from ipaddress import ip_interface
from pathlib import Path
from typing import Any

import pytest

from tests.native.test_namespaces import Network, run, why_not_permitted
from transport.scopes import Scope

ROOT = Path(__file__).resolve().parents[2]
WAIT_S = 40.0
# Two seconds is what is promised; the rest is for a machine that other tests share.
TAKE_OVER_S_MAX = 2.0 + 3.0

# A member of one group. On its input: `send N` sends N more messages, `report` prints what it has
# seen, `close` departs. A message is the member's name and a number, counted from 0.
PROGRAM = """
import asyncio, json, sys, time
from transport.link_watch import LinkWatch
from transport.config import EngineConfig
from transport.engine import Engine
from transport.loop import AsyncioWatcher, EngineJoin
from transport.scopes import Scope

name, key, lossy = sys.argv[1], bytes.fromhex(sys.argv[2]), int(sys.argv[3])
heard, sent = {}, 0

def on_deliveries(batch):
    for sender, data in batch:
        who, number = bytes(data).split()
        heard.setdefault(who.decode(), []).append(int(number))

async def send(group, count):
    global sent
    for number in range(sent, sent + count):
        await group.send_soon(b"%s %d" % (name.encode(), number))
    sent += count

async def main():
    from transport.config import Faults, Peer
    engine = Engine.open(EngineConfig(
        scope=Scope.from_key("Test", key),
        known_peers=tuple(map(Peer.parse, sys.argv[4:])),
        faults=Faults(drop_in_per_mille=lossy, drop_out_per_mille=lossy),
    ))
    EngineJoin(engine, AsyncioWatcher())
    LinkWatch(engine, AsyncioWatcher(), time.monotonic, lambda: None)
    group = engine.join(bytes(16), key)
    group.on_deliveries = on_deliveries
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    tasks = set()
    while line := await reader.readline():
        word, *count = line.decode().split()
        if word == "send":
            tasks.add(asyncio.create_task(send(group, int(count[0]))))
        elif word == "report":
            members = len(group.view.members) if group.view else 0
            info = engine.info()
            print(json.dumps({
                "health": engine.health.name, "members": members, "heard": heard, "sent": sent,
                "unacknowledged": group.unacknowledged, "interface": info.interface,
                "address": f"{info.address.text}:{info.address.port}",
                "unicast": [
                    region.unicast for region in engine.regions()
                    if region.member and not region.closing
                ],
                "addresses": [
                    region.address.text for region in engine.regions()
                    if region.member and not region.closing
                ],
                "unheard": [f"{each.text}:{each.port}" for each in engine.unheard()],
                "missed": missed.address.text if (missed := engine.missed_address()) else "",
                "renewed": engine.counters()["addresses_renewed"],
            }), flush=True)
        elif word == "close":
            print(json.dumps({"told": await engine.close()}), flush=True)
            return

asyncio.run(main())
"""


class Member:
    """One process in one namespace."""

    def __init__(
        self, namespace: str, name: str, key: bytes, lossy_per_mille: int, *peers: str
    ) -> None:
        self.name = name
        arguments = [name, key.hex(), str(lossy_per_mille), *peers]
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", namespace, sys.executable, "-c", PROGRAM, *arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def tell(self, words: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()

    def asks(self, words: str) -> dict[str, Any]:
        self.tell(words)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"{self.name} has ended with {self.process.poll()}"
        return dict(json.loads(line))

    def report(self) -> dict[str, Any]:
        return self.asks("report")

    def heard(self, other: Member) -> list[int]:
        return list(self.report()["heard"].get(other.name, []))

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


class Lan:
    """Hosts on one switch, a member in each; a second switch stands beside it."""

    def __init__(self, hosts: int) -> None:
        # The program is named when a member starts; two bridges, the second one without plugs.
        self.network = Network(Path(sys.executable), hosts, 1)
        self.members: list[Member] = []
        self.scope = Scope.from_key("Test", os.urandom(32))
        run(
            "ip", "-n", self.switch, "link", "add", "aside", "type", "bridge", "mcast_snooping", "0"
        )
        run("ip", "-n", self.switch, "link", "set", "aside", "up")

    @property
    def switch(self) -> str:
        return self.network.switch

    def start(self, host: int, lossy_per_mille: int = 0, peer: str = "") -> Member:
        peers = [peer] if peer else []
        namespace, key = self.network.hosts[host], self.scope.key
        member = Member(namespace, f"m{host}", key, lossy_per_mille, *peers)
        self.members.append(member)
        return member

    def unplug(self, host: int) -> None:
        run("ip", "-n", self.switch, "link", "set", f"p0-{host}", "down")

    def plug_in(self, host: int) -> None:
        run("ip", "-n", self.switch, "link", "set", f"p0-{host}", "up")

    def move(self, host: int, bridge: str) -> None:
        run("ip", "-n", self.switch, "link", "set", f"p0-{host}", "master", bridge)

    def close(self) -> None:
        for member in self.members:
            member.end()
        self.network.close()


@pytest.fixture
def make_lan() -> Iterator[Callable[[int], Lan]]:
    reason = why_not_permitted()
    if reason is not None:
        pytest.skip(reason)
    lans: list[Lan] = []

    def make(hosts: int) -> Lan:
        lans.append(Lan(hosts))
        return lans[-1]

    yield make
    for lan in lans:
        lan.close()


MakeLan = Callable[[int], Lan]


def wait_for(what: str, members: Sequence[Member], condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + WAIT_S
    while not condition():
        if time.monotonic() > deadline_s:
            reports = "\n".join(f"{member.name}: {member.report()}" for member in members)
            raise AssertionError(f"waited {WAIT_S:.0f} s in vain: {what}\n{reports}")
        time.sleep(0.02)


def wait_together(members: Sequence[Member]) -> None:
    """All are in one view, which has exactly one host."""

    def together() -> bool:
        reports = [member.report() for member in members]
        hosts = sum(report["health"] == "HOST" for report in reports)
        return hosts == 1 and all(report["members"] == len(members) for report in reports)

    wait_for(f"{len(members)} are in one view", members, together)


def wait_heard(members: Sequence[Member], senders: Sequence[Member]) -> None:
    """Everybody has everything of these senders, in order and once."""

    def heard() -> bool:
        wanted = {sender.name: list(range(sender.report()["sent"])) for sender in senders}
        reports = [member.report()["heard"] for member in members]
        return all(report.get(name) == wanted[name] for report in reports for name in wanted)

    wait_for("everything is heard everywhere", members, heard)


def test_members_find_each_other_and_hear_everything_under_loss(make_lan: MakeLan) -> None:
    lan = make_lan(3)
    members = [lan.start(host, lossy_per_mille=30) for host in range(3)]
    wait_together(members)
    assert {member.report()["interface"] for member in members} == {"lan0"}
    for member in members:
        member.tell("send 300")
    wait_for("all is sent", members, lambda: all(m.report()["sent"] == 300 for m in members))
    wait_heard(members, members)
    assert members[0].asks("close") is not None


def test_killed_host_is_replaced_and_no_message_of_the_rest_is_lost(make_lan: MakeLan) -> None:
    lan = make_lan(4)
    members = [lan.start(host) for host in range(4)]
    wait_together(members)
    (host,) = [member for member in members if member.report()["health"] == "HOST"]
    rest = [member for member in members if member is not host]
    for member in members:
        member.tell("send 400")
    wait_for("traffic flows", members, lambda: bool(rest[0].heard(host)))
    host.process.send_signal(signal.SIGKILL)
    killed_s = time.monotonic()
    for member in rest:
        member.tell("send 400")
    wait_together(rest)
    assert time.monotonic() - killed_s < TAKE_OVER_S_MAX
    wait_for("all is sent", rest, lambda: all(m.report()["sent"] == 800 for m in rest))
    wait_heard(rest, rest)
    wait_for("nothing waits", rest, lambda: not any(m.report()["unacknowledged"] for m in rest))
    # What the dead one has said is heard by all of the rest or by none of them.
    last_words = [member.heard(host) for member in rest]
    assert last_words == [list(range(len(last_words[0])))] * len(rest)


def test_computer_without_multicast_is_one_of_the_others(make_lan: MakeLan) -> None:
    lan = make_lan(2)
    members = [lan.start(0)]
    wait_for("it has begun", members, lambda: members[0].report()["health"] == "HOST")
    run("ip", "-n", lan.network.hosts[1], "link", "set", "lan0", "multicast", "off")
    members.append(lan.start(1, peer=members[0].report()["address"]))
    wait_together(members)
    assert members[1].report()["interface"] == "lan0"
    wait_for("it is unicast", members, lambda: all(all(m.report()["unicast"]) for m in members))
    for member in members:
        member.tell("send 50")
    wait_for("all is sent", members, lambda: all(m.report()["sent"] == 50 for m in members))
    wait_heard(members, members)


def test_computer_follows_its_network(make_lan: MakeLan) -> None:
    """Started before its cable is in, then with another address, then back on the first."""
    lan = make_lan(2)
    late = lan.network.hosts[1]
    run("ip", "-n", late, "link", "set", "lan0", "down")
    members = [lan.start(0), lan.start(1)]
    wait_for("both run", members, lambda: all(m.report()["health"] == "HOST" for m in members))
    assert members[1].report()["interface"] == "lo"
    run("ip", "-n", late, "link", "set", "lan0", "up")
    wait_together(members)
    assert members[1].report()["interface"] == "lan0"
    members[0].tell("send 20")
    first = address_of(late)
    run("ip", "-n", late, "address", "del", first, "dev", "lan0")
    second = str(ip_interface(first).ip + 70)
    run("ip", "-n", late, "address", "add", f"{second}/24", "dev", "lan0")
    wait_for(
        "it has the other address",
        members,
        lambda: members[1].report()["address"].startswith(second + ":"),
    )
    wait_together(members)
    members[1].tell("send 20")
    wait_for("it is heard", members, lambda: members[0].heard(members[1]) == list(range(20)))


def address_of(namespace: str) -> str:
    listed = subprocess.run(
        ["ip", "-n", namespace, "-4", "-brief", "address", "show", "lan0"],
        capture_output=True,
        text=True,
        check=True,
    )
    return listed.stdout.split()[2]


def test_unplugged_computer_goes_on_alone_and_comes_back(make_lan: MakeLan) -> None:
    lan = make_lan(3)
    members = [lan.start(host) for host in range(3)]
    wait_together(members)
    alone, rest = members[0], members[1:]
    lan.unplug(0)
    wait_together(rest)
    wait_together([alone])
    for member in members:
        member.tell("send 50")
    wait_heard(rest, rest)
    wait_heard([alone], [alone])
    assert alone.heard(rest[0]) == []
    lan.plug_in(0)
    wait_together(members)
    for member in members:
        member.tell("send 50")
    expect_only_new(members, apart=[[alone], rest])


def test_halves_of_a_network_go_on_and_merge(make_lan: MakeLan) -> None:
    lan = make_lan(4)
    members = [lan.start(host) for host in range(4)]
    wait_together(members)
    left, right = members[:2], members[2:]
    for host in (2, 3):
        lan.move(host, "aside")
    wait_together(left)
    wait_together(right)
    for member in members:
        member.tell("send 50")
    wait_heard(left, left)
    wait_heard(right, right)
    for host in (2, 3):
        lan.move(host, "br0")
    wait_together(members)
    for member in members:
        member.tell("send 50")
    expect_only_new(members, apart=[left, right])


def expect_only_new(members: Sequence[Member], apart: Sequence[Sequence[Member]]) -> None:
    """After 50 messages on each side and 50 together: one's own side has all of both, the other
    only the second, and nobody anything twice or out of order."""
    side_of = {member.name: number for number, side in enumerate(apart) for member in side}

    def wanted(member: Member, sender: Member) -> list[int]:
        return list(range(0 if side_of[member.name] == side_of[sender.name] else 50, 100))

    def heard() -> bool:
        reports = {member.name: member.report()["heard"] for member in members}
        return all(
            reports[member.name].get(sender.name) == wanted(member, sender)
            for member in members
            for sender in members
        )

    wait_for("both sides hear each other again", members, heard)
