"""Crashes at any moment, flipped bits, short files, a full disk: nothing reported as saved is lost,
nothing damaged is shown as if it were whole."""

from __future__ import annotations

import os
import random
import signal
import time
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from liveobj.documents import Document
from liveobj.storage import DocumentStore, ObjectStore, StorageError
from liveobj.storage import document_store as module
from tests.liveobj.support import Clock

KILLS = 200


def open_document(path: Path, peer: int) -> tuple[Document, DocumentStore]:
    document = Document(peer)
    return document, DocumentStore(document, ObjectStore(path), Clock())


def write_until_killed(path: Path, peer: int, report: int) -> None:
    """What the child does: type, save, and say how much is saved, as fast as it can."""
    document, store = open_document(path, peer)
    count = 0
    while True:
        text = document.text(str(peer))
        text.insert(count, "abcdefghij"[count % 10])
        count += 1
        if store.flush():
            os.write(report, count.to_bytes(4, "little"))


def test_a_crash_at_any_moment_loses_nothing_that_was_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes are killed at random moments, compaction included; every character is checked."""
    monkeypatch.setattr(module, "COMPACT_AFTER_UPDATES", 7)
    rng = random.Random(7)
    path = tmp_path / "x.db"
    saved: dict[int, int] = {}
    for peer in range(1, KILLS + 1):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(reading)
                write_until_killed(path, peer, writing)
            finally:
                os._exit(1)
        os.close(writing)
        reports = b""
        if rng.random() < 0.8:  # else perhaps while it is still opening
            reports = os.read(reading, 4)
        time.sleep(rng.uniform(0, 0.012))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(reading, "rb") as pipe:
            reports += pipe.read()
        saved[peer] = max(
            (int.from_bytes(reports[i : i + 4], "little") for i in range(0, len(reports), 4)),
            default=0,
        )
    document, store = open_document(path, KILLS + 1)
    for peer, count in saved.items():
        expected = ("abcdefghij" * (count // 10 + 1))[:count]
        assert str(document.text(str(peer))).startswith(expected)
    assert store.warning is None
    assert sum(saved.values()) > KILLS
    store.close()


@cache
def database() -> tuple[bytes, str]:
    """The bytes of a database in good order, and the text in it; made once."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.db"
        text = fill(path)
        return path.read_bytes(), text


def fill(path: Path) -> str:
    document, store = open_document(path, 1)
    for number in range(60):
        document.text("text").insert(0, f"line {number}\n" * 20)
        store.flush()
    store.close()
    return str(document.text("text"))


@pytest.mark.parametrize("seed", range(60))
def test_a_flipped_bit_is_never_served(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "x.db"
    good, text = database()
    rng = random.Random(seed)
    data = bytearray(good)
    for _ in range(rng.choice([1, 1, 20])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)
    document, store = open_document(path, 2)
    shown = str(document.text("text"))
    if shown != text:
        assert store.warning is not None
        # What is shown is what was typed, up to some point: each update builds on the one before.
        assert text.endswith(shown)
    document.text("text").insert(0, "on we go\n")
    assert store.flush()
    store.close()
    again, second = open_document(path, 3)
    assert str(again.text("text")).startswith("on we go\n")
    second.close()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: b"no database at all" * 100,
        lambda data: data[: len(data) // 2],
        lambda data: data[:100],
        lambda data: b"\0" * len(data),
        lambda data: data[:4096] + b"\xff" * 8192 + data[12288:],
    ],
)
def test_a_spoilt_file_is_put_aside_and_the_person_told(tmp_path: Path, spoil: object) -> None:
    path = tmp_path / "x.db"
    good, text = database()
    assert callable(spoil)
    spoilt = spoil(good)
    path.write_bytes(spoilt)
    document, store = open_document(path, 2)
    assert text.endswith(str(document.text("text")))
    if spoilt:
        assert store.warning is not None
        assert "was damaged" in store.warning
        assert (tmp_path / "x.db.damaged-1").read_bytes() == spoilt
    document.text("text").insert(0, "new")
    assert store.flush()
    store.close()


def test_a_second_damage_does_not_overwrite_the_first(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    for _ in range(2):
        path.write_bytes(b"rubbish" * 1000)
        ObjectStore(path).close()
    assert sorted(p.name for p in tmp_path.glob("*damaged-?")) == [
        "x.db.damaged-1",
        "x.db.damaged-2",
    ]


def test_a_full_disk_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    document, store = open_document(tmp_path / "x.db", 1)
    inner = store._store._database
    pages = inner.execute("PRAGMA page_count").fetchone()[0]
    inner.execute(f"PRAGMA max_page_count = {pages + 1}")
    noise = random.Random(1).randbytes(100_000).hex()
    document.text("text").insert(0, noise)
    assert not store.flush()
    assert not store.saved
    assert store.problem is not None
    assert "full" in store.problem
    inner.execute("PRAGMA max_page_count = 100000")
    assert store.flush()
    assert store.problem is None
    store.close()
    again, second = open_document(tmp_path / "x.db", 2)
    assert str(again.text("text")) == noise
    second.close()


def test_a_database_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.db").mkdir()
    with pytest.raises(StorageError, match="could not be opened"):
        ObjectStore(tmp_path / "x.db")
