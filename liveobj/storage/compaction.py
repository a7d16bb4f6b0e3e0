"""Owns making one snapshot of the stored updates of an object, away from the document itself.

It reads the database beside whoever has it open and touches nothing else, so a thread can do it
while the document is edited. loro holds the interpreter's lock meanwhile, so a text of many
megabytes still makes the event loop wait.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Set
from contextlib import closing
from pathlib import Path

from liveobj.documents import BadUpdate, Version
from liveobj.documents.merging import merge_updates

# Where an update says what it is, and what a snapshot says there.
_KIND = slice(20, 22)
_SNAPSHOT = b"\x00\x03"


def is_snapshot(data: bytes) -> bool:
    """Whether these bytes claim to be a snapshot."""
    return data[_KIND] == _SNAPSHOT


def snapshot_of(path: Path, numbers: Set[int]) -> tuple[bytes, Version] | None:
    """The updates of these numbers as one, and what is in it; None where one is damaged."""
    query = "SELECT number, data FROM updates ORDER BY number"
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            rows = [data for number, data in database.execute(query) if number in numbers]
        return merge_updates(sorted(rows, key=lambda row: not is_snapshot(row)))
    except (sqlite3.Error, BadUpdate, TypeError):
        return None
