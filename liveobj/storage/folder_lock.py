"""Owns the lock under which a database is made, rescued or put in its place again: one program at a
time in a folder. It leaves no file behind, and works on a full disk."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from liveobj.storage.damage import StorageError
from transport.sentences import worded

WAIT_S = 10.0
_STEP_S = 0.01


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Waits for others, for a while; raises StorageError if they do not finish, OSError if the
    folder cannot be opened."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _wait(descriptor, folder)
        yield
    finally:
        os.close(descriptor)


def _wait(descriptor: int, folder: Path) -> None:
    import fcntl  # noqa: PLC0415 - not on every system

    deadline_s = time.monotonic() + WAIT_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as problem:
            if problem.errno not in (errno.EWOULDBLOCK, errno.EINTR):
                return  # a file system without locks has one program, let us hope
        if time.monotonic() > deadline_s:
            raise StorageError(
                worded(
                    "Another program is opening objects in {folder} and does not finish; try again"
                    " in a moment.",
                    folder=folder,
                )
            )
        time.sleep(_STEP_S)
