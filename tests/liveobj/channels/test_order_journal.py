"""An order outlives its programs: members are killed and started again at any moment, disks refuse
and are damaged, and there is still one order for all."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from liveobj.channels import order_journal
from liveobj.channels.messages import BadMessage
from liveobj.channels.order_journal import OrderJournal
from liveobj.channels.order_state import OrderState
from liveobj.channels.total_order import Callbacks, OrderPhase, TotalOrder
from liveobj.storage import ObjectStore, StorageError
from tests.liveobj.support import Clock, LocalNetwork

GROUP = b"o" * 16
SEEDS = int(os.environ.get("ORDER_SEEDS", "40"))


class Disk(ObjectStore):
    """A store that can be told to refuse."""

    full = False

    def append(self, data: bytes, signature: bytes = b"") -> int:
        if self.full:
            raise StorageError("The disk is full.")
        return super().append(data, signature)


class Replica:
    """A member whose state is on disk; `kill` leaves what was not saved behind."""

    def __init__(self, office: Office, node: int) -> None:
        self.history: list[tuple[int, bytes]] = []
        self.epochs: list[tuple[int, tuple[int, ...]]] = []
        self.disk = Disk(office.folder / f"{node}.db")
        self.clock = Clock()
        office.identities += 1
        self.order = TotalOrder(
            office.network.node(node).join(GROUP, b"k" * 32),
            1000 + office.identities,
            Callbacks(self._deliver, self._members, self._checkpoint, self._load),
            founder=node == 1,
            journal=OrderJournal(self.disk, self.clock),
        )
        self.order.start()

    def _deliver(self, origin: int, payload: bytes) -> None:
        self.history.append((origin, payload))

    def _members(self, members: Sequence[int]) -> None:
        self.epochs.append((len(self.history), tuple(members)))

    def _checkpoint(self) -> bytes:
        return repr((self.history, self.epochs)).encode()

    def _load(self, data: bytes) -> None:
        self.history, self.epochs = eval(data.decode()) if data else ([], [])

    def kill(self) -> None:
        self.clock._timers.clear()
        self.disk.close()
        self.order._channel.close()


class Office:
    """Nodes that run, and what all who ever ran have seen."""

    def __init__(self, folder: Path, seed: int = 0, nodes: Sequence[int] = (1, 2, 3)) -> None:
        self.folder = folder
        self.network = LocalNetwork(seed)
        self.identities = 0
        self.gone: list[Replica] = []
        self.running: dict[int, Replica] = {}
        for node in nodes:
            self.running[node] = self.make(node)
        self.settle()

    def make(self, node: int) -> Replica:
        return Replica(self, node)

    def settle(self) -> None:
        for _ in range(40):
            self.network.run()
            for replica in self.running.values():
                replica.clock.advance(0.1)

    def start(self, node: int) -> Replica:
        self.running[node] = self.make(node)
        return self.running[node]

    def stop(self, node: int, *, kill: bool = True) -> None:
        replica = self.running.pop(node)
        self.gone.append(replica)
        if kill:
            replica.kill()
        else:
            replica.order.close()

    def check(self) -> None:
        """The oracle: of any two histories, one is the beginning of the other; nothing twice."""
        replicas = [*self.running.values(), *self.gone]
        longest = max((replica.history for replica in replicas), key=len)
        changes = max((replica.epochs for replica in replicas), key=len)
        assert len(set(longest)) == len(longest)
        for replica in replicas:
            assert replica.history == longest[: len(replica.history)]
            assert replica.epochs == changes[: len(replica.epochs)]

    def close(self) -> None:
        for node in list(self.running):
            self.stop(node, kill=False)


@pytest.mark.parametrize("kill", [False, True])
def test_order_goes_on_after_all_have_been_started_again(tmp_path: Path, kill: bool) -> None:
    office = Office(tmp_path)
    for number, replica in enumerate(office.running.values()):
        replica.order.send(b"before %d" % number)
    office.settle()
    identities = {node: replica.order.identity for node, replica in office.running.items()}
    history = office.running[1].history
    assert len(history) == 3
    for node in (1, 2, 3):
        office.stop(node, kill=kill)
    # None of them made the object anew: without a majority they wait.
    third = office.start(3)
    office.settle()
    assert third.history == history
    assert third.order.phase is OrderPhase.WAITING
    third.order.send(b"after")
    second = office.start(2)
    office.settle()
    assert second.history == third.history == [*history, (identities[3], b"after")]
    office.start(1).order.send(b"at last")
    office.settle()
    office.check()
    assert {n: r.order.identity for n, r in office.running.items()} == identities
    assert [len(r.history) for r in office.running.values()] == [5, 5, 5]
    office.close()


def test_message_that_was_waiting_is_sent_by_the_next_start(tmp_path: Path) -> None:
    office = Office(tmp_path, nodes=(1, 2))
    office.network.partition({1}, {2})
    office.settle()
    office.running[2].order.send(b"alone")
    office.settle()
    assert office.running[2].order.outstanding == 1
    office.stop(2, kill=False)
    office.network.heal()
    office.start(2)
    office.settle()
    assert office.running[1].history == [(office.running[2].order.identity, b"alone")]
    assert office.running[2].order.outstanding == 0
    office.close()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_order_holds_whoever_is_killed_and_comes_back(tmp_path: Path, seed: int) -> None:
    """Replay: pytest -k 'comes_back and [seed]'."""
    rng = random.Random(seed)
    office = Office(tmp_path, seed)
    sent: list[tuple[int, bytes]] = []
    for step in range(60):
        nodes, down = sorted(office.running), sorted({1, 2, 3, 4} - set(office.running))
        match rng.randrange(12):
            case 0 if nodes:
                for node in rng.sample(nodes, rng.randrange(1, len(nodes) + 1)):
                    office.stop(node, kill=rng.random() < 0.8)
            case 1 | 2 if down:
                for node in rng.sample(down, rng.randrange(1, len(down) + 1)):
                    office.start(node)
            case 3:
                cut = set(rng.sample([1, 2, 3, 4], rng.randrange(1, 4)))
                office.network.partition(cut, {1, 2, 3, 4} - cut)
            case 4:
                office.network.heal()
            case 5 | 6 | 7 if nodes:
                for _ in range(rng.randrange(80)):
                    office.network.step()
                    slow = rng.random() < 0.7
                    office.running[rng.choice(nodes)].clock.advance(0 if slow else 0.02)
            case _ if nodes:
                replica = office.running[rng.choice(nodes)]
                payload = step.to_bytes(2, "big")
                replica.order.send(payload)
                replica.clock.advance(0.02)  # It is on the disk, so it is not lost any more.
                sent.append((replica.order.identity, payload))
        office.check()
    office.network.heal()
    for node in {1, 2, 3, 4} - set(office.running):
        office.start(node)
    office.settle()
    office.check()
    for replica in office.running.values():
        assert replica.order.phase is OrderPhase.RUNNING
        assert set(sent) <= set(replica.history)
        assert replica.order.outstanding == 0
    office.close()


def test_nothing_is_acknowledged_that_the_disk_has_not_taken(tmp_path: Path) -> None:
    office = Office(tmp_path)
    problems: list[str] = []
    for node in (2, 3):
        replica = office.running[node]
        replica.disk.full = True
        assert replica.order._journal is not None
        replica.order._journal.on_problem = problems.append
    office.running[1].order.send(b"x")
    office.settle()
    assert all(replica.history == [] for replica in office.running.values())
    assert problems == ["The disk is full."] * 2
    for node in (2, 3):
        office.running[node].disk.full = False
        office.running[node].clock.advance(order_journal.RETRY_DELAY_S)
    office.settle()
    assert all(len(replica.history) == 1 for replica in office.running.values())
    office.close()


@pytest.mark.parametrize("damage", ["bytes", "record"])
def test_damaged_copy_comes_back_as_somebody_new(tmp_path: Path, damage: str) -> None:
    office = Office(tmp_path)
    office.running[1].order.send(b"x")
    office.settle()
    before = office.running[3].order.identity
    office.stop(3, kill=False)
    file = tmp_path / "3.db"
    if damage == "bytes":
        content = bytearray(file.read_bytes())
        content[100:2000] = random.Random(1).randbytes(1900)
        file.write_bytes(content)
    else:
        store = ObjectStore(file)
        store.append(b"\xc1nonsense")
        store.close()
    replica = office.start(3)
    office.settle()
    assert replica.order.identity != before
    assert replica.history == office.running[1].history
    replica.order.send(b"y")
    office.settle()
    office.check()
    assert len(replica.history) == 2
    again = replica.order.identity
    office.stop(3)
    assert office.start(3).order.identity == again  # The new one is kept.
    office.close()


def test_journal_is_compacted_and_still_leads_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order_journal, "COMPACT_AFTER_ROWS", 10)
    office = Office(tmp_path)
    for number in range(60):
        office.running[1 + number % 3].order.send(b"%d" % number)
        office.settle()
    rows = [replica.disk.update_count for replica in office.running.values()]
    assert max(rows) < 40
    history = office.running[1].history
    assert len(history) == 60
    for node in (1, 2, 3):
        office.stop(node)
    for node in (1, 2, 3):
        office.start(node)
    office.settle()
    office.check()
    assert all(replica.history == history for replica in office.running.values())
    office.close()


@pytest.mark.parametrize(
    "record",
    [
        [],
        ["nothing"],
        ["promise", "x"],
        ["delivered", 5],
        ["begin", True],
        ["whole", {}],
        ["whole", {"identity": 1}],
    ],
)
def test_record_that_is_none_is_refused(record: list[object]) -> None:
    with pytest.raises(BadMessage):
        OrderState().apply(record)
