"""A disk that refuses hides nothing: what cannot be opened now is left as it is, and what earlier
versions hid comes back."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from liveobj.documents import Document
from liveobj.storage import DocumentStore, ObjectStore, StorageError, damage
from tests.liveobj.support import Clock


def write(path: Path, words: str, peer: int = 1) -> None:
    document, store = open_document(path, peer)
    document.text("text").insert(0, words)
    assert store.flush()
    store.set_local("scroll", words.encode())
    store.close()


def open_document(path: Path, peer: int) -> tuple[Document, DocumentStore]:
    document = Document(peer)
    return document, DocumentStore(document, ObjectStore(path), Clock())


def read(path: Path) -> str:
    document, store = open_document(path, 99)
    store.close()
    return str(document.text("text"))


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """As on a full disk, nothing grows beyond that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("room", [0, 1, 4096, 8192, 20_000])
def test_an_object_that_cannot_be_opened_on_a_full_disk_is_whole_afterwards(
    room: int, tmp_path: Path
) -> None:
    path = tmp_path / "x.db"
    write(path, "my only copy of the plan")
    before = path.read_bytes()
    with files_of_at_most(room), pytest.raises(StorageError, match="could not be opened"):
        ObjectStore(path)
    assert names(tmp_path) <= {"x.db", "x.db-wal", "x.db-shm"}, "nothing was renamed"
    assert path.read_bytes() == before
    assert read(path) == "my only copy of the plan"


