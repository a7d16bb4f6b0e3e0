"""Copied and restored profiles do not vote twice: there is one order, whatever happens to files."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgpack
import pytest

from liveobj.channels.messages import Payload, encode
from liveobj.channels.order_binding import JournalLock, JournalPlace, place_before_opening
from liveobj.channels.order_journal import TOUCHED_S, OrderJournal
from liveobj.channels.total_order import OrderPhase, TotalOrder
from tests.liveobj.channels import test_order_journal as journal_tests
from tests.liveobj.channels.test_order_journal import GROUP, Disk
from tests.liveobj.support import Clock


class Replica(journal_tests.Replica):
    """A member on a PC of its own, whose clock on the wall is the office's."""

    def __init__(self, office: Office, node: int) -> None:  # not super(): another journal
        self.history: list[tuple[int, bytes]] = []
        self.epochs: list[tuple[int, tuple[int, ...]]] = []
        self.disownings = 0
        path = office.folder / f"{node}.db"
        touched = JournalPlace(touched_at=office.touched.get(node))
        self.disk = Disk(path)
        self.clock = Clock()
        office.identities += 1
        machine = b"pc %d" % office.machines.get(node, node)
        self.order = TotalOrder(
            office.network.node(node).join(GROUP, b"k" * 32),
            1000 + office.identities,
            journal_tests.Callbacks(
                self._deliver, self._members, self._checkpoint, self._load, self._disowned
            ),
            founder=node == 1,
            journal=OrderJournal(
                self.disk, self.clock, touched.opened(path, machine), lambda: office.wall
            ),
        )
        self.order.start()

    def _disowned(self) -> None:
        self.disownings += 1


