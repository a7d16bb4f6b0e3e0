"""Old documents have long versions: members greet with digests, and tell a whole version once for
all who have the same, where somebody has another."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from liveobj.channels import DocumentChannel, PresenceEntry, document_channel
from liveobj.channels.messages import BadMessage, Greeting, Hello, decode, encode
from liveobj.documents import Document
from liveobj.documents.version import Version
from tests.liveobj.support import Clock, LocalNetwork

GROUP = b"g" * 16
WRITERS = 300


def old_document(peer: int) -> Document:
    """One in which many have written."""
    document = Document(peer)
    for writer in range(1000, 1000 + WRITERS):
        other = Document(writer)
        other.text("text").insert(0, "x")
        document.import_update(other.export_since(Version()))
    return document


@dataclass
class Room:
    """Members, and what each has said."""

    network: LocalNetwork
    clock: Clock = field(default_factory=Clock)
    channels: dict[int, DocumentChannel] = field(default_factory=dict)
    greetings: list[int] = field(default_factory=list)
    wholes: list[int] = field(default_factory=list)

    def join(self, node: int, document: Document) -> DocumentChannel:
        group = self.network.node(node).join(GROUP, b"k" * 32)
        me = PresenceEntry(f"person {node}", "#102030")
        channel = DocumentChannel(document, group, self.clock, me)
        pull = channel.pull

        def listen(bytes_max: int) -> bytes | None:
            due = channel._due.outgoing
            piece = pull(bytes_max)
            if piece is not None and due is None:
                inner: Any = decode(piece) if piece[0] == 4 else None
                kind = piece[0] if inner is None else inner.data[0]
                if kind == 1:
                    self.wholes.append(node)
                elif kind == 7:
                    self.greetings.append(node)
            return piece

        channel.pull = listen  # type: ignore[method-assign]
        self.channels[node] = channel
        return channel

    def settle(self) -> None:
        self.network.run()
        for _ in range(10):
            self.clock.advance(1)
            self.network.run()

    def same(self) -> bool:
        versions = [channel.document.version for channel in self.channels.values()]
        quiet = not any(channel.state.catching_up for channel in self.channels.values())
        return quiet and all(version == versions[0] for version in versions)


def copy_of(document: Document, peer: int) -> Document:
    copied = Document(peer)
    copied.import_update(document.export_snapshot())
    return copied


def test_members_who_have_the_same_tell_no_versions() -> None:
    first = old_document(1)
    room = Room(LocalNetwork(1))
    for node in range(1, 6):
        room.join(node, first if node == 1 else copy_of(first, node))
        room.settle()
    assert room.wholes == []
    assert len(room.greetings) >= 4
    assert room.same()


def test_newcomer_is_told_one_version_for_all() -> None:
    first = old_document(1)
    room = Room(LocalNetwork(2))
    for node in range(1, 6):
        room.join(node, first if node == 1 else copy_of(first, node))
    room.settle()
    room.wholes.clear()
    newcomer = room.join(9, Document(9))
    newcomer.document.text("text").insert(0, "new")
    room.settle()
    assert room.same()
    assert len(str(room.channels[3].document.text("text"))) == WRITERS + 3
    # Its own, and that of one who has what all the others have.
    assert sorted(room.wholes) == [1, 9]
    assert sum(channel.counters.dropped for channel in room.channels.values()) == 0


def test_two_halves_that_were_apart_exchange_one_version_each() -> None:
    first = old_document(1)
    room = Room(LocalNetwork(3))
    for node in range(1, 7):
        room.join(node, first if node == 1 else copy_of(first, node))
    room.settle()
    room.network.partition({1, 2, 3}, {4, 5, 6})
    room.channels[2].document.text("text").insert(0, "left")
    room.channels[5].document.text("text").insert(0, "right")
    room.settle()
    room.wholes.clear()
    room.network.heal()
    room.settle()
    assert room.same()
    assert len(room.wholes) == 2


@pytest.mark.parametrize("seed", range(25))
def test_members_end_up_the_same_whatever_happens(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Replay: pytest -k 'whatever_happens and [seed]'."""
    monkeypatch.setattr(document_channel, "WRITERS_TOLD_MAX", random.Random(seed).choice([0, 3]))
    rng = random.Random(seed)
    room = Room(LocalNetwork(seed, bytes_max=rng.choice([100, 1200])))
    peers = iter(range(100, 1000))
    for node in (1, 2, 3):
        room.join(node, Document(next(peers)))
    newest = 3
    for _ in range(60):
        nodes = sorted(room.channels)
        match rng.randrange(8):
            case 0 if len(nodes) < 6:
                newest += 1
                kept = rng.choice([None, room.channels[nodes[0]].document])
                peer = next(peers)
                room.join(newest, Document(peer) if kept is None else copy_of(kept, peer))
            case 1 if len(nodes) > 2:
                room.channels.pop(rng.choice(nodes)).close()
            case 2:
                cut = rng.randrange(1, len(nodes) + 1)
                room.network.partition(set(nodes[:cut]), set(nodes[cut:]))
            case 3:
                room.network.heal()
            case 4 | 5:
                for _ in range(rng.randrange(30)):
                    room.network.step()
            case _:
                room.channels[rng.choice(nodes)].document.text("text").insert(0, "ab")
    room.network.heal()
    room.settle()
    room.settle()
    assert room.same()


@pytest.mark.parametrize(
    "greeting", [Greeting(-1, bytes(16)), Greeting(2**64, bytes(16)), Greeting(1, bytes(15))]
)
def test_greeting_out_of_bounds_is_no_message(greeting: Greeting) -> None:
    with pytest.raises((BadMessage, OverflowError)):
        decode(encode(greeting))


def test_digest_does_not_depend_on_the_order_of_writers() -> None:
    assert Version({1: 2, 3: 4}).digest == Version({3: 4, 1: 2}).digest
    assert Version({1: 2}).digest != Version({1: 3}).digest
    assert decode(encode(Greeting(5, Version({1: 2}).digest))) == Greeting(
        5, Version({1: 2}).digest
    )
    assert isinstance(decode(encode(Hello(5, Version({1: 2})))), Hello)
