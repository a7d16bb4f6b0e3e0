"""Owns reading an object's stored document without opening the object: no network, no writing."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from liveobj.documents import BadUpdate, Document, Origin


def read_stored(path: Path) -> Document | None:
    """The document in a database, as far as it can be read; None if nothing can. It cannot be
    edited."""
    try:
        database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error:
        return None
    document = Document(1, editable=False)
    try:
        for (data,) in database.execute("SELECT data FROM updates ORDER BY number"):
            if isinstance(data, bytes):
                try:
                    document.import_update(data, Origin.STORED)
                except BadUpdate:
                    continue
    except sqlite3.Error:
        return None
    finally:
        database.close()
    return document
