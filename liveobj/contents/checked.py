"""Owns the knowledge which contents on this disk are right: those that were checked since a program
that wrote contents last ended uncleanly.

A content that is right gets a time stamp that stands for the present generation, so looking costs
what it costs to see that the file is there, and whoever changes the file takes the stamp off. While
contents are written there is a mark on the disk; a mark whose writer is gone begins a new
generation, and everything is checked once more when it is first used.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

from transport.whole_file import write_whole

log = logging.getLogger(__name__)

_GENERATION = ".generation"
_MARK = re.compile(r"\.writing-(\d+)")
# Times that no file has by itself: a span in 1970, in steps that every file system can keep.
_STAMP_FIRST_S, _STAMP_STEP_S, _GENERATIONS_MAX = 1_000_000, 2, 5_000_000
_NS = 1_000_000_000


def is_bookkeeping(name: str) -> bool:
    """Whether a file in the folder is none of the contents, but says something about them."""
    return name == _GENERATION or _MARK.fullmatch(name) is not None


def boot_id() -> str:
    """What tells this run of the system from all others; empty where there is no such thing."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


class CheckedContents:
    """Of one folder, in one process. `boot` and `runs` are those of the system but in tests."""

    def __init__(
        self,
        folder: Path,
        *,
        process: int,
        boot: str,
        runs: Callable[[int], bool] = is_running,
    ) -> None:
        self._folder = folder
        self._process = process
        self._boot = boot
        self._mark = folder / f".writing-{process}"
        self._marked = False
        self._generation = self._begin(runs)
        # Where a disk keeps no stamps: what a file looked like when it was found to be right.
        self._seen: dict[str, tuple[int, int, int]] = {}

    @property
    def generation(self) -> int:
        return self._generation

    def is_right(self, path: Path) -> bool:
        """Whether the file is there, and was checked since nobody knows of a change."""
        try:
            status = path.stat()
        except OSError:
            return False
        if not stat.S_ISREG(status.st_mode):
            return False
        # Another program of this profile may know a later generation than this one.
        return _generation_of(status.st_mtime_ns) >= self._generation or self._seen.get(
            path.name
        ) == _look_of(status)

    def approve(self, path: Path) -> None:
        """The file has been found to be right."""
        try:
            os.utime(path, ns=(self._stamp_ns, self._stamp_ns))
        except OSError:
            with contextlib.suppress(OSError):
                self._seen[path.name] = _look_of(path.stat())

    def writing(self) -> None:
        """From now on contents are written: whoever finds this and no end checks them."""
        if self._marked:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._mark, self._boot.encode())
            if self._read() is None:
                write_whole(self._folder / _GENERATION, str(self._generation).encode())
        except OSError as problem:
            log.warning("an unclean end would not be noticed: %s", problem)
            return
        self._marked = True

    def end(self) -> None:
        """Everything that was written is whole. Harmless when done twice."""
        if self._marked and self._process == os.getpid():
            self._marked = False
            with contextlib.suppress(OSError):
                self._mark.unlink(missing_ok=True)

    @property
    def _stamp_ns(self) -> int:
        return (_STAMP_FIRST_S + _STAMP_STEP_S * self._generation) * _NS

    def _begin(self, runs: Callable[[int], bool]) -> int:
        """Finds the present generation, or begins another one after an unclean end."""
        left = [mark for mark in self._marks() if self._is_left(mark, runs)]
        known = self._read()
        if known is not None and not left:
            return known
        generation = (self._newest_stamp() if known is None else known) + 1
        if self._folder.is_dir():
            try:
                write_whole(self._folder / _GENERATION, str(generation).encode())
                for mark in left:
                    mark.unlink(missing_ok=True)
            except OSError as problem:
                log.warning("contents are checked again the next time: %s", problem)
        return generation

    def _marks(self) -> list[Path]:
        try:
            return [each for each in self._folder.iterdir() if _MARK.fullmatch(each.name)]
        except OSError:
            return []

    def _is_left(self, mark: Path, runs: Callable[[int], bool]) -> bool:
        found = _MARK.fullmatch(mark.name)
        assert found is not None, "it was found by its name"
        process = int(found[1])
        try:
            same_boot = mark.read_bytes() == self._boot.encode()
        except OSError:
            same_boot = False
        return not (same_boot and process != self._process and runs(process))

    def _read(self) -> int | None:
        try:
            text = (self._folder / _GENERATION).read_text(encoding="ascii")
            generation = int(text)
        except (OSError, ValueError):
            return None
        return generation if 0 < generation < _GENERATIONS_MAX else None

    def _newest_stamp(self) -> int:
        """The newest generation of which there is a stamp: where its number was lost."""
        newest = 0
        for folder, _, names in os.walk(self._folder):
            for name in names:
                with contextlib.suppress(OSError):
                    stamp_ns = (Path(folder) / name).stat().st_mtime_ns
                    newest = max(newest, _generation_of(stamp_ns))
        return newest


def _generation_of(time_ns: int) -> int:
    """The generation that a stamp stands for; 0 for a time that is none."""
    steps, rest = divmod(time_ns - _STAMP_FIRST_S * _NS, _STAMP_STEP_S * _NS)
    return steps if not rest and 0 < steps < _GENERATIONS_MAX else 0


def _look_of(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_size, status.st_mtime_ns


_in_use: dict[Path, CheckedContents] = {}


def checked_in(folder: Path) -> CheckedContents:
    """The one of this process for that folder."""
    folder = folder.absolute()
    if folder not in _in_use:
        _in_use[folder] = CheckedContents(folder, process=os.getpid(), boot=boot_id())
    return _in_use[folder]


@atexit.register
def end_all() -> None:
    """This process ends as it should."""
    for checked in _in_use.values():
        checked.end()
    _in_use.clear()
