"""A disk that refuses, for tests of whoever writes files."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

FULL = os.strerror(errno.ENOSPC)
# What the disk refuses, and with which error: when it is full, and when it is ill.
FAULTS = (("fsync", errno.ENOSPC), ("fsync", errno.EIO), ("replace", errno.EIO))


@contextmanager
def refusing(call: str = "fsync", code: int = errno.ENOSPC) -> Iterator[None]:
    """Files cannot be synced, or cannot be renamed, for as long as this lasts."""

    def refuse(*_arguments: object) -> None:
        raise OSError(code, os.strerror(code))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path if call == "replace" else os, call, refuse)
        yield


def all_files(folder: Path) -> dict[str, bytes]:
    """Everything in a folder and below, hidden files too."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
