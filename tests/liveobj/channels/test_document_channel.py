"""Documents in step over groups: merging while waiting, late joins, partitions, hostile bytes."""

from __future__ import annotations

import random

import pytest

from liveobj.capabilities import EditSeal, new_object_keys
from liveobj.channels import Caret, DocumentChannel, PresenceEntry
from liveobj.channels.messages import (
    Fragment,
    Hello,
    Payload,
    PresenceUpdate,
    Update,
    encode,
)
from liveobj.channels.seal import Seal
from liveobj.documents import Document, Version
from tests.liveobj.support import Clock, LocalNetwork

GROUP = b"g" * 16


class Room:
    """Several members of one group, each with a document."""

    def __init__(self, seed: int = 0, bytes_max: int = 1200) -> None:
        self.network = LocalNetwork(seed, bytes_max)
        self.clock = Clock()
        self.channels: dict[int, DocumentChannel] = {}

    def join(
        self, node: int, document: Document | None = None, seal: Seal | None = None
    ) -> DocumentChannel:
        document = document or Document(1000 + node)
        group = self.network.node(node).join(GROUP, b"k" * 32)
        me = PresenceEntry(f"person {node}", "#102030")
        self.channels[node] = DocumentChannel(document, group, self.clock, me, seal)
        return self.channels[node]

    def texts(self) -> list[str]:
        return [str(c.document.text("text")) for c in self.channels.values()]

    def settle(self) -> None:
        self.network.run()

    def assert_same(self, text: str | None = None) -> None:
        self.settle()
        assert len(set(self.texts())) == 1, self.texts()
        if text is not None:
            assert self.texts()[0] == text
        assert not any(c.state.catching_up or c.state.unsent for c in self.channels.values())


def type_at_end(channel: DocumentChannel, text: str) -> None:
    target = channel.document.text("text")
    target.insert(target.length, text)


def test_an_edit_arrives() -> None:
    room = Room()
    first, _second = room.join(1), room.join(2)
    type_at_end(first, "hello")
    room.assert_same("hello")
    assert first.state.people == 2


def test_edits_merge_while_they_wait() -> None:
    room = Room()
    first = room.join(1)
    room.join(2)
    room.settle()
    before = room.network.sent_messages
    for letter in "a thousand keystrokes" * 50:
        type_at_end(first, letter)
    assert first.state.unsent > 1000
    room.settle()
    assert room.network.sent_messages - before <= 3
    room.assert_same("a thousand keystrokes" * 50)


def test_alone_one_sends_nothing() -> None:
    room = Room()
    first = room.join(1)
    type_at_end(first, "to myself")
    room.settle()
    assert room.network.sent_messages == 0
    assert first.state.unsent == 0


def test_one_who_comes_late_gets_everything_once() -> None:
    room = Room()
    for node in range(1, 6):
        room.join(node)
        type_at_end(room.channels[node], f"{node} ")
    room.settle()
    size = len(room.channels[1].document.export_since(Version()))
    before = room.network.sent_bytes
    late = room.join(9)
    room.settle()
    room.assert_same()
    assert len(str(late.document.text("text"))) == 10
    # Six greetings, six presences, and the content about once, not five times.
    assert room.network.sent_bytes - before < 6 * 250 + 2 * size


def test_offline_edits_of_all_merge_on_meeting() -> None:
    room = Room(seed=3)
    documents = [Document(100 + i) for i in range(4)]
    for index, document in enumerate(documents):
        document.text("text").insert(0, f"offline {index}. ")
    for index, document in enumerate(documents):
        room.join(index + 1, document)
    room.assert_same()
    assert all(f"offline {i}. " in room.texts()[0] for i in range(4))


def test_work_of_somebody_gone_is_passed_on_by_whoever_has_it() -> None:
    gone = Document(77)
    gone.text("text").insert(0, "left behind")
    room = Room()
    room.join(1)
    room.join(2)
    holder = Document(300)
    holder.import_update(gone.export_since(Version()))
    room.join(3, holder)
    room.assert_same("left behind")


