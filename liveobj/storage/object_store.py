"""Owns the database of one object: its updates, appended and flushed to disk, and their compaction.

One SQLite file an object, in write-ahead mode with full synchronisation: when `append` returns, the
update survives a power cut. Who cannot wait for the disk appends in a hurry, and has `sync` wait in
another thread. It knows bytes, not documents. Several programs may have one database open: none
removes what it has not read.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from liveobj.storage.damage import (
    StorageBusy,
    StorageError,
    check_small_blocks,
    is_busy,
    is_damage,
    is_read_only,
    reason,
)
from liveobj.storage.folder_lock import folder_lock
from liveobj.storage.looking import Looking
from liveobj.storage.orphans import check_orphan
from liveobj.storage.place import Content, Place, StoreMoved
from liveobj.storage.rescue import Rescue, finish_swap, merge_put_aside, replace_damaged
from liveobj.storage.sqlite_file import open_file, transaction
from transport.sentences import worded

log = logging.getLogger(__name__)

# The log is taken over into the file when it has so many pages. What one write adds is an estimate.
_LOG_PAGES_MAX = 1000
_PAGES_PER_WRITE = 3
_PAGE_BYTES = 4096
_COPIED_BYTES = 1 << 18
_ALARMS_MAX = 5


@dataclass(frozen=True, slots=True)
class StoredUpdate:
    """One appended update; `signature` is empty where updates are not signed."""

    number: int
    data: bytes
    signature: bytes


def _bytes(value: object) -> bytes:
    """A flipped bit can turn bytes into text, which nobody will mistake for an update any more."""
    return value if isinstance(value, bytes) else b""


class ObjectStore:
    """The stored part of one object. `path` is its database file; folders are made as needed. With
    `alone` it is refused while another program has it open. `place` is another one after the files
    were written again, and then updates have other numbers."""

    def __init__(self, path: Path, *, alone: bool = False) -> None:
        self.path = path
        self._alone = alone
        self.rescue: Rescue | None = None
        self._hurried_pages = 0
        # The numbers of what was read or appended here; only that may be removed.
        self._seen: set[int] = set()
        # The disk has said that it could not keep what was given to it.
        self.refused = False
        self._closed = False
        # What was stored in files that are gone, until it is under the path again.
        self._homeless: Content | None = None
        # Set if the file may only be read.
        self.looking: Looking | None = None
        self._alarms = 0
        self._make_folder()
        with self._problems(worded("opened")), folder_lock(path.parent):
            self._database = self._open()
            self.place = Place.of(path)

    def _make_folder(self) -> None:
        folder = self.path.parent
        if folder.is_dir():
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise StorageError(
                worded(
                    "The folder {parent} cannot be made ({reason}). Check that the disk is not "
                    "full and that you may write there.",
                    parent=folder,
                    reason=problem.strerror,
                )
            ) from problem

    def _open(self) -> sqlite3.Connection:
        check_small_blocks(self.path.parent)
        finish_swap(self.path)
        check_orphan(self.path)
        try:
            database = self._try() or self._try()
        except sqlite3.DatabaseError as problem:
            if not self.path.is_file() or not is_read_only(problem, self.path):
                raise
            self.looking = Looking(self.path)
            return self.looking.database
        if database is None:
            self.rescue = replace_damaged(self.path)
            database = open_file(self.path, alone=self._alone)
        try:
            self.rescue = merge_put_aside(database, self.path) or self.rescue
        except BaseException:
            database.close()
            raise
        return database

    def _try(self) -> sqlite3.Connection | None:
        """None if it looks damaged."""
        try:
            return open_file(self.path, alone=self._alone)
        except sqlite3.DatabaseError as problem:
            if not is_damage(problem, self.path):
                raise
        return None

    @contextmanager
    def _problems(self, done: str) -> Iterator[None]:
        """Turns what SQLite raises into a sentence."""
        try:
            yield
        except (sqlite3.Error, OSError) as problem:
            kind = StorageBusy if is_busy(problem) else StorageError
            raise kind(
                worded(
                    "{path} could not be {done}: {reason}.",
                    path=self.path,
                    done=done,
                    reason=reason(problem, self.path),
                )
            ) from problem

    @contextmanager
    def _hurry(self, lasting: bool) -> Iterator[None]:
        """Unless it is to be `lasting`, a transaction does not wait for the disk."""
        if lasting:
            yield
            return
        run = self._database.execute
        run("PRAGMA synchronous = NORMAL")
        run("PRAGMA wal_autocheckpoint = 0")
        try:
            yield
        finally:
            run("PRAGMA synchronous = FULL")
            run(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES_MAX}")

    def sync(self) -> None:
        """When this returns, all that was stored before is on the disk. For any thread."""
        with self._problems(worded("written")):
            if self._was_closed() or self.looking is not None:
                return  # which has put everything into the file
            try:
                descriptor = os.open(f"{self.path}-wal", os.O_RDWR)
            except FileNotFoundError:
                if self._was_closed():
                    return  # meanwhile
                raise self._moved() from None
            try:
                if self._homeless is not None or self._is_left:
                    if self._was_closed():
                        return
                    raise self._moved()
                if self.refused:
                    self._write_log_again(descriptor)
                self.refused = True  # until it is known to be otherwise
                os.fsync(descriptor)
                self.refused = False
            finally:
                os.close(descriptor)
            if self._hurried_pages > _LOG_PAGES_MAX:
                self._hurried_pages = 0
                self._checkpoint()

    def _was_closed(self) -> bool:
        """By the window's thread, at any moment."""
        return self._closed

    def _write_log_again(self, descriptor: int) -> None:
        """What the system could not put on the disk it takes for done, and would not try again;
        later parts of the log are worth nothing without it. Nobody else writes meanwhile."""
        with self._beside() as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                for at in range(0, os.fstat(descriptor).st_size, _COPIED_BYTES):
                    os.pwrite(descriptor, os.pread(descriptor, _COPIED_BYTES, at), at)
            finally:
                database.execute("ROLLBACK")

    @contextmanager
    def _beside(self) -> Iterator[sqlite3.Connection]:
        """A connection of this thread's own."""
        database = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None
        )
        try:
            yield database
        finally:
            database.close()

    def _checkpoint(self) -> None:
        """Takes the log over into the file; others go on writing meanwhile."""
        with self._beside() as database:
            database.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def append(self, data: bytes, signature: bytes = b"", *, lasting: bool = True) -> int:
        """Stores one update; returns its number when it is on the disk, or at once if it need not
        be `lasting` before the next `sync`."""
        if self._homeless is not None:
            self.stay()
        self._check_writable()
        self._count_hurried(data, lasting)
        with self._problems(worded("written")), self._hurry(lasting), transaction(self._database):
            row = self._database.execute(
                "INSERT INTO updates (data, signature) VALUES (?, ?)", (data, signature)
            )
            number = int(row.lastrowid or 0)
        self._seen.add(number)
        if lasting:
            self.stay()
        return number

    def _check_writable(self) -> None:
        if self.looking is not None:
            raise StorageError(self.looking.sentence)
        with self._problems(worded("written")):
            check_small_blocks(self.path.parent)

    @property
    def _is_left(self) -> bool:
        """Some disks give one file another number each time they are asked: where it seems to be
        left always, nobody looks any more."""
        if self.looking is not None or self._alarms >= _ALARMS_MAX:
            return False
        left = self.place.is_left
        if not left:
            self._alarms = 0
        return left

    def _moved(self) -> StoreMoved:
        return StoreMoved(
            worded(
                "{path} was removed or replaced while it was open; it is being written again.",
                path=self.path,
            )
        )

    def stay(self, *, partly: bool = False) -> None:
        """Sees to it that the database is under its path: one that was removed or replaced while
        it was open is written there again. Raises StoreMoved where it cannot be read any more,
        unless it may be restored `partly`."""
        with self._problems(worded("written")):
            if self._homeless is None and not self._is_left:
                return
        log.warning("%s was removed or replaced: it is written again", self.path)
        self._make_folder()
        with self._problems(worded("written")), folder_lock(self.path.parent):
            if self._homeless is None:
                self._homeless = Content.of(self._database)
                with suppress(sqlite3.Error):
                    self._database.close()
            if not self._homeless.whole and not partly:
                raise self._moved()
            self._return(self._homeless)
        self._homeless = None

    def _return(self, content: Content) -> None:
        self._alarms += 1
        self.place.clear(content)
        database = self._open()
        try:
            seen = content.put_into(database, self._seen)
        except BaseException:
            database.close()
            raise
        self._database, self._seen = database, seen
        self.place = Place.of(self.path)

    def _count_hurried(self, data: bytes, lasting: bool) -> None:
        if not lasting:
            self._hurried_pages += _PAGES_PER_WRITE + len(data) // _PAGE_BYTES

    def updates(self) -> Iterator[StoredUpdate]:
        """All stored updates, oldest first."""
        with self._problems(worded("read")):
            query = "SELECT number, data, signature FROM updates ORDER BY number"
            for number, data, signature in self._database.execute(query):
                self._seen.add(number)
                yield StoredUpdate(number, _bytes(data), _bytes(signature))

    def unseen(self) -> list[StoredUpdate]:
        """What other programs have stored since it was last asked; oldest first."""
        with self._problems(worded("read")):
            numbers = self._database.execute("SELECT number FROM updates ORDER BY number")
            new = [number for (number,) in numbers if number not in self._seen]
            query = "SELECT number, data, signature FROM updates WHERE number = ?"
            rows = [self._database.execute(query, (number,)).fetchone() for number in new]
        # Another program may have compacted them just now.
        found = [StoredUpdate(row[0], _bytes(row[1]), _bytes(row[2])) for row in rows if row]
        self._seen.update(update.number for update in found)
        return found

    @property
    def numbers(self) -> frozenset[int]:
        """Of the updates that were read or appended here."""
        return frozenset(self._seen)

    @property
    def update_count(self) -> int:
        with self._problems(worded("read")):
            return int(self._database.execute("SELECT count(*) FROM updates").fetchone()[0])

    def compact(
        self,
        data: bytes,
        signature: bytes = b"",
        *,
        keep: Set[int] = frozenset(),
        lasting: bool = True,
    ) -> None:
        """Replaces all updates that were read or appended here by `data`, which must contain them,
        except those in `keep`; all or nothing. What others have stored meanwhile stays.

        The replacement has a number of its own, or another program would take it for the update
        that had this number before.
        """
        self._check_writable()
        self._count_hurried(data, lasting)
        with self._problems(worded("compacted")), self._hurry(lasting), transaction(self._database):
            run = self._database.execute
            there = {number for (number,) in run("SELECT number FROM updates")}
            for number in (there & self._seen) - keep:
                run("DELETE FROM updates WHERE number = ?", (number,))
            row = run("INSERT INTO updates (data, signature) VALUES (?, ?)", (data, signature))
        self._seen = (there & self._seen & keep) | {int(row.lastrowid or 0)}

    def shrink(self) -> None:
        """Gives room that compaction has left back to the disk; needs as much for a while."""
        with self._problems(worded("made smaller")):
            self._database.execute("VACUUM")
            self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def fact(self, name: str) -> bytes | None:
        """A small thing kept beside the updates, such as a scroll position."""
        with self._problems(worded("read")):
            query = "SELECT value FROM facts WHERE name = ?"
            row = self._database.execute(query, (name,)).fetchone()
            return None if row is None else _bytes(row[0])

    def set_fact(self, name: str, value: bytes) -> None:
        """Does not wait for the disk: the next `sync` or lasting update does."""
        self._check_writable()
        with self._problems(worded("written")), self._hurry(False), transaction(self._database):
            self._database.execute(
                "INSERT INTO facts (name, value) VALUES (?, ?) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (name, value),
            )

    def close(self) -> None:
        """Harmless when done twice."""
        self._closed = True
        with self._problems(worded("closed")):
            self._database.close()
            if self.looking is not None:
                self.looking.close()
