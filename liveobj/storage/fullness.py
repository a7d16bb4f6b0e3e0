"""Owns the answer whether a disk refuses because it is full."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from liveobj.storage.damage import has_room

_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_full(problem: BaseException | None, folder: Path) -> bool:
    """Whether what was raised, or what it was raised from, says that there is no room."""
    while problem is not None:
        if isinstance(problem, OSError) and problem.errno in _ERRORS:
            return True
        if isinstance(problem, sqlite3.Error):
            code = getattr(problem, "sqlite_errorcode", None)
            return code == sqlite3.SQLITE_FULL or not has_room(folder)
        problem = problem.__cause__
    return False
