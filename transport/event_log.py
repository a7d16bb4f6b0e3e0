"""Owns the writing of event logs: a buffer, an open segment, and a folder of closed ones.

Recording a row packs it into memory and does nothing else; `flush` hands what has gathered to the
system in one write. Neither ever raises or waits for a disk: what the disk does not take is
dropped, counted, and told in the log itself as a LOST record. Nothing is synced to the disk, since
a log that loses its last second in a power cut is worth more than a program that stops for it; the
reader survives a torn end. Times are handed in.

Segments are closed after a minute or 64 MB: they move from `open/` to `closed/` by a rename, where
the pipeline finds them whole, and turns them into Parquet in a process of its own.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from transport.event_log_schema import (
    CLOSED_FOLDER,
    MARK,
    OPEN_FOLDER,
    SEGMENT_BYTES_MAX,
    SEGMENT_S_MAX,
    SUFFIX,
    VERSION,
    Record,
    frame,
)

log = logging.getLogger(__name__)

BUFFER_BYTES_MAX = 1 << 20
# All closed segments together; the oldest give way.
FOLDER_BYTES_MAX = 256 * 1024 * 1024
FOLDER_SEGMENTS_MAX = 2000


class EventLog:
    """One writer of segments in `folder`. `wall_ns` is the time since 1970, `clock` monotonic.

    `on_closed` is told of every segment that was closed. `close` ends the segment; an instance that
    was not closed (a crash) leaves its segment in `open/`, from where the next one moves it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        program: str,
        scope_label: str,
        counter_names: Sequence[str],
        wall_ns: Callable[[], int],
        clock: Callable[[], float],
        segment_bytes_max: int = SEGMENT_BYTES_MAX,
        segment_s_max: float = SEGMENT_S_MAX,
        folder_bytes_max: int = FOLDER_BYTES_MAX,
        on_closed: Callable[[], None] = lambda: None,
    ) -> None:
        self.lost_records = 0
        self._open_folder = folder / OPEN_FOLDER
        self._closed_folder = folder / CLOSED_FOLDER
        self._program = program
        self._scope_label = scope_label
        self._counter_names = list(counter_names)
        self._wall_ns = wall_ns
        self._clock = clock
        self._segment_bytes_max = segment_bytes_max
        self._segment_s_max = segment_s_max
        self._folder_bytes_max = folder_bytes_max
        self._on_closed = on_closed
        self._buffer = bytearray()
        # The descriptor and the path of the open segment.
        self._file: int | None = None
        self._path = folder
        self._bytes = 0
        self._started_s = 0.0
        self._number = 0
        self._untold = 0
        self._refused = False
        self._rescue()

    def record(self, kind: Record, *values: Any) -> None:
        """Keeps one row until the next `flush`; drops it when too much waits already."""
        try:
            data = frame(kind, self._wall_ns(), values)
        except (ValueError, TypeError, OverflowError):
            self._lose(1)
            log.debug("a %s record cannot be written", kind.name, exc_info=True)
            return
        if len(self._buffer) + len(data) > BUFFER_BYTES_MAX:
            self._lose(1)
        else:
            self._buffer += data

    @property
    def waiting(self) -> bool:
        """Whether there is something to flush."""
        return bool(self._buffer)

    def flush(self) -> None:
        """Hands what was recorded to the system; closes the segment when it is old or large."""
        if self._buffer:
            self._write()
        if self._file is not None and self._is_full():
            self._end_segment()

    def close(self) -> None:
        """Writes what is left and ends the segment. Harmless when done twice."""
        if self._buffer:
            self._write()
        self._end_segment()

    def _is_full(self) -> bool:
        age_s = self._clock() - self._started_s
        return self._bytes >= self._segment_bytes_max or age_s >= self._segment_s_max

    def _write(self) -> None:
        # The record of a loss comes in a fresh buffer, so that it is never lost for want of room.
        told = frame(Record.LOST, self._wall_ns(), (self._untold,)) if self._untold else b""
        data, self._buffer = bytes(self._buffer) + told, bytearray()
        try:
            file = self._begin_segment() if self._file is None else self._file
            written = os.write(file, data)
            self._bytes += written
            if written < len(data):
                raise OSError(28, "the disk is full")
        except OSError as problem:
            self._lose(data.count(MARK) - bool(told))
            self._end_segment()
            if not self._refused:
                self._refused = True
                log.warning("events are not logged: %s", problem.strerror)
        else:
            self._untold = 0
            self._refused = False

    def _lose(self, records: int) -> None:
        self.lost_records += records
        self._untold += records

    # Segments

    def _begin_segment(self) -> int:
        for folder in (self._open_folder, self._closed_folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._number += 1
        time_ns = self._wall_ns()
        # Names sort by time; process and number make them unique.
        name = f"{time_ns:020d}-{os.getpid()}-{self._number}{SUFFIX}"
        path = self._open_folder / name
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        _hold(descriptor)
        self._file = descriptor
        self._path = path
        self._bytes = 0
        self._started_s = self._clock()
        monotonic_ns = int(self._started_s * 1e9)
        head = (VERSION, self._program, self._scope_label, monotonic_ns, self._counter_names)
        os.write(descriptor, frame(Record.SEGMENT, time_ns, head))
        return descriptor

    def _end_segment(self) -> None:
        descriptor, self._file = self._file, None
        if descriptor is None:
            return
        os.close(descriptor)
        try:
            self._path.rename(self._closed_folder / self._path.name)
            self._make_room()
        except OSError as problem:
            log.warning("a segment of the event log stays open: %s", problem.strerror)
            return
        self._on_closed()

    def _make_room(self) -> None:
        """Removes the oldest segments, until the rest is within its bounds."""
        segments = sorted(self._closed_folder.glob(f"*{SUFFIX}"), reverse=True)
        total = 0
        for count, path in enumerate(segments, 1):
            total += path.stat().st_size
            if total > self._folder_bytes_max or count > FOLDER_SEGMENTS_MAX:
                path.unlink(missing_ok=True)

    def _rescue(self) -> None:
        """Closes segments that nobody writes any more: their program has crashed."""
        try:
            for path in sorted(self._open_folder.glob(f"*{SUFFIX}")):
                if _is_abandoned(path):
                    self._closed_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                    path.rename(self._closed_folder / path.name)
        except OSError as problem:
            log.info("an old segment of the event log stays open: %s", problem.strerror)


def _hold(descriptor: int) -> None:
    """Marks the file as being written, for as long as this process lives."""
    if os.name == "posix":
        import fcntl  # noqa: PLC0415 - not on every system

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_abandoned(path: Path) -> bool:
    if os.name != "posix":
        return True  # Where files cannot be locked this way, one in use cannot be renamed either.
    import fcntl  # noqa: PLC0415 - not on every system

    with path.open("rb") as file:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True
