"""Owns a database that may only be read: opened to look at, never changed by a byte."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from liveobj.storage.damage import StorageError, check
from liveobj.storage.rescue import not_merged
from liveobj.storage.sqlite_file import check_form, companion, open_to_read
from transport.sentences import worded


class Looking:
    """Attributes: `database`, `sentence` for the person. Raises sqlite3.Error or OSError if it
    cannot even be read."""

    def __init__(self, path: Path) -> None:
        self.sentence = worded(
            "You may only read the copy of this object on your disk ({path}): what you change is"
            " not saved here.",
            path=path,
        )
        with ExitStack() as opened:
            log = companion(path, "-wal")
            if log.exists() and log.stat().st_size:
                # SQLite reads a log only where it can write beside it.
                folder = opened.enter_context(TemporaryDirectory(prefix="live-objects-"))
                shutil.copy(path, folder)
                shutil.copy(log, folder)
                self.database = sqlite3.connect(Path(folder) / path.name, isolation_level=None)
            else:
                self.database = open_to_read(path)
            opened.callback(self.database.close)
            check(self.database)
            check_form(self.database, path)
            if not_merged(self.database, path):
                raise StorageError(self.sentence)
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Harmless when done twice."""
        self._opened.close()
