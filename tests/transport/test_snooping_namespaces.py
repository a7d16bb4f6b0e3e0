"""Switches that learn who listens to which multicast address, and forget it: bridges that snoop,
with processes in namespaces behind them."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.native.test_namespaces import run
from tests.transport.test_namespaces import (
    Lan,
    MakeLan,
    Member,
    make_lan,
    wait_for,
    wait_heard,
    wait_together,
)

__all__ = ["make_lan"]


class SnoopingSwitch:
    """The bridge of a LAN, from now on one that asks once who listens and believes it for ever."""

    def __init__(self, lan: Lan) -> None:
        self._switch = lan.switch
        # It believes a host for hours, and what it is told from a tenth of a second on. Hosts of
        # version 2 of the protocol would not say what another has said before them.
        self._set("mcast_igmp_version", "3", "mcast_query_response_interval", "10")
        self._set("mcast_query_interval", "360000", "mcast_membership_interval", "720000")
        self._set("mcast_startup_query_count", "1", "mcast_snooping", "1")
        self._set("mcast_querier", "1")

    def _set(self, *settings: str) -> None:
        run("ip", "-n", self._switch, "link", "set", "br0", "type", "bridge", *settings)

    def knows(self, host: int) -> set[str]:
        """The addresses that it passes on to the host."""
        words = ["bridge", "-j", "-n", self._switch, "mdb", "show"]
        told = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
        return {
            entry["grp"]
            for table in told
            for entry in table.get("mdb", [])
            if entry["port"] == f"p0-{host}"
        }

    def forget(self, host: int, address: str) -> None:
        if address in self.knows(host):
            subprocess.run(
                ["bridge", "-n", self._switch, "mdb", "del", "dev", "br0", "port", f"p0-{host}",
                 "grp", address],
                check=False,
            )  # fmt: skip


@pytest.fixture
def office(make_lan: MakeLan) -> tuple[SnoopingSwitch, list[Member]]:
    """Two who have a region in common, whose address the switch knows."""
    lan = make_lan(2)
    switch = SnoopingSwitch(lan)
    members = [lan.start(0)]
    wait_together(members)
    members.append(lan.start(1))
    wait_together(members)
    wait_for(
        "the switch knows the region",
        members,
        lambda: all(
            set(member.report()["addresses"]) < switch.knows(number)
            for number, member in enumerate(members)
        ),
    )
    return switch, members


def test_an_address_that_the_switch_has_forgotten_is_joined_anew(
    office: tuple[SnoopingSwitch, list[Member]],
) -> None:
    switch, (sender, other) = office
    (address,) = other.report()["addresses"]

    def is_joined() -> bool:
        sender.tell("send 1")
        if other.report()["renewed"] == 0:
            switch.forget(1, address)  # once more: a host says twice that it listens
            return False
        return address in switch.knows(1)

    wait_for("joined anew", [sender, other], is_joined)
    wait_heard([sender, other], [sender])
    assert other.report()["unicast"] == [False]
    assert other.report()["missed"] == ""


def test_an_address_that_the_switch_never_carries_is_given_up(
    office: tuple[SnoopingSwitch, list[Member]],
) -> None:
    switch, (sender, other) = office
    (address,) = other.report()["addresses"]

    def is_given_up() -> bool:
        switch.forget(1, address)
        sender.tell("send 1")
        return bool(other.report()["unicast"] == [True] and sender.report()["unicast"] == [True])

    wait_for("by unicast", [sender, other], is_given_up)
    wait_heard([sender, other], [sender])
    assert other.report()["missed"] == address
    assert other.report()["unheard"] == []
    assert sender.report()["missed"] == ""
