"""Files of an open object are removed or replaced under it: nothing is said to be saved before it
is under its path again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from liveobj.channels.batches import BatchLog
from liveobj.documents import Document, Origin
from liveobj.storage import DocumentStore, ObjectStore, StorageError, document_store
from liveobj.storage import object_store as module
from liveobj.storage.document_store import RETRY_DELAY_S, WRITE_DELAY_S
from liveobj.storage.place import Content
from tests.liveobj.storage.test_saving_in_background import Disk
from tests.liveobj.support import Clock


class Open:
    """A document with its store; with a `disk` that is waited for elsewhere."""

    def __init__(self, path: Path, peer: int = 1, disk: Disk | None = None) -> None:
        self.path, self.clock, self.disk = path, Clock(), disk
        self.document = Document(peer)
        self.objects = ObjectStore(path)
        self.store = DocumentStore(self.document, self.objects, self.clock, in_background=disk)

    def write(self, words: str) -> None:
        self.document.text("text").insert(0, words)

    def wait(self) -> None:
        """Until the disk has been waited for a few times."""
        for _ in range(5):
            self.clock.advance(2 * WRITE_DELAY_S)
            while self.disk is not None and self.disk.waiting:
                work, done = self.disk.waiting.pop(0)
                try:
                    work()
                except StorageError as problem:
                    done(problem)
                else:
                    done(None)


def on_disk(path: Path, folder: Path) -> str:
    """What is under the path, looked at in a copy."""
    folder.mkdir()
    for suffix in ("", "-wal"):
        if Path(f"{path}{suffix}").exists():
            shutil.copy(f"{path}{suffix}", folder / f"x.db{suffix}")
    document = Document(99)
    DocumentStore(document, ObjectStore(folder / "x.db"), Clock()).close()
    return str(document.text("text"))


def remove(path: Path, what: str) -> None:
    if what == "folder":
        shutil.rmtree(path.parent)
        return
    for suffix in {"all": ("", "-wal", "-shm"), "database": ("",), "log": ("-wal",)}.get(
        what, ("-shm",)
    ):
        Path(f"{path}{suffix}").unlink()


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("what", ["all", "database", "log", "index", "folder"])
def test_what_was_removed_is_written_again_before_it_is_called_saved(
    what: str, background: bool, tmp_path: Path
) -> None:
    path = tmp_path / "objects" / "x.db"
    opened = Open(path, disk=Disk() if background else None)
    opened.write("three ")
    opened.wait()
    assert opened.store.saved
    opened.store.set_local("scroll", b"7")
    remove(path, what)
    opened.write("two ")
    opened.wait()
    assert opened.store.saved
    assert opened.store.problem is None
    assert on_disk(path, tmp_path / "first") == "two three "
    # It goes on as before.
    opened.write("one ")
    opened.wait()
    assert opened.store.saved
    opened.store.compact()
    assert on_disk(path, tmp_path / "second") == "one two three "
    assert opened.store.local("scroll") == b"7"
    opened.store.close()
    assert {file.name for file in path.parent.iterdir()} == {"x.db"}
    again = Open(path, peer=2)
    assert str(again.document.text("text")) == "one two three "
    assert again.store.local("scroll") == b"7"
    again.store.close()


def test_what_was_removed_is_written_again_when_one_saves_or_closes(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    opened = Open(path)
    opened.write("kept")
    assert opened.store.flush()
    remove(path, "all")
    assert opened.store.flush()
    assert on_disk(path, tmp_path / "copy") == "kept"
    remove(path, "all")
    opened.store.close()
    assert on_disk(path, tmp_path / "closed") == "kept"


@pytest.mark.parametrize("log_stays", [False, True])
def test_what_took_its_place_is_merged(log_stays: bool, tmp_path: Path) -> None:
    """A sync client or a backup puts another database there."""
    other = Open(tmp_path / "other.db", peer=5)
    other.write("from the backup ")
    other.store.close()
    path = tmp_path / "x.db"
    opened = Open(path)
    opened.write("open here ")
    assert opened.store.flush()
    if not log_stays:
        remove(path, "log")
        remove(path, "index")
    (tmp_path / "other.db").replace(path)
    opened.write("and edited ")
    assert opened.store.flush()
    opened.store.compact()
    opened.store.close()
    again = Open(path, peer=2)
    assert sorted(str(again.document.text("text")).split()) == sorted(
        ["from", "the", "backup", "open", "here", "and", "edited"]
    )
    assert again.store.warning is None
    again.store.close()


def test_two_programs_find_each_other_again(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    first, second = Open(path, 1), Open(path, 2)
    first.write("a ")
    second.write("b ")
    assert first.store.flush()
    assert second.store.flush()
    remove(path, "all")
    first.write("c ")
    second.write("d ")
    assert first.store.flush()
    assert second.store.flush()
    first.store.close()
    second.store.close()
    again = Open(path, 3)
    assert sorted(str(again.document.text("text")).split()) == ["a", "b", "c", "d"]
    again.store.close()


def test_signed_updates_are_written_again(tmp_path: Path) -> None:
    path, writer = tmp_path / "x.db", Document(1)
    viewer, batches = Document(2, editable=False), BatchLog()
    store = DocumentStore(viewer, ObjectStore(path), Clock(), batches)
    for word in ("two ", "one "):
        before = writer.version
        writer.text("text").insert(0, word)
        update = writer.export_since(before)
        batches.add(update, b"signature of " + word.encode())
        viewer.import_update(update, Origin.REMOTE)
        assert store.flush()
        remove(path, "all")
    assert store.flush()
    store.close()
    raw = ObjectStore(path)
    assert [u.signature for u in raw.updates()] == [b"signature of two ", b"signature of one "]
    raw.close()


@pytest.mark.parametrize("signed", [False, True])
def test_what_cannot_be_read_any_more_is_written_from_memory(
    signed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a stick was pulled out and put in again."""
    path, writer = tmp_path / "x.db", Document(1)
    before = writer.version
    writer.text("text").insert(0, "all of it")
    update = writer.export_since(before)
    document, batches = Document(2, editable=not signed), BatchLog() if signed else None
    store = DocumentStore(document, ObjectStore(path), Clock(), batches)
    if batches is not None:
        batches.add(update, b"signature")
    document.import_update(update, Origin.REMOTE)
    assert store.flush()
    monkeypatch.setattr(Content, "of", lambda _database: Content())
    remove(path, "all")
    assert store.flush()
    assert on_disk(path, tmp_path / "copy") == "all of it"
    store.close()


