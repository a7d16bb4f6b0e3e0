"""Who wrote what can be proved later, by signatures in the document; nobody writes as another."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from liveobj.capabilities import view_only
from liveobj.documents import Document
from liveobj.documents.version import Span
from liveobj.objects import authorship
from liveobj.objects.authorship import (
    EDITING_S_MAX,
    PAUSE_S,
    SLICE_OPERATIONS,
    SLICE_PAUSE_S,
    STATEMENTS,
    Author,
    Statement,
)
from liveobj.objects.text_note import TextNote, new_note, open_note
from liveobj.objects.timeline import restore, stops
from tests.liveobj.support import Clock, LocalNetwork, make_host
from transport.identities import Identity

NOTE = new_note("Plan", random.Random(5).randbytes)
ADA, JUN, EVE = (Identity(bytes([number]) * 32) for number in (1, 2, 3))
NOON = 1_800_000_000


class Office:
    """People with identities, on one network."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.network = LocalNetwork()
        self.clock = Clock()
        self.openings = 0

    def open(self, node: int, identity: Identity | None, *, view: bool = False) -> TextNote:
        host = make_host(self.network, node, self.folder, self.clock, name=f"person {node}")
        self.openings += 1
        randomness = random.Random(self.openings).randbytes
        host = replace(host, identity=identity, wall_time=lambda: NOON, random_bytes=randomness)
        note = open_note(view_only(NOTE) if view else NOTE, host)
        self.network.run()
        return note

    def wait(self, seconds: float = PAUSE_S) -> None:
        self.network.run()
        self.clock.advance(seconds)
        self.network.run()


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def shown(note: TextNote) -> list[tuple[str, str]]:
    """Who, and with which fingerprint, for each stop of the history."""
    return [(s.who, s.fingerprint) for s in stops(note.document, note.writers, note.authors)]


def test_edits_are_signed_after_a_pause_and_checked_by_others(office: Office) -> None:
    ada, jun = office.open(1, ADA), office.open(2, JUN)
    ada.text.insert(0, "Hello ")
    office.network.run()
    peer = ada.document.peer_id
    assert jun.authors.author_of(peer, 0, 6) is None  # Not yet.
    office.wait()
    assert jun.authors.author_of(peer, 0, 6) == Author(ADA.fingerprint, "person 1", NOON)
    jun.text.insert(6, "Ada")
    ada.text.delete(0, 1)
    office.wait()
    later = ada.document.version.end(peer) - 1
    for note in (ada, jun):
        author = note.authors.author_of(jun.document.peer_id, 0, 3)
        assert author == Author(JUN.fingerprint, "person 2", NOON)
        assert note.authors.author_of(peer, 0, later) is not None
        assert note.authors.author_of(peer, 0, later + 1) is not None  # The statement itself.
    ada.close()
    jun.close()


def test_history_says_who_for_sure_and_one_who_comes_later_sees_it(office: Office) -> None:
    ada, jun = office.open(1, ADA), office.open(2, None)
    ada.text.insert(0, "signed")
    office.wait()
    jun.text.insert(0, "unsigned ")
    office.network.run()
    ada.close()
    jun.close()
    viewer = office.open(3, EVE, view=True)
    late = office.open(2, None)
    office.network.run()
    for note in (viewer, late):
        assert ("person 1", ADA.fingerprint) in shown(note)
        assert ("person 2", "") in shown(note)
    viewer.close()
    late.close()


def test_what_was_written_last_is_signed_on_closing(office: Office) -> None:
    ada = office.open(1, ADA)
    ada.text.insert(0, "quick")
    peer = ada.document.peer_id
    ada.close()
    again = office.open(1, ADA)
    assert again.authors.author_of(peer, 0, 5) is not None
    assert again.document.peer_id != peer
    again.close()


