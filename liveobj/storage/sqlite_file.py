"""Owns how the SQLite file of one object is opened: checked, then prepared with its tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from liveobj.storage.damage import Damaged, StorageError, check
from transport.sentences import worded

SCHEMA_VERSION = 1
COMPANIONS = ("", "-wal", "-shm")
_BUSY_S = 2.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS updates (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    data BLOB NOT NULL,
    signature BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value BLOB NOT NULL);
"""
_COLUMNS = {"updates": ["number", "data", "signature"], "facts": ["name", "value"]}


def companion(path: Path, suffix: str) -> Path:
    """A file that belongs to a database: its log, or the log's index."""
    return path.with_name(path.name + suffix)


def open_file(path: Path, *, alone: bool = False) -> sqlite3.Connection:
    """Opens a database for writing, and makes it if there is none. `alone` refuses while another
    program has it open, and keeps others out. Raises sqlite3.Error, or StorageError if a newer
    program wrote it; nothing stays open then."""
    database = sqlite3.connect(path, isolation_level=None, timeout=0 if alone else _BUSY_S)
    try:
        if alone:
            database.execute("PRAGMA locking_mode = EXCLUSIVE")
        # Looked at before anything is written: a damaged file is kept as it was found.
        check(database)
        check_form(database, path)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        make_tables(database)
    except BaseException:
        database.close()
        raise
    return database


def open_to_read(path: Path) -> sqlite3.Connection:
    """Opens a database that must not change by a byte."""
    # Without a log nobody writes to it, and SQLite need not make files beside it.
    log = companion(path, "-wal")
    quiet = "" if log.exists() and log.stat().st_size else "&immutable=1"
    address = f"{path.absolute().as_uri()}?mode=ro{quiet}"
    return sqlite3.connect(address, uri=True, isolation_level=None, timeout=_BUSY_S)


def make_tables(database: sqlite3.Connection) -> None:
    """Makes what is missing; where nothing is, nothing is written."""
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version == SCHEMA_VERSION and all(_columns(database, table) for table in _COLUMNS):
        return
    with transaction(database):
        for statement in _SCHEMA.split(";"):
            database.execute(statement)
        database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def check_form(database: sqlite3.Connection, path: Path) -> None:
    """Raises StorageError if a newer program wrote it, Damaged if the tables are not ours."""
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise StorageError(
            worded(
                "{path} was written by a newer version of Live Objects; please update.",
                path=path,
            )
        )
    for table, columns in _COLUMNS.items():
        if _columns(database, table) not in ([], columns):
            raise Damaged(f"the table {table} has other columns")


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in database.execute(f"PRAGMA table_info({table})")]


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """All or nothing."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        # SQLite has taken it back by itself after some errors.
        if database.in_transaction:
            with suppress(sqlite3.Error):
                database.execute("ROLLBACK")
        raise