def test_a_place_that_refuses_is_told_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "objects" / "x.db"
    opened = Open(path)
    opened.write("kept")
    assert opened.store.flush()
    shutil.rmtree(path.parent)
    path.parent.write_text("in the way")
    opened.write("also ")
    assert not opened.store.flush()
    assert not opened.store.saved
    assert "cannot be made" in (opened.store.problem or "")
    path.parent.unlink()
    opened.clock.advance(RETRY_DELAY_S + WRITE_DELAY_S)
    assert opened.store.saved
    assert on_disk(path, tmp_path / "copy") == "also kept"
    opened.store.close()


def test_a_journal_that_was_removed_is_written_again(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path / "x.db")
    store.append(b"one")
    remove(store.path, "all")
    store.append(b"two")
    assert store.path.exists()
    store.close()
    again = ObjectStore(tmp_path / "x.db")
    assert [update.data for update in again.updates()] == [b"one", b"two"]
    again.close()


def test_a_disk_that_numbers_its_files_anew_is_believed_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ObjectStore(tmp_path / "x.db")
    returned = []
    real = module.ObjectStore._return

    def count(self: ObjectStore, content: Content) -> None:
        returned.append(content)
        real(self, content)

    monkeypatch.setattr(module.ObjectStore, "_return", count)
    monkeypatch.setattr(module.Place, "is_left", True)
    for number in range(20):
        store.append(str(number).encode())
    assert len(returned) == module._ALARMS_MAX
    assert store.update_count == 20
    store.close()


def test_a_snapshot_that_was_made_of_removed_files_replaces_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written again, updates have other numbers than those that the snapshot stands for."""
    monkeypatch.setattr(document_store, "COMPACT_AFTER_UPDATES", 3)
    path, disk = tmp_path / "x.db", Disk()
    first = Open(path, 5)
    first.write("a ")
    first.store.flush()
    first.store.compact()
    first.store.close()
    opened = Open(path, disk=disk)
    for word in ("b ", "c "):
        opened.write(word)
        assert opened.store.flush()
    opened.write("d ")
    opened.clock.advance(2 * WRITE_DELAY_S)
    work, done = next(one for one in disk.waiting if one[0] != opened.objects.sync)
    disk.waiting.clear()
    opened.store._syncing = False
    work()
    remove(path, "all")
    opened.write("e ")
    assert opened.store.flush()
    done(None)
    opened.store.close()
    again = Open(path, peer=2)
    assert sorted(str(again.document.text("text")).split()) == ["a", "b", "c", "d", "e"]
    again.store.close()


def test_two_programs_notice_however_often_the_log_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    first, second = Open(path, 1), Open(path, 2)
    words = []
    for number in range(12):
        for name, opened in (("a", first), ("b", second)):
            words.append(f"{name}{number}")
            opened.write(f"{name}{number} ")
            assert opened.store.flush()
        remove(path, "log")
    first.store.close()
    second.store.close()
    again = Open(path, 3)
    assert set(str(again.document.text("text")).split()) == set(words)
    again.store.close()
