"""Total order: the same for all, nothing lost among a majority, nothing delivered by a minority."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from liveobj.channels.order_votes import has_majority
from liveobj.channels.total_order import Callbacks, OrderPhase, TotalOrder
from tests.liveobj.support import LocalNetwork

GROUP = b"o" * 16


class Replica:
    """Keeps everything delivered, checkpoints included, as one history."""

    def __init__(self, network: LocalNetwork, node: int) -> None:
        self.history: list[tuple[int, bytes]] = []
        self.epochs: list[tuple[int, tuple[int, ...]]] = []
        group = network.node(node).join(GROUP, b"k" * 32)
        self.order = TotalOrder(
            group,
            1000 + node,
            Callbacks(
                deliver=lambda origin, payload: self.history.append((origin, payload)),
                members=self._members,
                make_checkpoint=self._checkpoint,
                load_checkpoint=self._load,
            ),
            founder=node == 1,
        )
        self.order.start()

    def _members(self, members: Sequence[int]) -> None:
        # Where in the order they changed is the same for all.
        self.epochs.append((len(self.history), tuple(members)))

    def _checkpoint(self) -> bytes:
        return repr((self.history, self.epochs)).encode()

    def _load(self, data: bytes) -> None:
        self.history, self.epochs = eval(data.decode()) if data else ([], [])


def check_same(replicas: list[Replica]) -> None:
    """The oracle: of any two histories, one is the beginning of the other; nothing is there
    twice."""
    longest = max((replica.history for replica in replicas), key=len)
    assert len(set(longest)) == len(longest)
    changes = max((replica.epochs for replica in replicas), key=len)
    for replica in replicas:
        assert replica.history == longest[: len(replica.history)]
        assert replica.epochs == changes[: len(replica.epochs)]


def test_everybody_delivers_everything_in_one_order() -> None:
    network = LocalNetwork(3)
    replicas = [Replica(network, node) for node in range(1, 6)]
    network.run()
    for turn in range(10):
        for replica in replicas:
            replica.order.send(bytes([turn]))
    network.run()
    check_same(replicas)
    assert all(len(replica.history) == 50 for replica in replicas)
    for replica in replicas:
        own = [p[0] for origin, p in replica.history if origin == replica.order.identity]
        assert own == list(range(10))
        assert replica.order.outstanding == 0
        assert replica.order.phase is OrderPhase.RUNNING


def test_one_alone_orders_for_itself() -> None:
    network = LocalNetwork()
    alone = Replica(network, 1)
    alone.order.send(b"x")
    network.run()
    assert alone.history == [(1001, b"x")]


def test_one_who_comes_late_gets_a_checkpoint_and_goes_on() -> None:
    network = LocalNetwork(1)
    replicas = [Replica(network, 1), Replica(network, 2)]
    for number in range(20):
        replicas[number % 2].order.send(bytes([number]))
    network.run()
    replicas.append(Replica(network, 3))
    replicas[2].order.send(b"late")
    network.run()
    check_same(replicas)
    assert len(replicas[2].history) == 21


def test_the_sequencer_may_crash() -> None:
    network = LocalNetwork(2)
    replicas = [Replica(network, node) for node in range(1, 4)]
    network.run()
    for replica in replicas:
        replica.order.send(b"before")
    for _ in range(12):
        network.step()
    crashed = replicas.pop(0)
    crashed.order.close()
    for replica in replicas:
        replica.order.send(b"after")
    network.run()
    check_same([*replicas, crashed])
    assert all(sum(p == b"after" for _, p in r.history) == 2 for r in replicas)
    assert {origin for origin, p in replicas[0].history if p == b"before"} >= {1002, 1003}


def test_a_minority_waits_and_catches_up() -> None:
    network = LocalNetwork(5)
    replicas = [Replica(network, node) for node in range(1, 6)]
    network.run()
    network.partition({1, 2}, {3, 4, 5})
    replicas[0].order.send(b"minority")
    replicas[4].order.send(b"majority")
    network.run()
    assert [r.order.phase.value for r in replicas] == ["waiting"] * 2 + ["running"] * 3
    assert replicas[0].history == []
    assert replicas[3].history == [(1005, b"majority")]
    network.heal()
    network.run()
    check_same(replicas)
    assert all(len(replica.history) == 2 for replica in replicas)


def test_one_who_began_an_epoch_that_nobody_else_heard_of_does_not_go_on_alone() -> None:
    network = LocalNetwork(1)
    replicas = [Replica(network, node) for node in (1, 2, 3)]
    network.run()
    first, second, third = (replica.order for replica in replicas)
    epoch, ballot = first._state.epoch, second._state.ballot
    network.partition({1, 2}, {3})
    groups = {group.me: group for group in network.groups[GROUP]}
    for _ in range(200):
        network._pull_one(groups[1])
        network._pull_one(groups[2])
        network._deliver_one(groups[1])
        if second._state.ballot == ballot:  # hears the proposal, but nothing after it
            network._deliver_one(groups[2])
    assert first._state.epoch > epoch
    assert second._state.epoch == epoch
    groups[2].inbox.clear()
    network.partition({1}, {2, 3})
    first.send(b"alone")
    third.send(b"together")
    network.run()
    assert first.phase is OrderPhase.WAITING
    assert replicas[0].history == []
    assert replicas[1].history == replicas[2].history == [(1003, b"together")]
    network.heal()
    network.run()
    check_same(replicas)
    assert all(len(replica.history) == 2 for replica in replicas)


def test_majorities() -> None:
    assert has_majority([1, 2, 3], [2, 3])
    assert not has_majority([1, 2, 3], [3])
    assert has_majority([1, 2], [1])
    assert not has_majority([1, 2], [2])
    assert not has_majority([], [1])


@pytest.mark.parametrize("seed", range(60))
def test_the_order_holds_whatever_happens(seed: int) -> None:
    """Replay: pytest -k 'whatever_happens and [seed]'."""
    rng = random.Random(seed)
    network = LocalNetwork(seed, bytes_max=rng.choice([100, 1200]))
    replicas: dict[int, Replica] = {n: Replica(network, n) for n in (1, 2, 3)}
    crashed: list[Replica] = []
    newest = 3
    sent: set[tuple[int, bytes]] = set()
    network.run()
    for step in range(80):
        nodes = sorted(replicas)
        match rng.randrange(12):
            case 0 if len(nodes) < 6:
                network.heal()  # one who comes and meets nobody would begin an order of its own
                newest += 1
                replicas[newest] = Replica(network, newest)
            case 1 if len(nodes) > 3:
                gone = replicas.pop(rng.choice(nodes))
                gone.order.close()
                crashed.append(gone)
            case 2:
                cut = rng.randrange(1, len(nodes) + 1)
                network.partition(set(nodes[:cut]), set(nodes[cut:]))
            case 3:
                network.heal()
            case 4 | 5 | 6 | 7:
                for _ in range(rng.randrange(25)):
                    network.step()
            case _:
                node = rng.choice(nodes)
                payload = step.to_bytes(2, "big")
                replicas[node].order.send(payload)
                sent.add((1000 + node, payload))
        check_same([*replicas.values(), *crashed])
    network.heal()
    network.run()
    alive = list(replicas.values())
    check_same([*alive, *crashed])
    if any(replica.order.phase is OrderPhase.RUNNING for replica in alive):
        living = {replica.order.identity for replica in alive}
        expected = {item for item in sent if item[0] in living}
        for replica in alive:
            assert expected <= set(replica.history)
            assert replica.order.outstanding == 0


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b"\x90",
        b"\x91\x01",
        b"\x92\x02\x03",
        b"\x99\x04\x00\x00\x90\x00\x90\x00\xc4\x00\x90",
    ],
)
def test_rubbish_is_dropped(data: bytes) -> None:
    from liveobj.channels.messages import Payload, encode

    network = LocalNetwork()
    replica = Replica(network, 1)
    enemy = network.node(9).join(GROUP, b"")
    enemy.send(encode(Payload(data)))
    network.run()
    assert replica.order._channel.dropped == 1
