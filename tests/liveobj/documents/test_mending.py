"""Long runs of others, from version 0.1 or from enemies, get their seams where they come in."""

from __future__ import annotations

import json
import random

import loro
import pytest

from liveobj.documents import Change, Document, Origin, TextChange, Version
from liveobj.documents.mending import LONG_RUN
from liveobj.documents.units import utf16_length

_LONG = 20 * LONG_RUN


def _old(peer: int, words: str = "x" * _LONG) -> loro.LoroDoc:
    """A document as version 0.1 wrote it."""
    doc = loro.LoroDoc()
    doc.peer_id = peer
    doc.get_text("text").insert(0, words)
    doc.commit()
    return doc


def _updates(doc: loro.LoroDoc) -> bytes:
    return bytes(doc.export(loro.ExportMode.Updates(loro.VersionVector())))


def _seams(document: Document, peer: int) -> int:
    """How many insertions and deletions of one character a peer has made, one after another."""
    copy = loro.LoroDoc()
    copy.import_(document.export_snapshot())
    end = Version.of(copy.oplog_vv).end(peer)
    if not end:
        return 0
    changes = json.loads(copy.export_json_in_id_span(loro.IdSpan(peer, loro.CounterSpan(0, end))))
    kinds = [operation["content"]["type"] for change in changes for operation in change["ops"]]
    assert kinds[::2] == ["insert"] * (len(kinds) // 2)
    assert kinds[1::2] == ["delete"] * (len(kinds) // 2)
    return len(kinds) // 2


def test_a_long_run_of_somebody_else_gets_its_seams_when_it_comes() -> None:
    document = Document(5, mends=True)
    document.import_update(_updates(_old(1)))
    document.mend()
    assert document.text("text").to_string() == "x" * _LONG
    assert _LONG // 1000 - 1 <= _seams(document, 5) <= 2 * _LONG // 1000


def test_a_long_run_that_comes_bit_by_bit_gets_its_seams() -> None:
    old, document = _old(1), Document(5, mends=True)
    for start in range(0, _LONG, 500):
        span = loro.IdSpan(1, loro.CounterSpan(start, start + 500))
        document.import_update(bytes(old.export(loro.ExportMode.UpdatesInRange([span]))))
    assert document.version.end(5) == 0, "not while the run grows"
    document.mend()
    assert document.text("text").to_string() == "x" * _LONG
    assert _seams(document, 5) >= _LONG // LONG_RUN


def test_a_long_run_gets_its_seams_before_another_writer_is_merged() -> None:
    document, other = Document(5, mends=True), Document(2)
    document.import_update(_updates(_old(1)))
    other.text("text").insert(0, "beside")
    document.import_update(other.export_since(Version()))
    assert _seams(document, 5) > 0
    assert document.text("text").length == _LONG + 6


def test_short_runs_get_no_seams() -> None:
    writer, document = Document(1), Document(5, mends=True)
    writer.text("text").insert(0, "y" * _LONG)
    document.import_update(writer.export_since(Version()))
    document.mend()
    assert _seams(document, 5) == 0
    assert document.version.end(5) == 0


def test_seams_are_no_change_to_observers_and_no_step_of_undo() -> None:
    document = Document(5, mends=True)
    document.text("text").insert(0, "mine")
    changes: list[TextChange] = []
    whole: list[Change] = []
    document.text("text").observe(changes.append)
    document.observe(whole.append)
    document.import_update(_updates(_old(1)))
    document.mend()
    assert [change.origin for change in changes] == [Origin.REMOTE]
    assert [change.origin for change in whole] == [Origin.REMOTE, Origin.LOCAL]
    document.undo()
    assert document.text("text").to_string() == "x" * _LONG
    assert not document.can_undo


def test_a_long_list_gets_seams_too() -> None:
    doc = loro.LoroDoc()
    doc.peer_id = 1
    for index in range(2 * LONG_RUN):
        doc.get_list("list").insert(index, 7)
    doc.commit()
    document = Document(5, mends=True)
    document.import_update(_updates(doc))
    document.mend()
    assert document.list("list").to_list() == [7] * 2 * LONG_RUN
    assert _seams(document, 5) >= 2 * LONG_RUN // 1000 - 1


def test_what_is_deleted_already_is_left_alone() -> None:
    old = _old(1)
    old.get_text("text").delete(0, _LONG)
    old.get_text("text").insert(0, "rest")
    old.commit()
    document = Document(5, mends=True)
    document.import_update(_updates(old))
    document.mend()
    assert document.text("text").to_string() == "rest"
    assert document.version.end(5) == 0


def test_what_was_read_before_is_not_read_again() -> None:
    document = Document(5, mends=True)
    assert document.mending is not None
    document.mending.seen = Version({1: _LONG})
    document.import_update(_updates(_old(1)))
    document.mend()
    assert document.version.end(5) == 0


def test_one_who_cannot_edit_keeps_the_seams_to_itself() -> None:
    viewer = Document(5, editable=False, mends=True)
    viewer.import_update(_updates(_old(1)))
    viewer.mend()
    assert _seams(viewer, 5) > 0
    assert viewer.version == Version({1: _LONG})
    assert [entry.peer for entry in viewer.history()] == [1]


def test_a_document_that_does_not_mend_is_left_as_it_is() -> None:
    document = Document(5)
    document.import_update(_updates(_old(1)))
    document.mend()
    assert document.version == Version({1: _LONG})


@pytest.mark.parametrize("seed", range(5))
def test_mended_documents_merge_alike_everywhere(seed: int) -> None:
    rng = random.Random(seed)
    old = _old(1, "".join(rng.choices("ab😀é\n", k=3 * LONG_RUN)))
    people = [Document(number, mends=True) for number in (5, 6, 7)]
    for person in people:
        person.import_update(_updates(old))
        for _ in range(5):
            text = person.text("text").to_string()
            person.text("text").insert(utf16_length(text[: rng.randrange(len(text))]), "!")
    for reader in people * 2:
        for writer in people:
            reader.import_update(writer.export_since(reader.version))
    texts = {person.text("text").to_string() for person in people}
    assert len(texts) == 1
