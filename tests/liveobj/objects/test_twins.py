"""Two writers under one identity are found out: both copies are kept, and nobody pretends that they
are the same."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from liveobj.channels.messages import BadMessage, Hello, Marks, decode, encode
from liveobj.channels.twin_check import WINDOW, Mark, TwinCheck, pack_marks, read_marks
from liveobj.documents import Document, Version
from liveobj.host import Host
from liveobj.objects.text_note import TextNote, new_note, open_note
from liveobj.references import read_reference_file
from tests.liveobj.support import LocalOffice, make_host

REFERENCE = new_note("Shopping", random.Random(5).randbytes)
TWIN = 77


class Office(LocalOffice[TextNote]):
    """People who have a note open; `twin` opens it under an identity that another one has."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, REFERENCE, open_note)

    def host(self, node: int) -> Host:
        return make_host(self.network, node, self.folder, self.clock)

    def twin(self, node: int) -> TextNote:
        """As a machine that goes on from the same snapshot as another one: the first random number
        is the same."""
        own = random.Random(node).randbytes
        first = [(TWIN << 1).to_bytes(8, "big")]
        ada = make_host(self.network, node, self.folder, self.clock, "Ada")
        host = replace(ada, random_bytes=lambda n: first.pop() if first else own(n))
        return open_note(REFERENCE, host)

    def wait(self, seconds: int = 12) -> None:
        for _ in range(seconds):
            self.settle(1.0)

    @property
    def copies(self) -> list[Path]:
        return sorted(self.folder.glob("other copies/*.liveobject"))


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


@pytest.mark.parametrize(("first", "second"), [("alpha", "bravo"), ("alpha", "b"), ("a", "bravo")])
@pytest.mark.parametrize("seed", range(4))
def test_copies_of_twins_are_both_kept_and_told_of(
    office: Office, first: str, second: str, seed: int
) -> None:
    office.network.random.seed(seed)
    office.network.partition({1}, {2})
    ada, bob = office.twin(1), office.twin(2)
    assert ada.document.peer_id == bob.document.peer_id == TWIN
    ada.text.insert(0, first)
    bob.text.insert(0, second)
    office.wait()
    office.network.heal()
    office.wait()
    assert ada.text.to_string() == first, "the senior's copy is the object's"
    assert ada.state.warning is not None
    assert bob.state.warning is not None
    assert not bob.state.can_edit
    assert bob.state.people == 0
    # The other copy is an object of its own.
    (file,) = office.copies
    assert str(file) in bob.state.warning
    beside = replace(office.host(2), network=office.network.node(8))
    copy = open_note(read_reference_file(file), beside)
    assert copy.text.to_string() == second
    assert copy.title == "Shopping (other copy)"
    assert copy.state.can_edit
    # Who opens the object again goes on with what the others have.
    bob.close()
    again = office.open(2)
    office.wait()
    again.text.insert(0, "together: ")
    ada.text.insert(ada.text.length, ".")
    office.wait()
    assert ada.text.to_string() == again.text.to_string() == f"together: {first}."
    assert again.state.warning is None


def test_twins_who_wrote_the_same_go_on_together(office: Office) -> None:
    office.network.partition({1}, {2})
    ada, bob = office.twin(1), office.twin(2)
    ada.text.insert(0, "same")
    bob.text.insert(0, "same")
    office.network.heal()
    office.wait()
    assert ada.state.warning is None
    assert bob.state.warning is None
    assert ada.document.peer_id != bob.document.peer_id
    ada.text.insert(4, " for")
    office.wait()
    bob.text.insert(8, " all")
    office.wait()
    assert ada.text.to_string() == bob.text.to_string() == "same for all"


def test_twins_are_found_out_when_their_identity_is_no_longer_in_use(office: Office) -> None:
    office.network.partition({1}, {2})
    for node, text in ((1, "alpha"), (2, "bravo")):
        note = office.twin(node)
        note.text.insert(0, text)
        note.close()
    ada, bob = office.open(1), office.open(2)
    assert (ada.text.to_string(), bob.text.to_string()) == ("alpha", "bravo")
    office.network.heal()
    office.wait()
    assert ada.text.to_string() == "alpha"
    assert bob.state.warning is not None
    assert len(office.copies) == 1


