"""Owns what is done about a damaged database: its successor is written first, then takes its place.

A file `x.db.rescuing` is being written and worth nothing; `x.db.rescued` is whole, and takes the
place of `x.db` as soon as that has become `x.db.damaged-1`. Whoever opens the object next goes on
where a crash or a refusing disk has stopped this. Nothing that was put aside is written again.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from liveobj.storage.damage import is_readable
from liveobj.storage.sqlite_file import (
    COMPANIONS,
    companion,
    make_tables,
    open_to_read,
    transaction,
)
from transport.sentences import worded, worded_n
from transport.whole_file import put_in_place, sync_folder

log = logging.getLogger(__name__)

# The fact that names the files put aside whose rows are in this database already.
RESCUED_FACT = "storage.rescued"
# Names are tried one after another; somebody may have removed one of them.
_NAMES_TRIED = 3
_ROWS_BY_NUMBER_MAX = 10_000_000


@dataclass(frozen=True, slots=True)
class Rescue:
    """What became of a database that was put aside: where it is now, how many updates came out of
    it, and whether it `was_whole` (version 0.1 put files aside when a disk was full). Then its
    updates have numbers above `after`."""

    damaged: Path
    updates: int
    was_whole: bool = False
    after: int = 0

    def brought(self, number: int) -> bool:
        """Whether the update with this number is one that had been hidden."""
        return self.was_whole and number > self.after

    @property
    def sentence(self) -> str:
        if self.was_whole:
            return worded_n(
                "An earlier version hid a change of this object when the disk refused to work. It"
                " is back, and merged with what was written since.",
                "An earlier version hid {count} changes of this object when the disk refused to"
                " work. They are back, and merged with what was written since.",
                self.updates,
            )
        return worded(
            "The copy of this object on your disk was damaged. {count} changes could be rescued;"
            " what is missing will come from others who have it open. The damaged file was kept as"
            " {file}.",
            count=self.updates,
            file=self.damaged,
        )


def finish_swap(path: Path) -> None:
    """Goes on where somebody was stopped between the damaged database and its successor."""
    rescuing, rescued = companion(path, ".rescuing"), companion(path, ".rescued")
    if rescuing.exists():
        with suppress(OSError):
            rescuing.unlink()
    if not rescued.exists():
        return
    if path.exists():
        # The damaged one was not moved yet: it is rescued once more.
        with suppress(OSError):
            rescued.unlink()
    else:
        _take_place(path, _aside(path)[-1:], rescued)


def replace_damaged(path: Path) -> Rescue:
    """Writes what can be read into a successor, puts the damaged database aside and the successor
    in its place. Raises sqlite3.Error or OSError if the disk refuses; what is there stays."""
    damaged = _free_name(path)
    with _successor(path) as successor:
        count = copy_rows(path, successor)
        _note_rescued(successor, [damaged.name, *_rescued_names(successor)])
    _swap(path, damaged)
    return Rescue(damaged, count)


def replace_whole(
    path: Path, rows: Iterable[tuple[bytes, bytes]], facts: Mapping[str, bytes]
) -> None:
    """Puts another database with that content in the place of one that nobody should use any
    more."""
    aside = _free_name(path)
    with _successor(path) as successor:
        insert = "INSERT INTO updates (data, signature) VALUES (?, ?)"
        successor.executemany(insert, rows)
        insert = "INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)"
        successor.executemany(insert, facts.items())
        _note_rescued(successor, [aside.name, *_rescued_names(successor)])
    _swap(path, aside)
    for suffix in COMPANIONS:
        companion(aside, suffix).unlink(missing_ok=True)


@contextmanager
def _successor(path: Path) -> Iterator[sqlite3.Connection]:
    """A new database; when this ends, it is whole and on the disk as `x.db.rescued`."""
    rescuing = companion(path, ".rescuing")
    rescuing.unlink(missing_ok=True)
    with closing(sqlite3.connect(rescuing, isolation_level=None)) as database:
        # Its bytes are synced below, all at once; there is no other file beside it.
        database.execute("PRAGMA journal_mode = MEMORY")
        database.execute("PRAGMA synchronous = OFF")
        make_tables(database)
        with transaction(database):
            yield database
    put_in_place(rescuing, companion(path, ".rescued"))


def _swap(path: Path, aside: Path) -> None:
    path.rename(aside)
    _take_place(path, [aside], companion(path, ".rescued"))


def _take_place(path: Path, damaged: list[Path], rescued: Path) -> None:
    """The log of the damaged one must be gone from here, or SQLite would replay it."""
    for suffix in COMPANIONS[1:]:
        left = companion(path, suffix)
        with suppress(FileNotFoundError):
            if damaged and not companion(damaged[0], suffix).exists():
                left.rename(companion(damaged[0], suffix))
            else:
                left.unlink()
    sync_folder(path.parent)
    rescued.rename(path)
    sync_folder(path.parent)


def merge_put_aside(database: sqlite3.Connection, path: Path) -> Rescue | None:
    """Brings back what earlier versions put aside though it was whole. What was written since
    stays; updates may be merged twice without harm."""
    missing = not_merged(database, path)
    if not missing:
        return None
    known = _rescued_names(database)
    with transaction(database):
        after = database.execute("SELECT max(number) FROM updates").fetchone()[0] or 0
        count = sum(copy_rows(each, database) for each in missing)
        _note_rescued(database, [*known, *(each.name for each in missing)])
    return Rescue(missing[-1], count, was_whole=True, after=after) if count else None


def not_merged(database: sqlite3.Connection, path: Path) -> list[Path]:
    """What was put aside and is not in this database yet."""
    found = _aside(path)
    known = _rescued_names(database) if found else []
    return [each for each in found if each.name not in known]


def copy_rows(source: Path, target: sqlite3.Connection) -> int:
    """Copies what `target` lacks and can be read; returns how many updates that were."""
    with closing(open_to_read(source)) as database:
        return _copy(database, source, target)


def _copy(database: sqlite3.Connection, source: Path, target: sqlite3.Connection) -> int:
    there = {
        mark_of(data, signature)
        for data, signature in target.execute("SELECT data, signature FROM updates")
    }
    count = 0
    for data, signature in _readable_rows(database, source):
        if mark_of(data, signature) not in there:
            target.execute("INSERT INTO updates (data, signature) VALUES (?, ?)", (data, signature))
            count += 1
    for name, value in _readable_facts(database, source):
        target.execute("INSERT OR IGNORE INTO facts (name, value) VALUES (?, ?)", (name, value))
    return count


def mark_of(data: object, signature: object) -> bytes:
    """A short name of an update: equal ones have equal names."""
    if not isinstance(data, bytes) or not isinstance(signature, bytes):
        return b""
    return blake2b(data, digest_size=16, salt=blake2b(signature, digest_size=16).digest()).digest()


def _readable_rows(database: sqlite3.Connection, source: Path) -> Iterator[tuple[bytes, bytes]]:
    """Updates that can still be read, oldest first, each on its own: one that cannot does not hide
    the others."""
    query = "SELECT data, signature FROM updates WHERE number = ?"
    for number in _numbers(database, source):
        rows = _fetch(database, source, query, number) or []
        for data, signature in rows:
            if isinstance(data, bytes) and isinstance(signature, bytes):
                yield data, signature


def _numbers(database: sqlite3.Connection, source: Path) -> list[int]:
    """By number, since a scan of the table would end at the first damaged page. If even the highest
    number is not known, a scan finds what it finds."""
    first = _fetch(database, source, "SELECT min(number) FROM updates")
    last = _fetch(database, source, "SELECT max(number) FROM updates")
    if first and last:
        (lowest,), (highest,) = first[0], last[0]
        if lowest is None and highest is None:
            return []
        counted = isinstance(lowest, int) and isinstance(highest, int)
        if counted and 0 <= highest - lowest < _ROWS_BY_NUMBER_MAX:
            return list(range(lowest, highest + 1))
    scanned = _scan(database, source, "SELECT number FROM updates ORDER BY number")
    return [number for (number,) in scanned if isinstance(number, int)]


def _readable_facts(database: sqlite3.Connection, source: Path) -> Iterator[tuple[str, bytes]]:
    for name, value in _scan(database, source, "SELECT name, value FROM facts"):
        if isinstance(name, str) and isinstance(value, bytes):
            yield name, value


def _scan(database: sqlite3.Connection, source: Path, query: str) -> list[tuple[Any, ...]]:
    """As many rows as can be read."""
    whole = _fetch(database, source, query)
    if whole is not None:
        return whole
    rows: list[tuple[Any, ...]] = []
    with suppress(sqlite3.DatabaseError):
        rows.extend(database.execute(query))
    return rows


def _fetch(
    database: sqlite3.Connection, source: Path, query: str, *values: object
) -> list[tuple[Any, ...]] | None:
    """All rows; None if damage hides them. A disk that refuses might hide everything, so it ends
    the rescue; it may also have failed just once, which looks like damage."""
    for again in (True, False):
        try:
            return database.execute(query, values).fetchall()
        except sqlite3.DatabaseError as problem:
            code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
            passed = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
            if code not in passed or not is_readable(source):
                raise
            if not again:
                log.error("something in %s cannot be read: %s", source, problem)
    return None


def _rescued_names(database: sqlite3.Connection) -> list[str]:
    row = database.execute("SELECT value FROM facts WHERE name = ?", (RESCUED_FACT,)).fetchone()
    try:
        names = json.loads(row[0]) if row is not None else []
    except (ValueError, TypeError):
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _note_rescued(database: sqlite3.Connection, names: list[str]) -> None:
    database.execute(
        "INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)",
        (RESCUED_FACT, json.dumps(sorted(set(names))).encode()),
    )


def _aside(path: Path) -> list[Path]:
    """What was put aside of this database, in order."""
    found, number, missing = [], 1, 0
    while missing < _NAMES_TRIED:
        name = companion(path, f".damaged-{number}")
        if name.exists():
            found.append(name)
            missing = 0
        else:
            missing += 1
        number += 1
    return found


def _free_name(path: Path) -> Path:
    """Behind all others, so that the last one is the newest."""
    last = _aside(path)[-1:]
    number = int(last[0].name.rpartition("-")[2]) + 1 if last else 1
    return companion(path, f".damaged-{number}")
