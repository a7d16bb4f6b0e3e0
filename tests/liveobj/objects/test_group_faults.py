"""Objects of one group under faults: messages of both sides of a partition, a crash, a latecomer.

What they say is about now, so nobody is told what was said while they were away; what was said
after the faults reaches everybody, and views and leaders agree again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from liveobj.declare import Dual
from liveobj.objects.catalogue import MAKERS
from liveobj.objects.group_objects import CoordinatesEndpoint, LeaderEndpoint, SensorEndpoint
from liveobj.objects.standard_types import ChannelEndpoint, MembershipEndpoint
from tests.liveobj.objects.replicas import Replicas, User


@dataclass(frozen=True)
class Case:
    """`say` does something that says a number; `heard` tells whether a user knows it."""

    kind: str
    endpoint: str
    dual: Any
    say: Callable[[User, int], None]
    heard: Callable[[User, int], bool]


def nothing(_user: User, _number: int) -> None:
    """Membership and leaders speak by themselves."""


CASES = [
    Case(
        "channel",
        "channel",
        Dual[ChannelEndpoint[bytes]],
        lambda user, n: user.send("send", message=bytes([n])),
        lambda user, n: user.last("receive").get("message") == bytes([n]),
    ),
    Case(
        "coordinates",
        "place",
        Dual[CoordinatesEndpoint],
        lambda user, n: user.send("move", x=float(n), y=0.0),
        # Places of the others are told again to whoever comes, so the last need not be the newest.
        lambda user, n: any(record["x"] == float(n) for record in user.all("moved")),
    ),
    Case(
        "sensor",
        "sensor",
        Dual[SensorEndpoint],
        lambda user, n: user.send("measure", value=float(n)),
        lambda user, n: user.last("measured").get("value") == float(n),
    ),
    Case("membership", "membership", Dual[MembershipEndpoint], nothing, lambda _user, _n: True),
    Case("leader", "leader", Dual[LeaderEndpoint], nothing, lambda _user, _n: True),
]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind)
def test_partition_crash_and_late_join(tmp_path: Path, case: Case, seed: int) -> None:
    office = Replicas(
        tmp_path, MAKERS[case.kind]("x", random.Random(seed).randbytes), 4, seed, loss=0.02
    )
    users = office.users(case.endpoint, case.dual)

    def say(speaker: int, number: int, hearers: Sequence[int]) -> None:
        """Once said, everybody who is there knows; and who they are, they agree on."""
        together(hearers)
        case.say(users[speaker], number)
        office.until(lambda: all(case.heard(users[one], number) for one in hearers), 60)

    def together(numbers: Sequence[int]) -> None:
        office.until(lambda: all(in_view(one) == len(numbers) for one in numbers), 180)
        office.until(lambda: agreed([users[one] for one in numbers], len(numbers)), 60)

    def in_view(number: int) -> int:
        view = office.proxies[number].instance._channel.view
        return 0 if view is None else len(view.members)

    say(0, 1, [0, 1, 2, 3])
    office.simulation.partition(office.engines[:2], office.engines[2:])
    say(0, 2, [0, 1])
    say(3, 3, [2, 3])
    office.simulation.heal()
    say(1, 4, [0, 1, 2, 3])
    office.engines[2].crash()
    say(3, 5, [0, 1, 3])
    users.append(office.user(office.join(), case.endpoint, case.dual))
    say(0, 6, [0, 1, 3, 4])
    say(4, 7, [0, 1, 3, 4])
    office.close()


def agreed(users: Sequence[User], count: int) -> bool:
    """What members and leaders were told last is the same for all; other objects tell neither."""
    members = [user.last("view").get("members") for user in users if user.all("view")]
    leaders = [user.last("leader") for user in users if user.all("leader")]
    return (
        all(len(each) == count for each in members)
        and len({tuple(sorted(map(repr, each))) for each in members}) <= 1
        and len({each["node"] for each in leaders}) <= 1
        and (not leaders or sum(each["me"] for each in leaders) == 1)
    )
