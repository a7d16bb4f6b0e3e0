"""Saving without waiting for the disk: what is said to be saved is, and what is not is not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from liveobj.channels.batches import BatchLog
from liveobj.documents import Document, Origin
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


class ForgetfulDisk:
    """Takes nothing while it is `broken`: what is to be written then it forgets, and is not given
    again unless somebody writes it again. Looks at the log of a database, page by page."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path, self.broken = path, False
        self._log = path.with_name(f"{path.name}-wal")
        self._kept: dict[int, bytes] = {}
        self._forgotten: dict[int, bytes] = {}
        self._write = os.pwrite
        monkeypatch.setattr(module.os, "fsync", self._sync)
        monkeypatch.setattr(module.os, "pwrite", self._note)

    def _pages(self) -> dict[int, bytes]:
        log = self._log.read_bytes()
        return {at: log[at : at + 4096] for at in range(0, len(log), 4096)}

    def _note(self, descriptor: int, data: bytes, at: int) -> int:
        for page in range(at - at % 4096, at + len(data), 4096):
            self._forgotten.pop(page, None)
        return self._write(descriptor, data, at)

    def _sync(self, _descriptor: int) -> None:
        dirty = {at: page for at, page in self._pages().items() if self._kept.get(at) != page}
        if self.broken:
            self._forgotten |= dirty
            raise OSError(28, "No space left on device")
        self._kept |= {at: page for at, page in dirty.items() if self._forgotten.get(at) != page}

    def after_a_power_cut(self, path: Path) -> ObjectStore:
        shutil.copy(self.path, path)
        size = max((at + len(page) for at, page in self._kept.items()), default=0)
        log = bytearray(size)
        for at, page in self._kept.items():
            log[at : at + len(page)] = page
        path.with_name(f"{path.name}-wal").write_bytes(log)
        return ObjectStore(path)


@pytest.mark.parametrize("signed", [False, True])
def test_what_is_said_to_be_saved_survives_a_disk_that_forgot_what_it_refused(
    signed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = Document(1)
    document = Document(2, editable=not signed)
    batches = BatchLog() if signed else None
    objects, clock, background = ObjectStore(tmp_path / "x.db"), Clock(), Disk()
    disk = ForgetfulDisk(objects.path, monkeypatch)
    store = DocumentStore(document, objects, clock, batches, background)

    def write(words: str) -> None:
        if batches is None:
            document.text("text").insert(0, words)
            return
        before = writer.version
        writer.text("text").insert(0, words)
        update = writer.export_since(before)
        batches.add(update, b"signed")
        document.import_update(update, Origin.REMOTE)

    def save() -> None:
        clock.advance(RETRY_DELAY_S + WRITE_DELAY_S)
        work, done = background.waiting.pop(0)
        try:
            work()
        except StorageError as problem:
            done(problem)
        else:
            done(None)

    write("c")
    save()
    assert store.saved
    for words in ("b", "a"):
        disk.broken = True
        write(words)
        save()
        assert "No space left" in (store.problem or "")
        disk.broken = False
        before = objects.update_count
        save()
        assert objects.update_count == before + 1, "it is given to the disk again"
        assert store.saved
    again = Document(3)
    DocumentStore(again, disk.after_a_power_cut(tmp_path / "y.db"), Clock()).close()
    assert str(again.text("text")) == "abc"
    store.close()


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