@pytest.mark.parametrize("seed", range(40))
def test_members_come_go_part_and_meet_and_end_up_the_same(seed: int) -> None:
    """Replay: pytest -k 'end_up_the_same and [seed]'."""
    rng = random.Random(seed)
    room = Room(seed, bytes_max=rng.choice([64, 200, 1200]))
    room.join(1)
    newest = 1
    for _ in range(60):
        nodes = sorted(room.channels)
        match rng.randrange(10):
            case 0 if len(nodes) < 6:
                newest += 1  # never a number again, as identities are never used again
                room.join(newest)
            case 1 if len(nodes) > 2:
                leaver = rng.choice(nodes)
                room.settle()
                room.channels.pop(leaver).close()
            case 2:
                cut = rng.randrange(1, len(nodes) + 1)
                room.network.partition(set(nodes[:cut]), set(nodes[cut:]))
            case 3:
                room.network.heal()
            case 4 | 5:
                for _ in range(rng.randrange(30)):
                    room.network.step()
            case _:
                type_at_end(room.channels[rng.choice(nodes)], rng.choice("abc😀") * 3)
    room.network.heal()
    room.settle()
    room.clock.advance(5)
    room.assert_same()


def test_a_long_message_is_cut_and_put_together() -> None:
    room = Room(bytes_max=100)
    first, _ = room.join(1), room.join(2)
    noise = "".join(random.Random(1).choices("abcdefghijklmnop", k=20_000))
    type_at_end(first, noise)
    room.assert_same(noise)
    assert room.network.sent_messages > 50


def test_presence_shows_the_newest_and_goes_with_its_owner() -> None:
    room = Room()
    first, second = room.join(1), room.join(2)
    room.settle()
    assert second.presence.others[1].name == "person 1"
    before = room.network.sent_messages
    type_at_end(first, "some text")
    for position in range(9):
        place = first.document.text("text").cursor_at(position)
        first.presence.set_caret(Caret("text", place, place))
    room.settle()
    assert room.network.sent_messages - before <= 3
    caret = second.presence.others[1].caret
    assert caret is not None
    assert second.document.text("text").position_of(caret.head) == 8
    first.close()
    assert second.presence.others == {}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff" * 20,
        encode(Update(b"nonsense")),
        encode(PresenceUpdate({"name": 5})),
        encode(PresenceUpdate({"name": "x" * 200, "colour": "#000000"})),
        encode(PresenceUpdate({"name": "x", "colour": "red"})),
        encode(PresenceUpdate({"name": "x", "colour": "#000000", "caret": 7})),
        encode(
            PresenceUpdate({"name": "x", "colour": "#000000", "caret": ["t", b"x" * 9000, b""]})
        ),
        encode(PresenceUpdate({"name": "x", "colour": "#000000", "spot": "x" * 600})),
        encode(PresenceUpdate({"name": "x", "colour": "#000000", "spot": [[[[[1]]]]]})),
        encode(PresenceUpdate({"name": "x", "colour": "#000000", "spot": {b"k": 1}})),
        encode(Fragment(3, 9, b"abc")),
        encode(Fragment(0, 3, b"abc")),
    ],
)
def test_hostile_bytes_are_counted_and_dropped(data: bytes) -> None:
    room = Room(bytes_max=20_000)
    first, _ = room.join(1), room.join(2)
    room.settle()
    enemy = room.network.node(6).join(GROUP, b"")
    enemy.send(data)
    type_at_end(first, "still works")
    room.assert_same("still works")
    skipped = data == encode(Fragment(3, 9, b"abc"))
    assert first.counters.dropped == (0 if skipped else 1)
    assert 6 not in first.presence.others


