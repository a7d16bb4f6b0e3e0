"""Owns what is done about a damaged database: it is put aside, never written again, and what can be
read of it is copied."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)

COMPANIONS = ("", "-wal", "-shm")


@dataclass(frozen=True, slots=True)
class Rescue:
    """What became of a damaged database: where it is now, and how many updates came out of it."""

    damaged: Path
    updates: int

    @property
    def sentence(self) -> str:
        return (
            f"The copy of this object on your disk was damaged. {self.updates} changes could be "
            f"rescued; what is missing will come from others who have it open. The damaged file "
            f"was kept as {self.damaged}."
        )


def put_aside(path: Path) -> Path:
    """Renames the database, with what belongs to it, to a name that is free."""
    number = 1
    while (target := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    for suffix in COMPANIONS:
        source = path.with_name(path.name + suffix)
        if source.exists():
            source.rename(target.with_name(target.name + suffix))
    return target


def readable_rows(damaged: Path) -> Iterator[tuple[bytes, bytes]]:
    """Updates that can still be read, oldest first, each on its own: one that cannot does not hide
    the others."""
    try:
        database = sqlite3.connect(f"file:{damaged}?mode=ro", uri=True)
    except sqlite3.Error as problem:
        log.error("nothing can be read of %s: %s", damaged, problem)
        return
    try:
        for number in _numbers(database):
            try:
                query = "SELECT data, signature FROM updates WHERE number = ?"
                row = database.execute(query, (number,)).fetchone()
            except sqlite3.Error as problem:
                log.error("update %d of %s cannot be read: %s", number, damaged, problem)
                continue
            if row is not None and isinstance(row[0], bytes) and isinstance(row[1], bytes):
                yield row[0], row[1]
    finally:
        database.close()


def _numbers(database: sqlite3.Connection) -> list[int]:
    """By number, since a scan of the table would end at the first damaged page. If even the highest
    number cannot be told, a scan gives what it gives."""
    try:
        last = database.execute("SELECT max(number) FROM updates").fetchone()[0]
        first = database.execute("SELECT min(number) FROM updates").fetchone()[0]
        if isinstance(last, int) and isinstance(first, int) and 0 <= last - first < 10_000_000:
            return list(range(first, last + 1))
    except sqlite3.Error:
        pass
    found: list[int] = []
    try:
        for (number,) in database.execute("SELECT number FROM updates ORDER BY number"):
            if isinstance(number, int):
                found.append(number)
    except sqlite3.Error as problem:
        log.error("the list of updates ends early: %s", problem)
    return found