class Office(journal_tests.Office):
    """PCs whose files are copied and restored."""

    def __init__(self, folder: Path, seed: int = 0, nodes: Sequence[int] = (1, 2, 3)) -> None:
        self.wall = 1_700_000_000.0
        self.touched: dict[int, float] = {}
        self.machines: dict[int, int] = {}
        super().__init__(folder, seed, nodes)

    def make(self, node: int) -> Replica:
        return Replica(self, node)

    def backup(self, node: int) -> bytes:
        """What a backup program reads while nothing is being written."""
        target = self.folder / "backup.db"
        disk = self.running[node].disk
        disk._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copyfile(disk.path, target)
        return target.read_bytes()

    def restore(self, node: int, content: bytes, *, noticed: bool) -> None:
        """Puts an old file in the place of the present one; the system notes that it was changed,
        unless the whole machine is set back."""
        self.wall += 3600
        path = self.folder / f"{node}.db"
        for suffix in ("-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        path.write_bytes(content)
        if noticed:
            self.touched[node] = self.wall

    def use_backup(self, node: int, content: bytes, another: int) -> None:
        """Restores a member that does not run; of one that runs, another PC gets a copy."""
        if node not in self.running:
            self.restore(node, content, noticed=True)
        elif len(self.running) < 7:
            (self.folder / f"{another}.db").write_bytes(content)
            self.start(another)

    def say(self, node: int, text: bytes) -> None:
        self.running[node].order.send(text)
        self.settle()


def texts(replica: journal_tests.Replica) -> list[bytes]:
    return [payload for _, payload in replica.history]


@pytest.mark.parametrize("together", [True, False])
def test_copied_profile_on_a_second_pc_does_not_vote(tmp_path: Path, together: bool) -> None:
    office = Office(tmp_path)
    office.say(1, b"before")
    (tmp_path / "9.db").write_bytes(office.backup(2))
    if not together:
        office.network.partition({1, 2}, {3, 9})
    copy = office.start(9)
    office.settle()
    assert isinstance(copy, Replica)
    assert copy.disownings == 1
    assert texts(copy) == [b"before"], "what was delivered can be read"
    if not together:
        # Of the three who took part, {1, 2} are most. The copy of 2 does not make {3} so.
        assert copy.order.phase is office.running[3].order.phase is OrderPhase.WAITING
        copy.order.send(b"from the copy")
        office.say(3, b"from three")
        office.say(2, b"from two")
        assert texts(office.running[1])[-1] == b"from two"
        assert texts(copy) == texts(office.running[3]) == [b"before"]
        office.check()
        office.network.heal()
        office.settle()
    office.say(9, b"after")
    office.check()
    assert {replica.order.phase for replica in office.running.values()} == {OrderPhase.RUNNING}
    assert all(b"after" in texts(replica) for replica in office.running.values())
    identities = [replica.order.identity for replica in office.running.values()]
    assert len(set(identities)) == 4
    office.close()


@pytest.mark.parametrize("noticed", [True, False])
@pytest.mark.parametrize("alone_with", [0, 1, 3])
def test_profile_restored_from_a_backup_does_not_vote(
    tmp_path: Path, noticed: bool, alone_with: int
) -> None:
    """`alone_with`: it meets only that one at first, who has seen what it has forgotten."""
    office = Office(tmp_path)
    office.say(1, b"one")
    old = office.backup(2)
    for text in (b"two", b"three", b"four"):
        office.say(2, text)
    office.stop(2)
    office.restore(2, old, noticed=noticed)
    if alone_with:
        office.network.partition({2, alone_with}, {1, 3} - {alone_with})
    restored = office.start(2)
    office.settle()
    assert isinstance(restored, Replica)
    assert restored.disownings == 1
    if alone_with:
        assert restored.order.phase is OrderPhase.WAITING
        restored.order.send(b"another two")
        office.settle()
        office.check()
        office.network.heal()
        office.settle()
    office.say(2, b"five")
    office.check()
    assert texts(restored)[:4] == [b"one", b"two", b"three", b"four"]
    assert b"five" in texts(office.running[1])
    assert {replica.order.phase for replica in office.running.values()} == {OrderPhase.RUNNING}
    office.close()


def test_restored_profile_that_meets_nobody_who_saw_more_is_known_by_its_file(
    tmp_path: Path,
) -> None:
    office = Office(tmp_path)
    office.say(1, b"one")
    old = office.backup(2)
    office.network.partition({1, 2}, {3})
    office.settle()
    office.say(2, b"two")
    office.stop(2)
    office.restore(2, old, noticed=True)
    office.network.partition({1}, {2, 3})
    office.start(2)
    office.say(3, b"another")
    office.say(2, b"and another")
    office.check()
    assert texts(office.running[3]) == [b"one"]
    office.network.heal()
    office.settle()
    office.check()
    assert b"another" in texts(office.running[1])
    office.close()


def test_twins_of_one_machine_are_kept_apart_when_they_meet(tmp_path: Path) -> None:
    """A virtual machine that was cloned: the same machine id, the same file."""
    office = Office(tmp_path)
    office.say(1, b"one")
    content = office.backup(2)
    # The clone has the same inode on its disk; here it is the original that is elsewhere.
    office.stop(2)
    shutil.move(tmp_path / "2.db", tmp_path / "8.db")
    office.machines = {8: 2}
    office.start(8)
    office.settle()
    (tmp_path / "9.db").write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OrderJournal, "is_copy", lambda self, state: False)
        twin = office.start(9)
    office.settle()
    assert isinstance(twin, Replica)
    assert twin.disownings == 1
    assert office.running[8].order.identity != twin.order.identity
    office.say(9, b"two")
    office.check()
    assert all(texts(replica) == [b"one", b"two"] for replica in office.running.values())
    office.close()


def test_one_that_crashed_and_comes_back_at_once_is_the_same(tmp_path: Path) -> None:
    office = Office(tmp_path)
    office.say(1, b"one")
    identity = office.running[2].order.identity
    for _ in range(3):
        office.stop(2)
        office.start(2)
    office.settle()
    office.say(2, b"two")
    assert office.running[2].order.identity == identity
    office.check()
    office.close()