def test_machine_resumed_from_a_snapshot_writes_under_a_new_identity(office: Office) -> None:
    host = office.host(1)
    ada = open_note(REFERENCE, host)
    bob = office.open(2)
    ada.text.insert(0, "before")
    office.settle()
    ada.text.insert(6, " unsent")
    old = ada.document.peer_id
    end = ada.document.version.end(old)
    host.new_identity.notify(None)
    assert ada.document.peer_id != old
    ada.text.insert(0, "after ")
    ada.document.undo_boundary()
    ada.text.insert(0, "!")
    office.wait()
    assert bob.text.to_string() == ada.text.to_string() == "!after before unsent"
    assert bob.document.version.end(old) == end, "nothing more under the old one"
    assert ada.writers.name_of(ada.document.peer_id) == host.person.name
    assert ada.document.undo()
    office.wait()
    assert bob.text.to_string() == ada.text.to_string() == "after before unsent"
    assert ada.state.unsent == 0


def test_honest_copies_never_differ(office: Office) -> None:
    rng = random.Random(3)
    notes = [office.open(node) for node in range(1, 5)]
    for _ in range(200):
        note = rng.choice(notes)
        note.text.insert(rng.randrange(note.text.length + 1), rng.choice(["a", "bc", "xyz"]))
        if note.text.length > 40:
            note.text.delete(rng.randrange(20), rng.randrange(1, 10))
        if rng.random() < 0.1:
            note.document.undo()
        if rng.random() < 0.05:
            cut = rng.randrange(1, 4)
            office.network.partition(set(range(1, cut + 1)), set(range(cut + 1, 5)))
        if rng.random() < 0.1:
            office.network.heal()
        if rng.random() < 0.2:
            office.settle()
    office.network.heal()
    office.wait()
    assert len({note.text.to_string() for note in notes}) == 1
    assert [note.channel.counters.twins for note in notes] == [0] * 4
    assert [note.state.warning for note in notes] == [None] * 4


def test_viewer_cannot_set_anybody_apart(office: Office) -> None:
    ada, bob = office.open(1), office.open(2)
    ada.text.insert(0, "text")
    office.wait()
    group = ada.channel._group
    assert group is not None
    wrong = [Mark(ada.document.peer_id, 0, 2, bytes(16))]
    eve = office.network.node(6).join(group.group_id, b"")
    eve.send(encode(Marks(pack_marks(6, wrong), bytes(64))))
    eve.send(encode(Marks(pack_marks(1, wrong), bytes(64))))
    office.wait()
    assert ada.channel.counters.refused == bob.channel.counters.refused == 2
    assert ada.state.warning is None
    assert bob.state.warning is None


def test_marks_passed_on_by_another_member_are_dropped(office: Office) -> None:
    ada, bob = office.open(1), office.open(2)
    ada.text.insert(0, "text")
    office.wait()
    group = ada.channel._group
    assert group is not None
    data = pack_marks(1, [Mark(ada.document.peer_id, 0, 2, bytes(16))])
    eve = office.network.node(6).join(group.group_id, b"")
    eve.send(encode(Marks(data, ada.channel._seal.sign(data))))
    office.wait()
    assert bob.channel.counters.dropped == 1
    assert bob.state.warning is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        pack_marks(1, [Mark(-1, 0, 1, bytes(16))]),
        pack_marks(1, [Mark(1, 1, 1, bytes(16))]),
        pack_marks(1, [Mark(1, 0, WINDOW + 1, bytes(16))]),
        pack_marks(1, [Mark(1, 0, 1, bytes(15))]),
        pack_marks(1, [Mark(1, 0, 1, bytes(16))] * 129),
    ],
)
def test_marks_out_of_bounds_are_none(data: bytes) -> None:
    with pytest.raises(BadMessage):
        read_marks(data)


def test_greetings_with_more_fields_than_are_known_are_greetings() -> None:
    known = encode(Hello(5, Version({1: 2})))
    longer = bytes([known[0], known[1] + 1]) + known[2:] + b"\xc4\x01x"
    assert decode(longer) == Hello(5, Version({1: 2}))


def test_marks_cost_the_same_however_much_was_written() -> None:
    document = Document(5)
    for _ in range(50):
        document.text("text").insert(0, "x" * 100)
    (mark,) = TwinCheck(document).marks([5], 1)
    assert mark.end == document.version.end(5) >= 5000
    assert mark.start == mark.end - WINDOW
