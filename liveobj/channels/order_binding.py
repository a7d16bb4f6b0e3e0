"""Owns where the journal of an order belongs: to one file on one machine, and to one program at a
time.

A copy on another PC, in another profile, or restored as another file is bound elsewhere. On one
machine, a lock beside the file keeps a second program from voting as the same member.
"""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

_MACHINE_IDS = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
_SUFFIX = ".order-lock"


def machine_id() -> bytes:
    """A name of this machine that is the same after it is started again."""
    for path in _MACHINE_IDS:
        try:
            found = path.read_bytes().strip()
        except OSError:
            continue
        if found:
            return found
    return uuid.getnode().to_bytes(8, "big")


@dataclass(frozen=True, slots=True)
class JournalPlace:
    """Where a journal is: `binding` names its file on its machine; `touched_at` is when the system
    has last changed the file, in seconds since 1970, None if there was none."""

    binding: bytes = b""
    touched_at: float | None = None

    def opened(self, path: Path, machine: bytes) -> JournalPlace:
        """The same, with the file that is there by now."""
        return JournalPlace(_binding_of(path, machine), self.touched_at)


def place_before_opening(path: Path) -> JournalPlace:
    """Opening a database changes its files, so this is asked before."""
    times = []
    for suffix in ("", "-wal"):
        with suppress(OSError):
            times.append(Path(f"{path}{suffix}").stat().st_ctime)
    return JournalPlace(touched_at=max(times, default=None))


def _binding_of(path: Path, machine: bytes) -> bytes:
    inode = str(path.stat().st_ino).encode()
    return blake2b(machine + b"\n" + inode, digest_size=16, person=b"liveobj journal").digest()


class JournalLock:
    """Whether this program is the one that votes with the journal at `path`, until closed."""

    def __init__(self, path: Path) -> None:
        import fcntl  # noqa: PLC0415 - not on every system

        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(f"{path}{_SUFFIX}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.held = True
        except OSError:
            self.held = False

    def close(self) -> None:
        """Harmless when done twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
            self.held = False
