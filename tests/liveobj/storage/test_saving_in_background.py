"""Saving without waiting for the disk: what is said to be saved is, and what is not is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from liveobj.documents import Document
from liveobj.storage import DocumentStore, ObjectStore, StorageError
from liveobj.storage import object_store as module
from liveobj.storage.document_store import RETRY_DELAY_S, WRITE_DELAY_S
from tests.liveobj.support import Clock

Work = Callable[[], None]
Done = Callable[[Exception | None], None]


class Disk:
    """A background whose end the test decides."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Work, Done]] = []

    def __call__(self, work: Work, done: Done) -> None:
        self.waiting.append((work, done))

    def finish(self, problem: Exception | None = None) -> None:
        work, done = self.waiting.pop(0)
        work()
        done(problem)


class Written:
    """A document with its store on a virtual clock."""

    def __init__(self, path: Path) -> None:
        self.path, self.clock, self.disk = path, Clock(), Disk()
        self.document = Document(1)
        self.objects = ObjectStore(path)
        self.store = DocumentStore(self.document, self.objects, self.clock, in_background=self.disk)

    def write(self, words: str) -> None:
        self.document.text("text").insert(0, words)

    def after_a_crash(self) -> str:
        """What another program finds that opens the same file."""
        again = Document(2)
        store = DocumentStore(again, ObjectStore(self.path), Clock())
        store.close()
        return str(again.text("text"))


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(tmp_path / "x.db")


def test_it_is_saved_when_the_disk_says_so(written: Written) -> None:
    written.write("b")
    written.clock.advance(2 * WRITE_DELAY_S)
    assert written.after_a_crash() == "b", "only a power cut could take it"
    assert not written.store.saved
    written.write("a")
    written.clock.advance(10 * WRITE_DELAY_S)
    assert len(written.disk.waiting) == 1, "a slow disk is not given more to wait for"
    written.disk.finish()
    assert not written.store.saved, "there is more by now"
    written.clock.advance(2 * WRITE_DELAY_S)
    written.disk.finish()
    assert written.store.saved
    assert written.after_a_crash() == "ab"
    written.store.close()


def test_who_must_know_waits_for_the_disk(written: Written) -> None:
    written.write("b")
    written.clock.advance(2 * WRITE_DELAY_S)
    written.write("a")
    assert written.store.flush()
    assert written.store.saved
    written.disk.finish()
    assert written.store.saved, "old news takes nothing back"
    written.store.close()


def test_the_end_waits_for_the_disk_and_late_news_change_nothing(written: Written) -> None:
    written.write("a")
    written.clock.advance(2 * WRITE_DELAY_S)
    written.store.close()
    assert not written.path.with_name("x.db-wal").exists()
    written.disk.finish()
    assert written.after_a_crash() == "a"


def test_what_the_disk_refused_is_told_and_written_again(written: Written) -> None:
    written.write("a")
    written.clock.advance(2 * WRITE_DELAY_S)
    written.disk.finish(StorageError("The disk is broken."))
    assert written.store.problem == "The disk is broken."
    assert not written.store.saved
    before = written.objects.update_count
    written.clock.advance(RETRY_DELAY_S + WRITE_DELAY_S)
    assert written.objects.update_count == before + 1
    written.disk.finish()
    assert written.store.saved
    assert written.store.problem is None
    written.store.close()


def test_a_flush_that_fails_is_told(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    written.write("a")
    written.clock.advance(2 * WRITE_DELAY_S)
    with monkeypatch.context() as patch:

        def refuse(_descriptor: int) -> None:
            raise OSError(5, "Input/output error")

        patch.setattr(module.os, "fsync", refuse)
        assert not written.store.flush()
        assert "Input/output error" in (written.store.problem or "")
    written.clock.advance(RETRY_DELAY_S + WRITE_DELAY_S)
    written.disk.finish()
    written.clock.advance(2 * WRITE_DELAY_S)
    while written.disk.waiting:
        written.disk.finish()
    assert written.store.saved
    written.store.close()


def test_the_log_is_taken_over_by_whoever_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LOG_PAGES_MAX", 20)
    store = ObjectStore(tmp_path / "x.db")
    store.sync()
    before = store.path.stat().st_size
    for _ in range(30):
        store.append(bytes(5000), lasting=False)
    assert store.path.stat().st_size == before, "the window's thread leaves the file alone"
    store.sync()
    assert store.path.stat().st_size > before
    assert store.update_count == 30
    store.close()


def test_nothing_is_made_of_a_store_that_is_gone(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path / "x.db")
    store.append(b"x")
    store.close()
    store.path.unlink()
    store.sync()
    assert list(tmp_path.iterdir()) == []
