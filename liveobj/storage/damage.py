"""Owns the decision whether a database is damaged, or whether the disk only refuses at present.

Only what SQLite finds wrong in the bytes is damage. A full disk, an I/O error, a lock or a missing
right leaves the file as it is: it may be whole.
"""

from __future__ import annotations

import errno
import os
import re
import sqlite3
from pathlib import Path

from liveobj.errors import Problem
from transport.sentences import worded

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_READ_ONLY = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
# SQLite cannot make the index of its log with less, and calls that an I/O error.
_ROOM_BYTES = 1 << 16
_PIECE_BYTES = 1 << 20
_BLOCK_BYTES = 4096
_ROOM_FOR_INDEX_BYTES = 1 << 18


class StorageError(Problem):
    """The disk could not do what was asked; the message says what to do."""


class StorageBusy(StorageError):
    """Another program keeps it from being opened or written."""


class Damaged(sqlite3.DatabaseError):
    """SQLite's own check found something wrong in the bytes."""


def check(database: sqlite3.Connection) -> None:
    """Raises Damaged if the bytes are not in order, OperationalError if they cannot be read."""
    answer = str(database.execute("PRAGMA quick_check(1)").fetchone()[0])
    if answer == "ok":
        return
    # A page that the disk did not deliver is reported like one with wrong bytes.
    code = re.search(r"error code=(\d+)", answer)
    if code is not None and int(code[1]) & 0xFF not in _DAMAGE:
        raise sqlite3.OperationalError(answer)
    raise Damaged(answer)


def is_damage(problem: sqlite3.Error, path: Path) -> bool:
    """Whether the bytes of the database at `path` are wrong. No connection to it may be open here:
    looking at the file ends the locks of this process.

    SQLite calls a read that failed damage, too, so the file must be readable from end to end; and
    whoever acts on the answer asks twice, since a disk may fail once.
    """
    code = _code(problem)
    if isinstance(problem, Damaged) or code in _DAMAGE:
        return is_readable(path)
    if code == sqlite3.SQLITE_ERROR:
        return "unsupported file format" in str(problem) and is_readable(path)
    return code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY) and _has_wrong_header(path)


def is_readable(path: Path) -> bool:
    """Whether the disk delivers every byte of a database and its log, and there are any."""
    size = 0
    for file in (path, path.with_name(f"{path.name}-wal")):
        try:
            with file.open("rb", buffering=0) as opened:
                while piece := opened.read(_PIECE_BYTES):
                    size += len(piece)
        except FileNotFoundError:
            continue
        except OSError:
            return False
    return size > 0


def is_read_only(problem: Exception, path: Path) -> bool:
    """Whether the file may be read, perhaps, but not written, or nothing beside it."""
    refused = _code(problem) in (*_READ_ONLY, sqlite3.SQLITE_CANTOPEN)
    return refused and not all(os.access(each, os.W_OK) for each in (path, path.parent))


def is_busy(problem: Exception) -> bool:
    """Whether another program is in the way."""
    return _code(problem) in _BUSY


def reason(problem: Exception, path: Path) -> str:
    """The part of a sentence that says why the disk refuses."""
    if isinstance(problem, OSError):
        return problem.strerror or str(problem)
    code = _code(problem)
    hidden = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
    if code == sqlite3.SQLITE_FULL or (code in hidden and not has_room(path.parent)):
        return worded("the disk is full; make room and try again")
    if code in _BUSY:
        return worded("another program is writing to it; try again in a moment")
    if code in _READ_ONLY:
        return worded("you may only read it")
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT):
        return worded("the disk reports an error; the file was left as it is")
    return str(problem)


def has_room(folder: Path, wanted: int = _ROOM_BYTES) -> bool:
    """Whether the disk of a folder has room for a little; True where nobody knows."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return True
    return disk.f_bavail * disk.f_frsize >= wanted


def check_small_blocks(folder: Path) -> None:
    """SQLite makes room for the index of its log in blocks of 4 KB, a byte each, and maps it into
    memory. A disk with smaller blocks that is full then would end the program with a signal; so
    one that is nearly full is refused with an OSError."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return
    if disk.f_bsize < _BLOCK_BYTES and disk.f_bavail * disk.f_frsize < _ROOM_FOR_INDEX_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _code(problem: Exception) -> int:
    """SQLite's primary code; 0 where there is none."""
    code = getattr(problem, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else 0


def _has_wrong_header(path: Path) -> bool:
    """Whether the file is shorter than it says, or no database: then an error is no accident."""
    try:
        with path.open("rb") as file:
            header, size = file.read(_HEADER_BYTES), os.fstat(file.fileno()).st_size
        log = path.with_name(f"{path.name}-wal")
        log_bytes = log.stat().st_size if log.exists() else 0
    except OSError:
        return False
    if size == 0:
        return False
    if size < _HEADER_BYTES or not header.startswith(_MAGIC):
        return True
    if not {header[18], header[19]} <= {1, 2}:
        return True
    page = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    counted = header[24:28] == header[92:96]
    # While there is a log, the pages that are missing in the file are in it.
    return counted and not log_bytes and size < pages * (65536 if page == 1 else page)
