"""The ordered channel and the lock: several replicas in the simulator, under loss and crashes."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from liveobj.declare import Dual
from liveobj.objects.checkpointed_channel import CHANNEL_ID as CHECKPOINTED_ID
from liveobj.objects.checkpointed_channel import CheckpointedChannelEndpoint
from liveobj.objects.ordered_objects import (
    CHANNEL_ID,
    LOCK_ID,
    LockEndpoint,
    OrderedChannelEndpoint,
    for_others,
    new_ordered,
)
from liveobj.references import fingerprint
from liveobj.runtime import Runtime
from tests.liveobj.objects.replicas import Replicas, User


class Office(Replicas):
    """The first node made the object; the others were given it."""

    def __init__(self, tmp_path: Path, template: str, nodes: int, seed: int, loss: float) -> None:
        made = new_ordered(template, "x", random.Random(seed).randbytes)
        super().__init__(tmp_path, made, 1, seed, loss)
        self.reference = for_others(made)
        for _ in range(nodes - 1):
            self.join()

    def everybody(self) -> None:
        def complete() -> bool:
            orders = [proxy.instance._order for proxy in self.proxies]
            states = [order._state for order in orders]
            members = [state.electorates[-1] for state in states if state.electorates]
            return len(members) == len(orders) and all(len(m) == len(orders) for m in members)

        self.until(complete)


FAULTS = pytest.mark.parametrize(("seed", "loss"), [(1, 0.0), (2, 0.1), (3, 0.1)])


def received(user: User) -> list[tuple[int, bytes]]:
    return [(r["sender"], r["message"]) for r in user.all("receive")]


@FAULTS
def test_everybody_receives_the_same_in_the_same_order(
    tmp_path: Path, seed: int, loss: float
) -> None:
    office = Office(tmp_path, CHANNEL_ID, 4, seed, loss)
    users = office.users("channel", Dual[OrderedChannelEndpoint])
    office.everybody()
    for turn in range(10):
        for user in users:
            user.send("send", message=bytes([turn]))
        office.simulation.run_for(0.003)
    office.until(lambda: all(len(user.all("receive")) == 40 for user in users))
    assert all(received(user) == received(users[0]) for user in users)
    office.close()


@FAULTS
def test_the_order_survives_the_one_who_orders(tmp_path: Path, seed: int, loss: float) -> None:
    office = Office(tmp_path, CHANNEL_ID, 4, seed, loss)
    users = office.users("channel", Dual[OrderedChannelEndpoint])
    office.everybody()
    order = office.proxies[1].instance._order
    sequencer = next(n for n, e in enumerate(office.engines) if e.node == order._sequencer)
    for user in users:
        user.send("send", message=b"before")
    office.simulation.run_for(0.001)
    office.engines[sequencer].crash()
    rest = [user for number, user in enumerate(users) if number != sequencer]
    for user in rest:
        user.send("send", message=b"after")
    office.until(lambda: all(m.count(b"after") == 3 for m in map(messages, rest)), 120)
    office.simulation.run_for(1)
    assert all(received(user) == received(rest[0]) for user in rest)
    assert messages(rest[0]).count(b"before") >= 3
    gone = received(users[sequencer])
    assert gone == received(rest[0])[: len(gone)]
    office.close()


def messages(user: User) -> list[bytes]:
    return [message for _, message in received(user)]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_part_without_a_majority_waits_and_catches_up(tmp_path: Path, seed: int) -> None:
    office = Office(tmp_path, CHANNEL_ID, 5, seed, 0.02)
    users = office.users("channel", Dual[OrderedChannelEndpoint])
    office.everybody()
    office.simulation.partition(office.engines[:2], office.engines[2:])
    few, many = users[:2], users[2:]
    few[0].send("send", message=b"few")
    many[0].send("send", message=b"many")
    office.until(lambda: all(messages(user) == [b"many"] for user in many), 180)
    office.until(lambda: all(user.last("ordering") == {"possible": False} for user in few), 180)
    assert all(messages(user) == [] for user in few)
    office.simulation.heal()
    office.until(lambda: all(len(messages(user)) == 2 for user in users), 180)
    assert all(received(user) == received(users[0]) for user in users)
    office.close()


def test_one_who_meets_nobody_waits_unless_it_made_the_object(tmp_path: Path) -> None:
    office = Office(tmp_path, CHANNEL_ID, 1, 4, 0.0)
    maker = office.user(0, "channel", Dual[OrderedChannelEndpoint])
    office.until(lambda: maker.last("ordering") == {"possible": True})
    other = Replicas(tmp_path / "other", office.reference, 1, 5)
    lonely = other.user(0, "channel", Dual[OrderedChannelEndpoint])
    lonely.send("send", message=b"x")
    other.until(lambda: lonely.last("ordering") == {"possible": False})
    other.simulation.run_for(5)
    assert messages(lonely) == []
    assert fingerprint(office.reference) == fingerprint(other.reference)
    office.close()
    other.close()


def holders(users: list[User]) -> list[int]:
    """Those who were granted the lock and neither gave it back nor lost it."""
    found = []
    for number, user in enumerate(users):
        state = [event for event, _ in user.events if event in ("granted", "lost")]
        if state and state[-1] == "granted":
            found.append(number)
    return found


@FAULTS
def test_a_lock_has_one_holder_and_goes_round(tmp_path: Path, seed: int, loss: float) -> None:
    office = Office(tmp_path, LOCK_ID, 4, seed, loss)
    users = office.users("lock", Dual[LockEndpoint])
    office.everybody()
    for user in users:
        user.send("acquire")
    tokens: list[int] = []
    for _ in range(4):
        office.until(lambda: len(holders(users)) == 1)
        (holder,) = holders(users)
        tokens.append(users[holder].last("granted")["token"])
        office.simulation.run_for(0.5)
        assert holders(users) == [holder]
        users[holder].events.append(("lost", {}))  # what it does itself, it is not told
        users[holder].send("release")
    office.until(lambda: all(user.last("holder")["identity"] is None for user in users))
    assert tokens == sorted(set(tokens))
    office.close()


def test_a_lock_is_given_on_when_its_holder_crashes(tmp_path: Path) -> None:
    office = Office(tmp_path, LOCK_ID, 3, 7, 0.0)
    users = office.users("lock", Dual[LockEndpoint])
    office.everybody()
    users[0].send("acquire")
    office.until(lambda: holders(users) == [0])
    users[1].send("acquire")
    office.until(lambda: users[1].last("holder").get("waiting") == 1)
    office.engines[0].crash()
    office.until(lambda: holders(users[1:]) == [0], 120)
    assert users[1].last("granted")["token"] > users[0].last("granted")["token"]
    late = office.user(office.join(), "lock", Dual[LockEndpoint])
    office.until(lambda: late.last("holder").get("identity") is not None, 60)
    office.close()


def test_a_holder_who_is_cut_off_loses_the_lock(tmp_path: Path) -> None:
    office = Office(tmp_path, LOCK_ID, 3, 8, 0.0)
    users = office.users("lock", Dual[LockEndpoint])
    office.everybody()
    users[2].send("acquire")
    office.until(lambda: holders(users) == [2])
    users[0].send("acquire")
    office.until(lambda: users[0].last("holder").get("waiting") == 1)
    office.simulation.partition(office.engines[:2], office.engines[2:])
    office.until(lambda: holders(users) == [0], 120)
    office.close()


# The checkpointed channel


class Summer:
    """Adds up what it receives, and gives a checkpoint after every third message."""

    def __init__(self, user: User) -> None:
        self.user = user

    @property
    def total(self) -> tuple[int, int]:
        """How many messages, and their sum."""
        count, total = 0, 0
        for event, record in self.user.events:
            if event == "restore":
                count, total = record["count"], int.from_bytes(record["state"], "big")
            elif event == "receive":
                assert record["number"] == count + 1, "in step, and none twice"
                count, total = count + 1, total + record["message"][0]
        return count, total

    def give_checkpoint(self) -> None:
        count, total = self.total
        self.user.send("checkpoint", state=total.to_bytes(8, "big"), count=count)


@FAULTS
def test_one_who_comes_late_gets_a_checkpoint_then_the_rest(
    tmp_path: Path, seed: int, loss: float
) -> None:
    office = Office(tmp_path, CHECKPOINTED_ID, 3, seed, loss)
    summers = [Summer(u) for u in office.users("channel", Dual[CheckpointedChannelEndpoint])]
    office.everybody()
    for value in range(1, 31):
        summers[value % 3].user.send("send", message=bytes([value]))
    office.until(lambda: all(s.total == (30, 465) for s in summers))
    for summer in summers:
        summer.give_checkpoint()
    office.simulation.run_for(0.1)
    summers[0].user.send("send", message=bytes([35]))
    office.until(lambda: all(s.total == (31, 500) for s in summers))
    number = office.join()
    late = Summer(office.user(number, "channel", Dual[CheckpointedChannelEndpoint]))
    office.until(lambda: late.total == (31, 500))
    office.everybody()
    late.user.send("send", message=bytes([1]))
    office.until(lambda: all(s.total == (32, 501) for s in [*summers, late]))
    assert late.user.all("restore")[-1]["count"] == 30
    office.close()


def test_a_checkpoint_of_the_future_is_refused(tmp_path: Path) -> None:
    office = Office(tmp_path, CHECKPOINTED_ID, 1, 1, 0.0)
    notices: list[str] = []
    office.runtimes[0].on_notice(lambda notice: notices.append(notice.sentence))
    user = office.user(0, "channel", Dual[CheckpointedChannelEndpoint])
    user.send("checkpoint", state=b"", count=9)
    office.until(lambda: bool(notices))
    assert "9 messages" in notices[0]
    office.close()


# Started again


class Restarted(Office):
    """Every program ends and starts again, all of them or some."""

    def restart(self, number: int) -> None:
        """Ends without a word and starts anew, with the same folder and the same file."""
        self.engines[number].crash()
        self.runtimes[number].close()
        self.engines[number].restart()
        self.hosts[number] = self.host(self.engines[number], number)
        self.runtimes[number] = Runtime(self.hosts[number])
        self.proxies[number] = self.runtimes[number].dereference(self.reference)


@FAULTS
def test_checkpointed_channel_has_everything_after_all_have_started_again(
    tmp_path: Path, seed: int, loss: float
) -> None:
    office = Restarted(tmp_path, CHECKPOINTED_ID, 3, seed, loss)
    summers = [Summer(u) for u in office.users("channel", Dual[CheckpointedChannelEndpoint])]
    office.everybody()
    for value in range(1, 11):
        summers[value % 3].user.send("send", message=bytes([value]))
    office.until(lambda: all(s.total == (10, 55) for s in summers))
    summers[0].give_checkpoint()
    office.simulation.run_for(0.1)
    for number in range(3):
        office.restart(number)
    summers = [Summer(u) for u in office.users("channel", Dual[CheckpointedChannelEndpoint])]
    office.until(lambda: all(s.total == (10, 55) for s in summers), 120)
    office.everybody()
    summers[1].user.send("send", message=bytes([45]))
    office.until(lambda: all(s.total == (11, 100) for s in summers), 120)
    office.close()


def test_lock_is_free_again_when_its_holder_has_started_again_and_tokens_grow(
    tmp_path: Path,
) -> None:
    office = Restarted(tmp_path, LOCK_ID, 1, 3, 0.0)
    user = office.user(0, "lock", Dual[LockEndpoint])
    user.send("acquire")
    office.until(lambda: holders([user]) == [0])
    token = user.last("granted")["token"]
    office.simulation.run_for(0.1)
    office.restart(0)
    again = office.user(0, "lock", Dual[LockEndpoint])
    office.until(lambda: again.last("holder").get("identity", 0) is None, 60)
    assert again.all("granted") == []
    again.send("acquire")
    office.until(lambda: holders([again]) == [0], 60)
    assert again.last("granted")["token"] > token
    office.close()


def test_person_with_a_copied_profile_is_told_and_has_no_vote(tmp_path: Path) -> None:
    office = Office(tmp_path, CHANNEL_ID, 2, 1, 0.0)
    users = office.users("channel", Dual[OrderedChannelEndpoint])
    office.everybody()
    users[0].send("send", message=b"before")
    office.until(lambda: all(received(user) for user in users))
    name = f"{fingerprint(office.reference)}.db"
    copied = tmp_path / "node2"
    copied.mkdir()
    for suffix in ("", "-wal"):
        shutil.copy(tmp_path / "node1" / f"{name}{suffix}", copied / f"{name}{suffix}")
    host = office.add()
    runtime = Runtime(host)
    notices: list[str] = []
    runtime.on_notice(lambda notice: notices.append(notice.sentence))
    office.runtimes.append(runtime)
    office.proxies.append(runtime.dereference(office.reference))
    newcomer = office.user(2, "channel", Dual[OrderedChannelEndpoint])
    office.everybody()
    assert len(notices) == 1
    assert "as a new member" in notices[0]
    newcomer.send("send", message=b"after")
    office.until(
        lambda: all((received(user)[-1:] or [(0, b"")])[0][1] == b"after" for user in users)
    )
    identities = {proxy.instance._order.identity for proxy in office.proxies}
    assert len(identities) == 3
    office.close()


def test_second_program_of_a_profile_takes_part_as_a_member_of_its_own(tmp_path: Path) -> None:
    office = Office(tmp_path, CHANNEL_ID, 2, 1, 0.0)
    office.everybody()
    host = office.add()
    runtime = Runtime(replace(host, folder=office.hosts[1].folder))
    office.runtimes.append(runtime)
    office.proxies.append(runtime.dereference(office.reference))
    office.everybody()
    users = office.users("channel", Dual[OrderedChannelEndpoint])
    users[2].send("send", message=b"from beside")
    office.until(lambda: all(received(user) for user in users))
    assert len({received(user)[0] for user in users}) == 1
    office.close()