def test_a_long_text_is_hashed_in_slices_and_signed_when_all_is(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, jun = office.open(1, ADA), office.open(2, JUN)
    slices: list[int] = []
    whole = Document.operation_lines

    def count(document: Document, span: Span) -> Iterator[bytes]:
        slices.append(len(span))
        return whole(document, span)

    monkeypatch.setattr(Document, "operation_lines", count)
    ada.text.insert(0, "Long wörds 😀\n" * 4000)
    office.wait()
    for _ in range(100):
        office.wait(SLICE_PAUSE_S)
    assert len(slices) > 4
    assert max(slices) <= SLICE_OPERATIONS
    peer = ada.document.peer_id
    assert jun.authors.author_of(peer, 0, 40_000) == Author(ADA.fingerprint, "person 1", NOON)


def test_on_closing_the_beginning_of_a_very_long_text_is_signed(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authorship, "AT_ONCE_OPERATIONS", 5000)
    ada = office.open(1, ADA)
    ada.text.insert(0, "x" * 8000)
    peer = ada.document.peer_id
    ada.close()
    again = office.open(1, ADA)
    assert again.authors.author_of(peer, 0, 5000) == Author(ADA.fingerprint, "person 1", NOON)
    assert again.authors.author_of(peer, 0, 8000) is None
    again.close()


def test_statements_are_few(office: Office) -> None:
    ada = office.open(1, ADA)
    changes: list[str] = []
    ada.document.map(STATEMENTS).observe(lambda change: changes.append(change.label))
    for _ in range(5 * int(EDITING_S_MAX) // 2 // 25):
        ada.text.insert(0, "x")
        office.clock.advance(25.0)
    assert len(changes) == 2
    office.clock.advance(1000.0)
    assert len(changes) == 3
    assert ada.document.can_undo
    ada.document.undo()  # Undo is for what one wrote.
    assert len(changes) == 3
    ada.close()


def test_one_without_identity_writes_no_statement(office: Office) -> None:
    note = office.open(1, None)
    note.text.insert(0, "x")
    office.wait()
    assert len(note.document.map(STATEMENTS)) == 0
    note.close()


def forge(note: TextNote, peer: int, statement: Statement) -> None:
    with note.document.transaction("forge"):
        note.document.map(STATEMENTS).set(f"{peer:x}", statement.packed())


def test_statements_of_others_cannot_be_made_moved_or_stretched(office: Office) -> None:
    ada, eve = office.open(1, ADA), office.open(2, EVE)
    ada.text.insert(0, "I owe Eve 10")
    office.wait()
    peer = ada.document.peer_id
    statement = Statement.read(eve.document.map(STATEMENTS).get(f"{peer:x}"))
    assert statement is not None
    eve.text.insert(0, "Ada says: ")
    office.wait()
    own = eve.document.peer_id
    attempts = [
        (own, statement),  # Ada's, for what Eve wrote
        (peer, replace(statement, end=statement.end + 1)),
        (peer, replace(statement, end=3)),
        (peer, replace(statement, seconds=1)),
        (peer, replace(statement, name="Eve")),
        (peer, replace(statement, public=EVE.public)),
        (peer, replace(statement, signature=bytes(64))),
        (peer, replace(statement, end=10**9)),
    ]
    for attempt in attempts:
        forge(eve, *attempt)
        office.network.run()
        assert ada.authors.author_of(attempt[0], 0, 3) is None
    forge(eve, peer, statement)
    office.network.run()
    assert ada.authors.author_of(peer, 0, 3) is not None
    ada.close()
    eve.close()


def test_one_who_writes_under_anothers_number_is_not_believed(
    office: Office, tmp_path: Path
) -> None:
    """Eve has the object's key, so others take her updates; but not for Ada's."""
    ada = office.open(1, ADA)
    ada.text.insert(0, "yes")
    office.wait()
    peer, version = ada.document.peer_id, ada.document.version
    update = ada.document.export_snapshot()
    ada.close()
    forged = Document(peer)
    forged.import_update(update)
    forged.text("text").insert(0, "never say ")
    jun = office.open(2, JUN)
    jun.document.import_update(forged.export_snapshot())
    assert str(jun.text) == "never say yes"
    assert jun.authors.author_of(peer, 0, 3) is not None
    end = jun.document.version.end(peer)
    assert jun.authors.author_of(peer, version.end(peer), end - version.end(peer)) is None
    jun.close()


@pytest.mark.parametrize(
    "value",
    [b"", b"\xc1", b"\x91\x01", b"x" * 5000, "text", 7, None, [1], b"\x96\x02\xc4\x00\x01\x00\xa0"],
)
def test_rubbish_in_place_of_a_statement_is_none(office: Office, value: Any) -> None:
    note = office.open(1, ADA)
    note.text.insert(0, "x")
    with note.document.transaction():
        note.document.map(STATEMENTS).set(f"{note.document.peer_id:x}", value)
    assert note.authors.author_of(note.document.peer_id, 0, 1) is None
    note.close()


def test_bringing_an_older_state_back_keeps_who_wrote(office: Office) -> None:
    ada, jun = office.open(1, ADA), office.open(2, JUN)
    ada.text.insert(0, "old")
    office.wait()
    version = ada.document.version
    jun.text.insert(3, " new")
    office.wait()
    restore(ada.document, ada.writers, version)
    office.wait()
    assert str(jun.text) == "old"
    for note in (ada, jun):
        fingerprints = {mark for _, mark in shown(note)}
        assert {ADA.fingerprint, JUN.fingerprint} <= fingerprints
    ada.close()
    jun.close()
