"""Owns how every file of the product is written: whole and durable, or not at all.

A file grows under a temporary name in a folder of the same disk. Only when all of it has reached
the disk does it get its name, and the folder is synced as well: after a power cut there is the old
file or the new one, never half of one. Whoever writes gets an OSError and gives the sentence.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

PRIVATE = 0o600
_NAMES_TRIED_MAX = 1000
_TEMPORARY = re.compile(r"\.live-objects-(\d+)-\d+\.partial")
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)
_NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS)

_numbers = itertools.count(1)
_being_written: set[str] = set()


class WholeFile:
    """A file that is being written. Use it in a `with` block, which removes the temporary file, and
    call `finish` when all is written. `rights` are those of a new file."""

    def __init__(self, path: Path, *, rights: int = PRIVATE, replace: bool = True) -> None:
        self._path = _target(path) if replace else path
        self._replace = replace
        self.temporary, self.descriptor = _new_temporary(self._path.parent)
        try:
            self._set_rights(rights)
        except BaseException:
            self.cancel()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.cancel()

    def write(self, data: bytes | memoryview) -> None:
        """Appends all of it, however little the system takes at a time."""
        left = memoryview(data)
        while left:
            left = left[os.write(self.descriptor, left) :]

    def finish(self, path: Path | None = None) -> None:
        """Puts the file in its place, or in another one of the same disk that is known only now."""
        if path is not None:
            self._path = path
        _sync(self.descriptor)
        self._close()
        if self._replace:
            self.temporary.replace(self._path)
        else:
            _link(self.temporary, self._path)
        sync_folder(self._path.parent)

    def cancel(self) -> None:
        """Removes what was written, unless it is finished. Harmless when done twice."""
        self._close()
        if self.temporary.name in _being_written:
            _being_written.discard(self.temporary.name)
            with contextlib.suppress(OSError):
                self.temporary.unlink(missing_ok=True)

    def _close(self) -> None:
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _set_rights(self, rights: int) -> None:
        """A new file has them already if it is private; the umask would narrow others."""
        if rights == PRIVATE or os.name != "posix":
            return
        with contextlib.suppress(PermissionError):  # Some disks know no rights.
            os.fchmod(self.descriptor, rights)


def write_whole(path: Path, data: bytes, *, rights: int = PRIVATE, replace: bool = True) -> None:
    """Writes a file that nobody else can read, unless other rights are asked for. Without `replace`
    a name that is taken raises FileExistsError."""
    with WholeFile(path, rights=rights, replace=replace) as file:
        file.write(data)
        file.finish()


def export_whole(path: Path, data: bytes) -> None:
    """Writes a file that a person saves: with the rights that their files have."""
    write_whole(path, data, rights=export_rights(path))


def export_with(path: Path, write: Callable[[Path], None]) -> None:
    """The same for whoever can only write into a file of its own opening."""
    with WholeFile(path, rights=export_rights(path)) as file:
        write(file.temporary)
        file.finish()


def put_in_place(part: Path, path: Path) -> None:
    """Gives a file that has grown under another name its own one, once the disk has all of it."""
    descriptor = os.open(part, os.O_RDONLY)
    try:
        _sync(descriptor)
    finally:
        os.close(descriptor)
    part.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Waits until the disk has the names in a folder."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _sync(descriptor)
    finally:
        os.close(descriptor)


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as problem:
        if problem.errno not in _NO_SYNC:  # Some file systems cannot be asked.
            raise


def export_rights(path: Path) -> int:
    """The rights of a file that is replaced; for a new one those that the user's umask leaves."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(path.stat().st_mode) & 0o777
    return 0o666 & ~users_umask()


@contextlib.contextmanager
def private_files() -> Iterator[None]:
    """For as long as this lasts, whatever this process makes is its user's alone; exports have the
    rights that they had."""
    before = os.umask(0o077)
    _umasks.append(before)
    try:
        yield
    finally:
        _umasks.pop()
        os.umask(before)


@contextlib.contextmanager
def users_rights() -> Iterator[None]:
    """Inside, what is made has the rights of the user's other files: for folders of exports, and
    for other programs that are started, which inherit this."""
    before = os.umask(users_umask())
    try:
        yield
    finally:
        os.umask(before)


def users_umask() -> int:
    """Which rights the user takes off their files, whatever this process does."""
    if _umasks:
        return _umasks[0]
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def remove_leftovers(folder: Path) -> int:
    """Removes what crashed programs have left half written in a folder of ours; returns how
    many. What a running program is writing stays."""
    removed = 0
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = _TEMPORARY.fullmatch(entry.name)
            if found and entry.name not in _being_written and not _writes(int(found[1])):
                with contextlib.suppress(OSError):
                    Path(entry).unlink()
                    removed += 1
    return removed


# What it was before, while this process is private.
_umasks: list[int] = []


def _target(path: Path) -> Path:
    """Where a link leads: the file that it means is replaced, not the link."""
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    with contextlib.suppress(FileNotFoundError):
        kind = target.stat().st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(kind):
            raise OSError(errno.EINVAL, "It is not a regular file", str(path))
    return target


def _new_temporary(folder: Path) -> tuple[Path, int]:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    for number in itertools.islice(_numbers, _NAMES_TRIED_MAX):
        path = folder / f".live-objects-{os.getpid()}-{number}.partial"
        _being_written.add(path.name)
        try:
            return path, os.open(path, flags, PRIVATE)
        except FileExistsError:  # left by a process that had the same number
            _being_written.discard(path.name)
        except BaseException:
            _being_written.discard(path.name)
            raise
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))


def _link(temporary: Path, path: Path) -> None:
    """Unlike a rename, a link fails where the name is taken, also by somebody just now."""
    try:
        os.link(temporary, path)
    except OSError as problem:
        if problem.errno not in _NO_LINKS:
            raise
        # A disk without links: an empty file takes the name first.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE))
        temporary.replace(path)


def _writes(process: int) -> bool:
    """Whether that process is another one that lives."""
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
