"""Owns the question whether the files under a path are still those that are open, and what is done
if a clean-up tool, a sync client or a person has removed or replaced them."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Set
from dataclasses import dataclass, field
from pathlib import Path

from liveobj.storage.damage import StorageError
from liveobj.storage.rescue import mark_of, replace_whole
from liveobj.storage.sqlite_file import COMPANIONS, companion, transaction

log = logging.getLogger(__name__)


class StoreMoved(StorageError):
    """The open database is no longer under its path, so that nothing in it is saved."""


def identity(path: Path) -> tuple[int, int] | None:
    """Which file it is; None if there is none."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


@dataclass(frozen=True, slots=True)
class Place:
    """The files of an open database: itself, its log, the log's index."""

    path: Path
    files: tuple[tuple[int, int] | None, ...]

    @classmethod
    def of(cls, path: Path) -> Place:
        return cls(path, tuple(identity(companion(path, suffix)) for suffix in COMPANIONS))

    @property
    def is_left(self) -> bool:
        """Whether one of the files is not there any more, or another one is in its place. The
        index may be in memory; without the others it was left while it was opened."""
        return None in self.files[:2] or any(
            file is not None and identity(companion(self.path, suffix)) != file
            for suffix, file in zip(COMPANIONS, self.files, strict=True)
        )

    def clear(self, content: Content) -> None:
        """Makes room for another database under the path. What belonged to the open one must not
        be taken for the log of another."""
        if identity(self.path) == self.files[0]:
            # Its log is gone. Another program may write to it still, and has to notice as well.
            replace_whole(self.path, content.rows.values(), content.facts)
            return
        for suffix, file in zip(COMPANIONS[1:], self.files[1:], strict=True):
            if file is not None and identity(companion(self.path, suffix)) == file:
                companion(self.path, suffix).unlink(missing_ok=True)


@dataclass(slots=True)
class Content:
    """What a database held: updates by number, facts by name. `whole` unless it could not be read
    to the end."""

    rows: dict[int, tuple[bytes, bytes]] = field(default_factory=dict)
    facts: dict[str, bytes] = field(default_factory=dict)
    whole: bool = False

    @classmethod
    def of(cls, database: sqlite3.Connection) -> Content:
        content = cls()
        try:
            for number, data, signature in database.execute(
                "SELECT number, data, signature FROM updates ORDER BY number"
            ):
                content.rows[number] = data, signature
            content.facts.update(database.execute("SELECT name, value FROM facts"))
            content.whole = True
        except sqlite3.Error as problem:
            log.error("what was stored cannot be read any more: %s", problem)
        return content

    def put_into(self, database: sqlite3.Connection, seen: Set[int]) -> set[int]:
        """Adds what is missing; returns the numbers that those in `seen` have there."""
        run, now_seen = database.execute, set()
        with transaction(database):
            there = {
                mark_of(data, signature): number
                for number, data, signature in run("SELECT number, data, signature FROM updates")
            }
            for old, (data, signature) in self.rows.items():
                number = there.get(mark_of(data, signature))
                if number is None:
                    row = run(
                        "INSERT INTO updates (data, signature) VALUES (?, ?)", (data, signature)
                    )
                    number = int(row.lastrowid or 0)
                if old in seen:
                    now_seen.add(number)
            for name, value in self.facts.items():
                run("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)", (name, value))
        return now_seen
