"""A document on disk: saved only when it is there, loaded whole, compacted without loss."""

from __future__ import annotations

from pathlib import Path

import pytest

from liveobj.documents import Document, Origin, TextChange
from liveobj.storage import DocumentStore, ObjectStore, StorageError
from liveobj.storage import document_store as module
from tests.liveobj.support import Clock


def open_store(path: Path, clock: Clock, peer: int) -> tuple[Document, DocumentStore]:
    document = Document(peer)
    return document, DocumentStore(document, ObjectStore(path), clock)


def test_an_edit_is_saved_soon_and_said_so(tmp_path: Path) -> None:
    clock = Clock()
    document, store = open_store(tmp_path / "x.db", clock, 1)
    said: list[bool] = []
    store.observe(lambda s: said.append(s.saved))
    document.text("text").insert(0, "a")
    document.text("text").insert(1, "b")
    assert not store.saved
    clock.advance(0.06)
    assert store.saved
    assert said == [False, True]
    assert store._store.update_count == 1
    store.close()


def test_what_was_saved_is_there_after_a_crash(tmp_path: Path) -> None:
    clock = Clock()
    document, store = open_store(tmp_path / "x.db", clock, 1)
    document.text("text").insert(0, "kept")
    store.flush()
    document.text("text").insert(4, " lost")
    # No close: the program is gone. Another one opens the same file.
    again, second = open_store(tmp_path / "x.db", Clock(), 2)
    assert str(again.text("text")) == "kept"
    second.close()
    store.close()


def test_loading_is_told_apart_from_edits(tmp_path: Path) -> None:
    document, store = open_store(tmp_path / "x.db", Clock(), 1)
    document.text("text").insert(0, "abc")
    store.close()
    loaded = Document(2)
    origins: list[Origin] = []

    def note(change: TextChange) -> None:
        origins.append(change.origin)

    loaded.text("text").observe(note)
    second = DocumentStore(loaded, ObjectStore(tmp_path / "x.db"), Clock())
    assert origins == [Origin.STORED]
    assert second.saved
    second.close()


def test_compaction_keeps_text_and_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COMPACT_AFTER_UPDATES", 10)
    document, store = open_store(tmp_path / "x.db", Clock(), 1)
    for number in range(35):
        document.text("text").insert(0, str(number % 10))
        store.flush()
    assert store._store.update_count <= 11
    store.close()
    again, second = open_store(tmp_path / "x.db", Clock(), 2)
    assert str(again.text("text")) == str(document.text("text"))
    assert again.version == document.version
    second.close()


def test_a_full_disk_is_told_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    document, store = open_store(tmp_path / "x.db", clock, 1)

    def refuse(*_: object, **_options: object) -> int:
        raise StorageError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(ObjectStore, "append", refuse)
        document.text("text").insert(0, "kept in memory")
        clock.advance(0.1)
        assert store.problem == "The disk is full."
        assert not store.saved
    clock.advance(6)
    assert store.saved
    assert store.problem is None
    store.close()


def test_one_damaged_update_does_not_hide_the_others(tmp_path: Path) -> None:
    raw = ObjectStore(tmp_path / "x.db")
    good = Document(1)
    good.text("text").insert(0, "good")
    raw.append(b"damaged")
    raw.append(good.export_snapshot())
    raw.close()
    again, store = open_store(tmp_path / "x.db", Clock(), 2)
    assert str(again.text("text")) == "good"
    assert store.damaged_updates == 1
    store.close()
