"""The words of everything that was open here, in SQLite's full-text index: kept, searched, rebuilt.

It holds nothing that is not elsewhere on this disk. So it is written without waiting for the disk,
and one that turns out damaged is thrown away and begun anew. It knows texts, not objects.
"""

from __future__ import annotations

import logging
import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)

TEXT_CHARACTERS_MAX = 500_000
RESULTS_MAX = 20
SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS objects (
    number INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    file TEXT NOT NULL,
    kind TEXT NOT NULL
);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
    title, body, tokenize = "unicode61 remove_diacritics 2", prefix = '2 3'
);
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One object as it is indexed; `file` is the profile's copy of its reference, `kind` the word
    of its kind."""

    identity: str
    file: str
    kind: str
    title: str
    body: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One object that was found; `snippet` is the text around the words, in one line."""

    identity: str
    file: str
    kind: str
    title: str
    snippet: str


def query_of(text: str) -> str:
    """What the person typed as a query: all words, the last one maybe unfinished."""
    words = re.findall(r"\w+", text, flags=re.UNICODE)[:12]
    if not words:
        return ""
    quoted = [f'"{word}"' for word in words]
    return " ".join([*quoted[:-1], quoted[-1] + "*"])


def search(file: Path, text: str, limit: int = RESULTS_MAX) -> list[Hit]:
    """The objects with all these words, titles first; nothing for no words, and where there is no
    index that can be read. It can be asked while another thread writes."""
    query = query_of(text)
    if not query or not file.exists():
        return []
    try:
        database = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)
        try:
            return _search(database, query, limit)
        finally:
            database.close()
    except sqlite3.Error as problem:
        log.warning("the search index cannot be read: %s", problem)
        return []


def identity_of(file: Path, reference_file: str) -> str:
    """The object that was indexed by the path of that file; empty if there is none."""
    if not file.exists():
        return ""
    try:
        database = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)
        try:
            query = "SELECT identity FROM objects WHERE file = ?"
            row = database.execute(query, (reference_file,)).fetchone()
        finally:
            database.close()
    except sqlite3.Error as problem:
        log.warning("the search index cannot be read: %s", problem)
        return ""
    return str(row[0]) if row is not None else ""


class SearchIndex:
    """The writer of one file, in whatever thread; no method raises."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._database: sqlite3.Connection | None = None
        try:
            self._open()
        except sqlite3.Error as problem:
            log.warning("the search index is damaged and begun anew: %s", problem)
            self._begin_anew()

    def put(self, entry: Entry) -> None:
        """Takes over the newest words of an object."""
        self._run(lambda database: _put(database, entry))

    def remove(self, identity: str) -> None:
        self._run(lambda database: _remove(database, identity))

    def identities(self) -> set[str]:
        found: set[str] = set()

        def read(database: sqlite3.Connection) -> None:
            found.update(row[0] for row in database.execute("SELECT identity FROM objects"))

        self._run(read)
        return found

    def clear(self) -> None:
        """Forgets everything; whoever calls fills it again."""
        self._begin_anew()

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _open(self) -> None:
        database = sqlite3.connect(self._file, isolation_level=None, check_same_thread=False)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            # After a power cut the index may be older than the objects; it is never wrong.
            database.execute("PRAGMA synchronous = NORMAL")
            version = database.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, SCHEMA_VERSION):
                raise sqlite3.DatabaseError("of another version")
            if database.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise sqlite3.DatabaseError("it does not pass its own check")
            database.executescript(_SCHEMA)
            database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        except BaseException:
            database.close()
            raise
        self._database = database

    def _begin_anew(self) -> None:
        self.close()
        try:
            for ending in ("", "-wal", "-shm"):
                self._file.with_name(self._file.name + ending).unlink(missing_ok=True)
            self._open()
        except (OSError, sqlite3.Error) as problem:
            log.warning("there is no search index: %s", problem)

    def _run(self, work: Callable[[sqlite3.Connection], None]) -> None:
        if self._database is None:
            return
        try:
            with self._database:
                work(self._database)
        except sqlite3.DatabaseError as problem:
            log.warning("the search index refuses: %s", problem)
            if "malformed" in str(problem) or "not a database" in str(problem):
                self._begin_anew()


def _put(database: sqlite3.Connection, entry: Entry) -> None:
    body = entry.body[:TEXT_CHARACTERS_MAX]
    database.execute("BEGIN")
    row = database.execute(
        "SELECT number FROM objects WHERE identity = ?", (entry.identity,)
    ).fetchone()
    if row is None:
        made = database.execute(
            "INSERT INTO objects (identity, file, kind) VALUES (?, ?, ?)",
            (entry.identity, entry.file, entry.kind),
        )
        number = made.lastrowid
        database.execute(
            "INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)", (number, entry.title, body)
        )
    else:
        database.execute(
            "UPDATE objects SET file = ?, kind = ? WHERE number = ?",
            (entry.file, entry.kind, row[0]),
        )
        database.execute(
            "UPDATE words SET title = ?, body = ? WHERE rowid = ?", (entry.title, body, row[0])
        )


def _remove(database: sqlite3.Connection, identity: str) -> None:
    database.execute("BEGIN")
    query = "SELECT number FROM objects WHERE identity = ?"
    row = database.execute(query, (identity,)).fetchone()
    if row is not None:
        database.execute("DELETE FROM words WHERE rowid = ?", (row[0],))
        database.execute("DELETE FROM objects WHERE number = ?", (row[0],))


def _search(database: sqlite3.Connection, query: str, limit: int) -> list[Hit]:
    found = database.execute(
        "SELECT identity, file, kind, title, snippet(words, 1, '', '', '…', 12) "
        "FROM words JOIN objects ON objects.number = words.rowid "
        "WHERE words MATCH ? ORDER BY bm25(words, 10.0, 1.0) LIMIT ?",
        (query, limit),
    )
    return [
        Hit(identity, file, kind, title, " ".join(snippet.split()))
        for identity, file, kind, title, snippet in found
    ]