def test_one_who_claims_more_than_there_is_does_not_cause_a_storm() -> None:
    room = Room()
    first, _ = room.join(1), room.join(2)
    liar = room.network.node(6).join(GROUP, b"")
    liar.send(encode(Hello(5, Version({5: 1000}))))
    room.settle()
    before = room.network.sent_messages
    for _ in range(600):
        room.clock.advance(1)
        room.settle()
    assert not first.state.catching_up, "nobody can send what there is not"
    assert room.network.sent_messages - before < 60


def test_an_update_without_its_predecessor_is_asked_for() -> None:
    room = Room()
    first, second = room.join(1), room.join(2)
    room.settle()
    writer = Document(88)
    writer.text("text").insert(0, "one ")
    middle = writer.version
    writer.text("text").insert(4, "two")
    second.document.import_update(writer.export_since(Version()))
    enemy = room.network.node(6).join(GROUP, b"")
    enemy.send(encode(Update(writer.export_since(middle))))
    room.settle()
    room.clock.advance(3)
    room.settle()
    assert str(first.document.text("text")) == "one two"


def test_a_viewer_is_refused_by_everybody() -> None:
    keys = new_object_keys(random.Random(1).randbytes)
    room = Room()
    editor = room.join(1, seal=EditSeal(keys.verify, keys.signing))
    other = room.join(2, seal=EditSeal(keys.verify, keys.signing))
    viewer = room.join(3, Document(33), seal=EditSeal(keys.verify, None))
    type_at_end(editor, "signed")
    room.settle()
    assert str(viewer.document.text("text")) == "signed"
    # A viewer whose program was tampered with: it edits and sends, signed with a key of its own.
    theirs = new_object_keys(random.Random(2).randbytes)
    viewer._seal = EditSeal(theirs.verify, theirs.signing)
    type_at_end(viewer, " forged")
    room.settle()
    assert str(editor.document.text("text")) == str(other.document.text("text")) == "signed"
    assert editor.counters.refused == other.counters.refused == 1


def test_nothing_is_left_running_after_close() -> None:
    room = Room()
    first, second = room.join(1), room.join(2)
    room.settle()
    first.close()
    first.close()
    second.close()
    assert room.clock.pending == 0


@pytest.mark.parametrize("seed", range(10))
def test_a_member_who_says_anything_at_all_harms_nobody(seed: int) -> None:
    """A hostile insider: well-formed messages with random content, among real ones cut and
    mixed."""
    rng = random.Random(seed)
    room = Room(seed, bytes_max=4000)
    first, second = room.join(1), room.join(2)
    room.settle()
    enemy = room.network.node(6).join(GROUP, b"")
    writer = Document(500)
    writer.text("text").insert(0, "real")
    real = writer.export_since(Version())
    for turn in range(200):
        version = Version({rng.randrange(2**63): rng.randrange(1, 2**31 - 1)})
        damaged = bytearray(real)
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        message = rng.choice(
            [
                Hello(rng.randrange(2**64), version, rng.random() < 0.5),
                Hello(first.document.peer_id, Version({1001: 5})),
                Update(bytes(damaged), rng.randbytes(64)),
                Update(rng.randbytes(rng.randrange(100))),
                Update(real),
                PresenceUpdate({"name": "x" * rng.randrange(150), "colour": "#00ff00"}),
                PresenceUpdate({"name": "y", "colour": "#00ff00", "caret": ["text", b"x", b"y"]}),
                Fragment(rng.randrange(50), 50, rng.randbytes(rng.randrange(1, 60))),
                Payload(rng.randbytes(20)),
            ]
        )
        enemy.send(encode(message))
        if turn % 20 == 0:
            type_at_end(first, f"{turn} ")
            type_at_end(second, f"{turn} ")
    room.settle()
    for _ in range(5):
        room.clock.advance(1)
        room.settle()
    assert room.texts()[0] == room.texts()[1]
    assert room.texts()[0].count("180 ") == 2
    assert first.counters.dropped > 0