def test_founder_whose_journal_was_lost_begins_no_second_order(tmp_path: Path) -> None:
    office = Office(tmp_path, nodes=(1,))
    office.say(1, b"one")
    office.stop(1)
    path = tmp_path / "1.db"
    content = bytearray(path.read_bytes())
    content[100:2000] = random.Random(1).randbytes(1900)
    path.write_bytes(content)
    for _ in range(2):
        office.start(1)
        office.settle()
        assert office.running[1].order.phase is OrderPhase.WAITING
        office.stop(1)
    office.close()


@pytest.mark.parametrize("seed", range(10, 22))
def test_one_order_whatever_is_copied_and_restored(tmp_path: Path, seed: int) -> None:
    """Replay: pytest -k 'copied_and_restored and [seed]'."""
    rng = random.Random(seed)
    office = Office(tmp_path, seed, (1, 2, 3, 4))
    backups: list[tuple[int, bytes]] = []
    newest = 10
    for step in range(50):
        nodes = sorted(office.running)
        match rng.randrange(12):
            case 0 if len(nodes) > 1:
                office.stop(rng.choice(nodes), kill=rng.random() < 0.5)
            case 1 | 2:
                for node in {1, 2, 3, 4} - set(nodes):
                    office.start(node)
            case 3:
                office.settle()
                node = rng.choice(nodes)
                backups.append((node, office.backup(node)))
            case 4 | 5 if backups:
                newest += 1
                office.use_backup(*rng.choice(backups), newest)
            case 6:
                everybody = sorted({*nodes, 1, 2, 3, 4})
                cut = set(rng.sample(everybody, rng.randrange(1, len(everybody))))
                office.network.partition(cut, set(everybody) - cut)
            case 7:
                office.network.heal()
            case 8 | 9:
                for _ in range(rng.randrange(80)):
                    office.network.step()
                    office.running[rng.choice(nodes)].clock.advance(0.01)
            case _:
                office.running[rng.choice(nodes)].order.send(step.to_bytes(2, "big"))
        office.wall += 1
        office.check()
    office.network.heal()
    office.settle()
    office.check()
    office.close()


def test_only_one_program_votes_with_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "object.db"
    first, second = JournalLock(path), JournalLock(path)
    assert (first.held, second.held) == (True, False)
    first.close()
    third = JournalLock(path)
    assert third.held
    third.close()
    second.close()


def test_place_of_a_journal_is_its_file(tmp_path: Path) -> None:
    path = tmp_path / "object.db"
    assert place_before_opening(path).touched_at is None
    path.write_bytes(b"x")
    before = place_before_opening(path)
    assert before.touched_at is not None
    assert abs(before.touched_at - path.stat().st_mtime) < TOUCHED_S
    here = before.opened(path, b"pc").binding
    assert here == before.opened(path, b"pc").binding
    assert here != before.opened(path, b"another pc").binding
    copy = tmp_path / "copy.db"
    shutil.copy2(path, copy)
    assert here != before.opened(copy, b"pc").binding


@pytest.mark.parametrize(
    "message", [[8], [8, 1, 2], [8, 1, 2, 3, "x", 5, 6, 7], [9, 1], [9, 1, b""]]
)
def test_malformed_words_about_members_are_dropped_and_counted(
    tmp_path: Path, message: list[object]
) -> None:
    office = Office(tmp_path)
    enemy = office.network.node(7).join(GROUP, b"")
    enemy.send(encode(Payload(msgpack.packb(message))))
    office.settle()
    assert [r.order._channel.dropped for r in office.running.values()] == [1, 1, 1]
    enemy.leave()
    office.say(1, b"still works")
    assert all(texts(replica) == [b"still works"] for replica in office.running.values())
    office.close()


def test_members_that_do_not_say_who_they_are_take_part_as_before(tmp_path: Path) -> None:
    """As those of version 0.1, who say nothing about themselves and drop what they do not know."""
    office = Office(tmp_path, nodes=(1, 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TotalOrder, "_say_who", lambda self: None)
        office.start(3)
        office.settle()
    office.say(3, b"from an old one")
    assert all(texts(replica) == [b"from an old one"] for replica in office.running.values())
    office.check()
    office.close()
