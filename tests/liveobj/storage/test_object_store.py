"""The database of one object."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from liveobj.storage import ObjectStore, StorageError


def test_updates_come_back_in_order(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path / "a" / "b.db")
    for data in (b"one", b"two", b"three"):
        store.append(data, b"sig")
    store.close()
    again = ObjectStore(tmp_path / "a" / "b.db")
    assert [u.data for u in again.updates()] == [b"one", b"two", b"three"]
    assert next(iter(again.updates())).signature == b"sig"
    again.close()


def test_compaction_replaces_what_was_read_and_keeps_the_rest(tmp_path: Path) -> None:
    store, other = ObjectStore(tmp_path / "x.db"), ObjectStore(tmp_path / "x.db")
    numbers = [store.append(data) for data in (b"1", b"2")]
    other.append(b"of another")
    last = store.append(b"3")
    store.compact(b"1+3", keep={numbers[1]})
    assert [u.data for u in store.updates()] == [b"2", b"of another", b"1+3"]
    assert store.append(b"4") > last + 1
    assert [u.data for u in other.unseen()] == [b"2", b"1+3", b"4"]
    assert other.unseen() == []
    other.compact(b"all")
    assert [u.data for u in store.unseen()] == [b"all"]
    store.close()
    other.close()


def test_facts_are_kept_beside(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path / "x.db")
    assert store.fact("scroll") is None
    store.set_fact("scroll", b"1")
    store.set_fact("scroll", b"2")
    assert store.fact("scroll") == b"2"
    store.close()


def test_every_append_is_flushed_to_the_disk(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path / "x.db")
    run = store._database.execute
    assert run("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert run("PRAGMA synchronous").fetchone()[0] == 2
    store.close()


def test_a_newer_form_is_refused_in_a_sentence(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "x.db")
    database.execute("PRAGMA user_version = 999")
    database.close()
    with pytest.raises(StorageError, match="newer version"):
        ObjectStore(tmp_path / "x.db")


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="cannot be made"):
        ObjectStore(tmp_path / "file" / "x.db")