def test_only_wrong_bytes_are_damage(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    write(path, "whole")

    def refused(code: int) -> bool:
        problem = sqlite3.OperationalError("disk I/O error")
        problem.sqlite_errorcode = code
        return not damage.is_damage(problem, path)

    assert refused(sqlite3.SQLITE_IOERR)
    assert refused(sqlite3.SQLITE_IOERR_SHORT_READ)
    assert refused(sqlite3.SQLITE_FULL)
    assert refused(sqlite3.SQLITE_BUSY)
    assert refused(sqlite3.SQLITE_READONLY)
    assert refused(sqlite3.SQLITE_CANTOPEN)
    assert not refused(sqlite3.SQLITE_CORRUPT)
    assert not refused(sqlite3.SQLITE_NOTADB)
    # The file itself says how long it is.
    path.write_bytes(path.read_bytes()[:-4096])
    assert not refused(sqlite3.SQLITE_IOERR_SHORT_READ)


class _Answering:
    """A connection whose check says what the test wants."""

    def __init__(self, answer: str) -> None:
        self._answer = answer

    def execute(self, _statement: str) -> _Answering:
        return self

    def fetchone(self) -> tuple[str]:
        return (self._answer,)


def test_a_page_that_the_disk_does_not_deliver_is_not_damage() -> None:
    unread = _Answering("Tree 2 page 7: unable to get the page. error code=266")
    with pytest.raises(sqlite3.OperationalError):
        damage.check(unread)  # type: ignore[arg-type]
    wrong = _Answering("Tree 2 page 7: unable to get the page. error code=11")
    with pytest.raises(damage.Damaged):
        damage.check(wrong)  # type: ignore[arg-type]


def hide(path: Path, number: int) -> None:
    """What version 0.1 did on a full disk."""
    for suffix in ("", "-wal", "-shm"):
        source = path.with_name(path.name + suffix)
        if source.exists():
            source.rename(path.with_name(f"{path.name}.damaged-{number}{suffix}"))


@pytest.mark.parametrize("left", ["nothing", "an empty file", "an empty database", "later edits"])
def test_what_version_0_1_hid_comes_back(left: str, tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    write(path, "plan ")
    hide(path, 1)
    if left == "an empty file":
        path.touch()
    elif left == "an empty database":
        ObjectStore(tmp_path / "new.db").close()
        (tmp_path / "new.db").rename(path)
    elif left == "later edits":
        write(tmp_path / "new.db", "later ", peer=2)
        (tmp_path / "new.db").rename(path)
    kept = (tmp_path / "x.db.damaged-1").read_bytes()
    document, store = open_document(path, 3)
    shown = str(document.text("text"))
    assert sorted(shown.split()) == (["later", "plan"] if left == "later edits" else ["plan"])
    assert store.local("scroll") == (b"later " if left == "later edits" else b"plan ")
    assert store.warning is not None
    assert "hid a change" in store.warning
    store.close()
    assert (tmp_path / "x.db.damaged-1").read_bytes() == kept
    assert not (tmp_path / "x.db.damaged-2").exists()
    document, store = open_document(path, 4)
    assert str(document.text("text")) == shown
    assert store.warning is None, "it is told once"
    assert store._store.update_count == len(shown.split()), "it is merged once"
    store.close()


def test_several_hidden_databases_are_merged(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    for number in (1, 2, 3):
        shown = tmp_path / "one.db"
        write(shown, f"part{number} ", peer=number)
        shown.rename(tmp_path / f"x.db.damaged-{number}")
    (tmp_path / "x.db.damaged-4").write_bytes(b"truly damaged" * 1000)
    assert sorted(read(path).split()) == ["part1", "part2", "part3"]
    assert sorted(read(path).split()) == ["part1", "part2", "part3"]


def test_a_log_that_was_hidden_with_its_database_is_read(tmp_path: Path) -> None:
    path, copy = tmp_path / "x.db", tmp_path / "copy"
    document, store = open_document(path, 1)
    document.text("text").insert(0, "in the log")
    assert store.flush()
    copy.mkdir()
    for suffix in ("", "-wal"):
        shutil.copy(f"{path}{suffix}", copy / f"x.db{suffix}")
    store.close()
    hide(copy / "x.db", 1)
    assert read(copy / "x.db") == "in the log"


def spoil(path: Path) -> None:
    """Damages one of the pages with updates; the others can be read."""
    data = bytearray(path.read_bytes())
    data[-4096:] = b"\xff" * 4096
    path.write_bytes(data)


def test_facts_are_rescued_with_the_updates(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    write(path, "word " * 5000)
    for peer in range(2, 40):
        write(path, f"word{peer} " * 300, peer)
    spoil(path)
    document, store = open_document(path, 99)
    assert store.local("scroll") is not None
    assert store.warning is not None
    assert "was damaged" in store.warning
    assert "word" in str(document.text("text"))
    store.close()
    assert names(tmp_path) == {"x.db", "x.db.damaged-1"}


class Stop(BaseException):
    """The program is killed."""


def stop_at(number: int, monkeypatch: pytest.MonkeyPatch, raised: BaseException) -> list[str]:
    """Lets the `number`-th of what changes names or syncs in a rescue fail; returns what was
    called."""
    called: list[str] = []

    def wrap(owner: object, name: str) -> None:
        real: Callable[..., object] = getattr(owner, name)

        def call(*arguments: object, **options: object) -> object:
            called.append(name)
            if len(called) == number:
                raise raised
            return real(*arguments, **options)

        monkeypatch.setattr(owner, name, call)

    for name in ("rename", "replace", "unlink"):
        wrap(Path, name)
    wrap(os, "fsync")
    return called


@pytest.mark.parametrize("raised", [OSError(28, "No space left on device"), Stop()])
def test_a_rescue_that_stops_anywhere_is_finished_by_the_next_opening(
    raised: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, finished = 0, False
    while not finished:
        number += 1
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / "x.db"
        raw = ObjectStore(path)
        for each in range(200):
            raw.append(f"update {each}".encode() * 20, lasting=False)
        raw.close()
        spoil(path)
        spoilt = path.read_bytes()
        with monkeypatch.context() as patch:
            called = stop_at(number, patch, raised)
            try:
                ObjectStore(path).close()
                finished = len(called) < number
            except (StorageError, Stop):
                pass
        store = ObjectStore(path)
        rows = [update.data for update in store.updates()]
        store.close()
        assert 100 < len(rows) < 200
        assert len(rows) == len(set(rows))
        assert (folder / "x.db.damaged-1").read_bytes() == spoilt
        assert names(folder) == {"x.db", "x.db.damaged-1"}
    assert number > 6


def test_a_damaged_database_is_left_alone_while_the_disk_is_full(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    for peer in range(1, 40):
        write(path, f"word{peer} " * 300, peer)
    spoil(path)
    spoilt = path.read_bytes()
    with files_of_at_most(40_000), pytest.raises(StorageError):
        ObjectStore(path)
    assert path.read_bytes() == spoilt
    assert not (tmp_path / "x.db.damaged-1").exists()
    assert "word" in read(path)


def test_the_tables_of_somebody_else_are_damage(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE updates (other)")
    store = ObjectStore(path)
    assert store.rescue is not None
    store.append(b"goes on")
    store.close()


def disk_with(block: int, free: int) -> Callable[[object], SimpleNamespace]:
    return lambda _folder: SimpleNamespace(f_bsize=block, f_frsize=block, f_bavail=free // block)


def test_a_nearly_full_disk_with_small_blocks_is_refused_before_it_ends_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite maps a file into memory whose blocks such a disk has not given it yet."""
    path = tmp_path / "x.db"
    write(path, "kept")
    with monkeypatch.context() as patch:
        patch.setattr(damage.os, "statvfs", disk_with(block=1024, free=100_000))
        with pytest.raises(StorageError, match="No space left"):
            ObjectStore(path)
        patch.setattr(damage.os, "statvfs", disk_with(block=4096, free=100_000))
        document, store = open_document(path, 2)
        patch.setattr(damage.os, "statvfs", disk_with(block=1024, free=100_000))
        document.text("text").insert(0, "more ")
        assert not store.flush()
        assert "No space left" in (store.problem or "")
    assert store.flush()
    store.close()
    assert read(path) == "more kept"
