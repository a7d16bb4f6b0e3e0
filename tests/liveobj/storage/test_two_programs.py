"""Two programs of one profile, such as a window and `live-objects keep`, have one object open: what
one has saved the other never removes."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from liveobj.documents import Document
from liveobj.storage import DocumentStore, ObjectStore
from liveobj.storage import document_store as module
from liveobj.storage.folding import fold_stored
from tests.liveobj.support import Clock

LETTERS = "abcdefghij"


def open_document(path: Path, peer: int) -> tuple[Document, DocumentStore]:
    document = Document(peer)
    return document, DocumentStore(document, ObjectStore(path), Clock())


def type_some(path: Path, peer: int, edits: int, report: int) -> None:
    """What a program does: type, save and say how much is saved; compact and start again at random
    moments."""
    rng = random.Random(peer)
    document, store = open_document(path, peer)
    count = 0
    while count < edits:
        document.text(str(peer)).insert(count, LETTERS[count % 10])
        count += 1
        if store.flush():
            os.write(report, count.to_bytes(4, "little"))
        draw = rng.random()
        if draw < 0.2:
            store.compact()
        elif draw < 0.25:
            store.set_local(f"fact of {peer}", str(count).encode())
        elif draw < 0.28:
            store.close()
            document, store = open_document(path, rng.getrandbits(60))
    store.close()


def in_process(work: Callable[[int], None]) -> tuple[int, int]:
    """Starts it in a process of its own; returns that and what it reports on."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        result = 1
        try:
            os.close(reading)
            work(writing)
            result = 0
        finally:
            os._exit(result)
    os.close(writing)
    return child, reading


@pytest.mark.parametrize("seed", [1, 2])
def test_two_programs_that_write_and_compact_lose_nothing_of_each_other(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COMPACT_AFTER_UPDATES", 6)
    path, edits = tmp_path / "x.db", 120
    peers = [1000 * seed + number for number in (1, 2, 3)]
    running = {
        peer: in_process(lambda report, peer=peer: type_some(path, peer, edits, report))
        for peer in peers
    }
    saved = {}
    for peer, (child, reading) in running.items():
        with os.fdopen(reading, "rb") as pipe:
            reports = pipe.read()
        assert os.waitpid(child, 0)[1] == 0
        saved[peer] = int.from_bytes(reports[-4:], "little")
    document, store = open_document(path, 7)
    for peer, count in saved.items():
        assert count > 0
        assert str(document.text(str(peer)))[:count] == (LETTERS * edits)[:count]
    assert store.warning is None
    store.close()


def test_compaction_keeps_and_shows_what_the_other_has_saved(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    window_text, window = open_document(path, 1)
    window_text.text("text").insert(0, "base ")
    assert window.flush()
    kept_text, keep = open_document(path, 2)
    kept_text.text("text").insert(0, "FROM A COLLEAGUE ")
    assert keep.flush()
    for word in ("w0 ", "w1 ", "w2 "):
        window_text.text("text").insert(0, word)
        assert window.flush()
    window.compact()
    assert "FROM A COLLEAGUE" in str(window_text.text("text")), "the window shows it, too"
    assert window.saved
    # The other one must not take the snapshot for a row of its own.
    keep.compact()
    window.close()
    keep.close()
    document, store = open_document(path, 3)
    assert sorted(str(document.text("text")).split()) == sorted(
        ["FROM", "A", "COLLEAGUE", "base", "w0", "w1", "w2"]
    )
    assert store._store.update_count == 1
    store.close()


def test_an_update_that_waits_for_another_survives_compaction(tmp_path: Path) -> None:
    """It cannot be in the snapshot, so its row stays until what it builds on has come."""
    writer, updates = Document(1), []
    for word in ("one ", "two ", "three "):
        before = writer.version
        writer.text("text").insert(0, word)
        updates.append(writer.export_since(before))
    path = tmp_path / "x.db"
    raw = ObjectStore(path)
    raw.append(updates[0])
    raw.append(updates[2])
    raw.close()
    document, store = open_document(path, 2)
    document.text("text").insert(0, "mine ")
    assert store.flush()
    store.compact()
    store.close()
    raw = ObjectStore(path)
    raw.append(updates[1])
    raw.close()
    document, store = open_document(path, 3)
    assert sorted(str(document.text("text")).split()) == ["mine", "one", "three", "two"]
    store.compact()
    assert store._store.update_count == 1
    store.close()


def test_folding_leaves_alone_what_another_program_has_open(tmp_path: Path) -> None:
    path = tmp_path / "x.db"

    def hold(report: int) -> None:
        os.close(let_go)
        document, store = open_document(path, 1)
        for word in ("one ", "two "):
            document.text("text").insert(0, word)
            assert store.flush()
        os.write(report, b"open")
        os.read(held, 1)
        store.close()

    held, let_go = os.pipe()
    child, reading = in_process(hold)
    os.close(held)
    try:
        assert os.read(reading, 4) == b"open"
        assert "another program" in fold_stored(path).why_not
    finally:
        os.close(let_go)
        os.close(reading)
    assert os.waitpid(child, 0)[1] == 0
    done = fold_stored(path)
    assert (done.updates, done.why_not) == (2, "")
