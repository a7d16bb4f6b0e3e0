"""When stored updates become one snapshot: after large ones, and away from the document."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import loro
import pytest

from liveobj.documents import Document, Origin, Version
from liveobj.storage import DocumentStore, ObjectStore, StorageError
from liveobj.storage.compaction import is_snapshot, snapshot_of
from liveobj.storage.document_store import COMPACT_AFTER_BYTES
from tests.liveobj.support import Clock

_LONG = random.Random(1).randbytes(COMPACT_AFTER_BYTES).hex()


class Later:
    """Work that is done when one says so."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Callable[[], None], Callable[[Exception | None], None]]] = []

    def __call__(self, work: Callable[[], None], done: Callable[[Exception | None], None]) -> None:
        self.waiting.append((work, done))

    def run(self) -> None:
        waiting, self.waiting = self.waiting, []
        for work, done in waiting:
            problem: Exception | None = None
            try:
                work()
            except StorageError as raised:
                problem = raised
            done(problem)


def _open(
    path: Path, peer_id: int, later: Later | None = None
) -> tuple[Document, DocumentStore, Clock]:
    document = Document(peer_id, mends=True)
    scheduler = Clock()
    return document, DocumentStore(document, ObjectStore(path), scheduler, None, later), scheduler


def _rows(path: Path) -> int:
    store = ObjectStore(path)
    try:
        return store.update_count
    finally:
        store.close()


def test_a_long_insertion_is_compacted_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    document, store, _ = _open(path, 1)
    document.text("text").insert(0, "short")
    store.flush()
    document.text("text").insert(0, _LONG)
    store.flush()
    assert _rows(path) == 1
    store.close()
    again, store, _ = _open(path, 2)
    assert again.text("text").to_string() == _LONG + "short"
    store.close()


def test_short_edits_of_a_long_text_are_not_compacted_each_time(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    document, store, _ = _open(path, 1)
    document.text("text").insert(0, _LONG)
    store.flush()
    for place in range(20):
        document.text("text").insert(place, "x")
        store.flush()
    assert _rows(path) >= 20
    store.close()


def test_compaction_goes_on_in_the_background_while_one_edits(tmp_path: Path) -> None:
    path, later = tmp_path / "a.db", Later()
    document, store, scheduler = _open(path, 1, later)
    document.text("text").insert(0, "one ")
    scheduler.advance(1)
    later.run()
    document.text("text").insert(0, _LONG)
    scheduler.advance(1)
    assert len(later.waiting) == 2, "the disk is waited for, and a snapshot made"
    document.text("text").insert(0, "meanwhile ")
    store.flush()
    later.run()
    assert _rows(path) == 2, "the snapshot, and what came meanwhile"
    document.text("text").insert(0, "after ")
    store.close()
    again, store, _ = _open(path, 2)
    assert again.text("text").to_string() == "after meanwhile " + _LONG + "one "
    store.close()


def test_a_store_that_is_closed_before_its_snapshot_is_made_keeps_what_it_has(
    tmp_path: Path,
) -> None:
    path, later = tmp_path / "a.db", Later()
    document, store, scheduler = _open(path, 1, later)
    document.text("text").insert(0, "x")
    scheduler.advance(1)
    later.run()
    document.text("text").insert(0, _LONG)
    scheduler.advance(1)
    store.close()
    later.run()
    again, store, _ = _open(path, 2)
    assert again.text("text").length == len(_LONG) + 1
    store.close()


def test_a_snapshot_that_would_lack_something_is_made_of_the_document_itself(
    tmp_path: Path,
) -> None:
    path, later = tmp_path / "a.db", Later()
    document, store, scheduler = _open(path, 1, later)
    document.text("text").insert(0, "first ")
    scheduler.advance(1)
    later.run()
    document.text("text").insert(0, _LONG)
    scheduler.advance(1)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE updates SET data = x'00' WHERE number = 1")
    later.run()
    store.close()
    again, store, _ = _open(path, 2)
    assert store.damaged_updates == 0
    assert again.text("text").to_string() == _LONG + "first "
    store.close()


def test_snapshots_are_made_of_files_with_any_name(tmp_path: Path) -> None:
    path = tmp_path / "a #1? 100%.db"
    document, store, _ = _open(path, 1)
    document.text("text").insert(0, "x")
    store.flush()
    made = snapshot_of(path, {1})
    assert made is not None
    assert made[1] == document.version
    store.close()
    assert snapshot_of(tmp_path / "none.db", {1}) is None


def test_a_snapshot_is_made_where_nobody_observes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.db"
    document, store, _ = _open(path, 1)
    for number in range(5):
        document.text("text").insert(0, f"{number} {_LONG}")
        store.flush()
    events: list[Any] = []
    monkeypatch.setattr(Document, "_on_event", lambda _document, event: events.append(event))
    made = snapshot_of(path, set(range(1, 100)))
    assert events == [], "loro would compute what changed, which takes long in a long text"
    monkeypatch.undo()
    assert made is not None
    copy = Document(2)
    copy.import_update(made[0])
    assert copy.text("text").to_string() == document.text("text").to_string()
    assert made[1] == copy.version == document.version
    store.close()


def test_what_is_kept_beside_a_snapshot_is_loaded_after_it(tmp_path: Path) -> None:
    document = Document(1)
    document.text("text").insert(0, "first")
    snapshot, version = document.export_snapshot(), document.version
    document.text("text").insert(0, "second ")
    later = document.export_since(version)
    assert [is_snapshot(data) for data in (snapshot, later, b"", b"loro")] == [True] + 3 * [False]
    path = tmp_path / "a.db"
    old = ObjectStore(path)
    old.append(later)
    old.append(snapshot)
    old.close()
    made = snapshot_of(path, {1, 2})
    assert made is not None
    assert made[1] == document.version
    again, store, _ = _open(path, 2)
    assert again.text("text").to_string() == "second first"
    store.close()


# Documents of version 0.1


def _old_updates() -> list[bytes]:
    doc = loro.LoroDoc()
    doc.peer_id = 77
    doc.get_text("text").insert(0, "x" * 50_000)
    doc.commit()
    updates = [bytes(doc.export(loro.ExportMode.Updates(loro.VersionVector())))]
    other = loro.LoroDoc()
    other.peer_id = 78
    other.get_text("text").insert(0, "beside")
    other.commit()
    return [*updates, bytes(other.export(loro.ExportMode.Updates(loro.VersionVector())))]


def test_an_old_document_gets_its_seams_once_and_is_compacted(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    old = ObjectStore(path)
    for update in _old_updates():
        old.append(update)
    old.close()
    document, store, scheduler = _open(path, 1)
    assert document.version.end(1) > 0, "the seams"
    assert not store.saved
    text = document.text("text").to_string()
    scheduler.advance(1)
    assert store.saved
    store.compact()
    store.close()
    again, store, _ = _open(path, 2)
    assert again.text("text").to_string() == text
    assert again.version.end(2) == 0
    assert again.version.end(1) > 0
    assert store.saved
    assert _rows(path) == 1
    store.close()


def test_updates_of_others_that_come_in_are_compacted_too(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    document, store, _ = _open(path, 1)
    document.text("text").insert(0, "x")
    store.flush()
    other = Document(2)
    other.text("text").insert(0, _LONG)
    document.import_update(other.export_since(Version()), Origin.REMOTE)
    store.flush()
    assert _rows(path) == 1
    store.close()
