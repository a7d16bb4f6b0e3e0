"""Owns how a secret lies on disk: one short text file that its user alone can read.

It knows neither scopes nor identities, only text. What is read is bounded, since the path may have
come from a stranger.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from transport.errors import SystemRefused
from transport.whole_file import write_whole

TEXT_BYTES_MAX = 4096


def write_private(path: Path, text: str, *, replace: bool = False) -> None:
    """Writes a file that nobody else can read; refuses to overwrite one unless told to."""
    try:
        write_whole(path, text.encode(), replace=replace)
    except FileExistsError:
        raise SystemRefused(f"{path} exists already: choose another name.") from None
    except OSError as problem:
        raise SystemRefused(f"{path} cannot be written: {problem.strerror}.") from None


def read_small(path: Path, *, private: bool = False, bytes_max: int = TEXT_BYTES_MAX) -> str:
    """The text of a small file. With `private`, one that others can read is refused."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise SystemRefused(f"{path} is not a file: give the name of a file.")
            if private and os.name == "posix" and status.st_mode & 0o077:
                raise SystemRefused(
                    f"Others can read {path}: make it private (chmod 600) and try again."
                )
            data = file.read(bytes_max + 1)
    except OSError as problem:
        raise SystemRefused(f"{path} cannot be read: {problem.strerror}.") from None
    if len(data) > bytes_max:
        raise SystemRefused(f"{path} is too large to be a key: give another file.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise SystemRefused(f"{path} is not a text file: give another file.") from None
