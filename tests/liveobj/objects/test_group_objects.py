"""Channel, membership, leader, streams and clock: several replicas in the simulator, with
faults."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from liveobj.declare import Dual
from liveobj.objects.catalogue import MAKERS
from liveobj.objects.group_objects import (
    CLOCK_ID,
    ClockEndpoint,
    CoordinatesEndpoint,
    LeaderEndpoint,
    SensorEndpoint,
)
from liveobj.objects.standard_types import ChannelEndpoint, MembershipEndpoint
from liveobj.references import Primitive, Reference, Secrets
from liveobj.runtime import ProxyState, Runtime
from tests.liveobj.objects.replicas import Replicas
from tests.liveobj.support import Clock, LocalNetwork, make_host

LOSS = pytest.mark.parametrize("loss", [0.0, 0.1])


def make(kind: str) -> Reference:
    return MAKERS[kind]("x", random.Random(kind).randbytes)


@LOSS
def test_messages_arrive_everywhere_in_order_of_each_sender(tmp_path: Path, loss: float) -> None:
    office = Replicas(tmp_path, make("channel"), 4, loss=loss)
    users = office.users("channel", Dual[ChannelEndpoint[bytes]])
    office.meet()
    for turn in range(30):
        for number, user in enumerate(users):
            user.send("send", message=bytes([number, turn]) * (2000 if turn == 9 else 1))
    office.until(lambda: all(len(user.all("receive")) == 120 for user in users))
    for user in users:
        for number in range(4):
            turns = [r["message"][1] for r in user.all("receive") if r["message"][0] == number]
            assert turns == list(range(30))
    office.close()


def test_membership_and_leader_follow_those_who_are_here(tmp_path: Path) -> None:
    office = Replicas(tmp_path, make("membership"), 3, seed=2)
    users = office.users("membership", Dual[MembershipEndpoint])
    office.meet()
    office.until(lambda: all(len(user.last("view").get("members", [])) == 3 for user in users))
    office.engines[0].crash()
    office.until(lambda: all(len(user.last("view")["members"]) == 2 for user in users[1:]))
    office.close()


def test_the_next_leads_when_the_leader_is_gone(tmp_path: Path) -> None:
    office = Replicas(tmp_path, make("leader"), 3, seed=3)
    users = office.users("leader", Dual[LeaderEndpoint])
    office.meet()

    def leaders() -> list[int]:
        return [n for n, user in enumerate(users) if user.last("leader").get("me")]

    office.until(lambda: len(leaders()) == 1)
    (first,) = leaders()
    office.engines[first].crash()
    users[first].events.clear()
    office.until(lambda: len(leaders()) == 1, 60)
    rest = [user for number, user in enumerate(users) if number != first]
    office.until(lambda: len({user.last("leader")["node"] for user in rest}) == 1)
    office.close()


@LOSS
def test_of_coordinates_only_the_newest_are_sent(tmp_path: Path, loss: float) -> None:
    office = Replicas(tmp_path, make("coordinates"), 3, loss=loss)
    users = office.users("place", Dual[CoordinatesEndpoint])
    office.meet()
    for step in range(1000):
        users[0].send("move", x=float(step), y=0.0)
    office.until(lambda: all(user.last("moved").get("x") == 999.0 for user in users))
    assert len(users[1].all("moved")) < 50
    late = office.user(office.join(), "place", Dual[CoordinatesEndpoint])
    office.until(lambda: late.last("moved").get("x") == 999.0)
    office.close()


def test_a_sensor_is_heard(tmp_path: Path) -> None:
    office = Replicas(tmp_path, make("sensor"), 3)
    users = office.users("sensor", Dual[SensorEndpoint])
    office.meet()
    users[2].send("measure", value=21.5)
    office.until(lambda: all(user.last("measured").get("value") == 21.5 for user in users))
    channel = office.proxies[0].instance._channel
    channel.send(b"rubbish")
    office.until(lambda: channel.dropped == 1)
    assert office.proxies[0].state is ProxyState.RUNNING
    office.close()


def test_a_group_object_without_its_key_says_so(tmp_path: Path) -> None:
    office = Replicas(tmp_path, replace(make("channel"), secrets=Secrets()), 1)
    assert "key of this object's group is missing" in office.proxies[0].proxy.problem
    office.close()


def test_a_sleeping_channel_leaves_and_comes_back(tmp_path: Path) -> None:
    office = Replicas(tmp_path, make("channel"), 2)
    office.meet()
    office.runtimes[0].sleep(office.proxies[0])
    office.simulation.run_for(310)
    assert office.proxies[0].instance._channel.closed
    office.runtimes[0].wake(office.proxies[0])
    office.meet()
    office.close()


def test_a_clock_ticks_while_it_is_looked_at(tmp_path: Path) -> None:
    clock, times = Clock(), [50.0]
    host = replace(make_host(LocalNetwork(), 1, tmp_path, clock), wall_time=lambda: times[0])
    runtime = Runtime(host)
    proxy = runtime.dereference(Primitive(CLOCK_ID))
    ticks: list[float] = []

    class Face:
        def tick(self, seconds: float) -> None:
            ticks.append(seconds)

    mine: Any = runtime.new_endpoint(Dual[ClockEndpoint], Face())
    runtime.connect(mine.external, proxy.endpoint("clock"))
    clock.advance(3.5)
    assert ticks == [50.0] * 3
    runtime.sleep(proxy)
    clock.advance(10)
    assert len(ticks) == 3
    runtime.wake(proxy)
    clock.advance(1.5)
    assert len(ticks) == 4
    proxy.close()
    assert clock.pending == 0
