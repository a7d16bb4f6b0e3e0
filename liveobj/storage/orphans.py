"""Owns the question whether another program has a database open whose log was removed under it.

Whoever opened it then would make another log, and the two would spoil the file. The other program
notices when it saves next, and puts a new file in place.
"""

from __future__ import annotations

import os
import struct
import time
from pathlib import Path

from liveobj.storage.damage import StorageBusy
from liveobj.storage.sqlite_file import companion
from transport.sentences import worded

# The bytes of the file on which SQLite keeps a lock while a connection is open.
_LOCKED_FROM = 0x40000002
_LOCKED_BYTES = 510
_LOCK = struct.Struct("hhqqi4x")
# Somebody who opens or closes it has no log for a moment, either.
_WAIT_S = 2.0
_STEP_S = 0.01


def check_orphan(path: Path) -> None:
    """Waits a moment, then raises StorageBusy. No connection may be open here unless the log is
    there: looking at the file ends the locks of this process."""
    deadline_s = time.monotonic() + _WAIT_S
    while _has_lost_log(path):
        if time.monotonic() > deadline_s:
            raise StorageBusy(
                worded(
                    "The log of {path} was removed while another program has it open; it is"
                    " written again when that program saves or ends.",
                    path=path,
                )
            )
        time.sleep(_STEP_S)


def _has_lost_log(path: Path) -> bool:
    there = [companion(path, suffix).exists() for suffix in ("-wal", "-shm")]
    return not all(there) and _is_open_elsewhere(path)


def _is_open_elsewhere(path: Path) -> bool:
    import fcntl  # noqa: PLC0415 - not on every system

    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        asked = _LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, _LOCKED_FROM, _LOCKED_BYTES, 0)
        answer = _LOCK.unpack(fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return bool(answer[0] != fcntl.F_UNLCK)
