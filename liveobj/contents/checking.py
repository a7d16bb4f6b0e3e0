"""Owns the checking of contents against their names, a piece at a time between other work, so that
nobody waits for large ones."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

from liveobj.contents.store import ContentStore
from liveobj.host import Scheduler, TimerHandle
from transport.bulk import CONTENT_ID_BYTES

log = logging.getLogger(__name__)

# What is read in one turn: about a millisecond's work.
TURN_BYTES = 1 << 20
TURN_FILES = 32


class ContentChecks:
    """A queue. `done(name, right)` is told of each content; one that is wrong has been removed by
    then, one that cannot be read is passed over from then on."""

    def __init__(
        self, store: ContentStore, scheduler: Scheduler, done: Callable[[str, bool], None]
    ) -> None:
        self._store = store
        self._scheduler = scheduler
        self._done = done
        self._queue: dict[str, None] = {}
        self._unreadable: set[str] = set()
        self._current: _Check | None = None
        self._timer: TimerHandle | None = None

    def __contains__(self, name: object) -> bool:
        return name in self._queue

    def add(self, name: str) -> None:
        """Checks a content soon, unless it is in the queue or could not be read before."""
        if name in self._queue or name in self._unreadable:
            return
        self._queue[name] = None
        if self._timer is None:
            self._timer = self._scheduler.call_later(0.0, self._turn)

    def progress(self, name: str) -> tuple[int, int]:
        """How many of its bytes have been checked, and how many there are as far as is known."""
        current = self._current
        if current is None or current.name != name:
            return 0, 1
        return current.done, current.size

    def close(self) -> None:
        self._queue.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._current is not None:
            self._current.close()
            self._current = None

    def _turn(self) -> None:
        self._timer = None
        left, files = TURN_BYTES, 0
        while self._queue and left > 0 and files < TURN_FILES:
            name = next(iter(self._queue))
            read, right = self._step(name)
            left -= read
            if right is not None:
                files += 1
                self._finish(name, right)
        if self._queue and self._timer is None:
            self._timer = self._scheduler.call_later(0.0, self._turn)

    def _step(self, name: str) -> tuple[int, bool | None]:
        """Reads one piece: how many bytes, and, at the end, whether they are right."""
        try:
            if self._current is None:
                self._current = _Check(name, self._store.place(name))
            read = self._current.step()
            if read:
                return read, None
            if self._current.has_changed():  # somebody has put another one there meanwhile
                self._current.close()
                self._current = None
                return 1, None
            return 0, self._current.is_right
        except FileNotFoundError:
            return 0, False
        except OSError as problem:
            log.warning("a content cannot be read: %s", problem)
            self._unreadable.add(name)
            return 0, False

    def _finish(self, name: str, right: bool) -> None:
        if self._current is not None:
            self._current.close()
            self._current = None
        self._queue.pop(name, None)
        if right:
            self._store.approve(name)
        elif name not in self._unreadable:
            log.warning("a content was damaged and is removed: %s", name)
            self._store.remove_damaged(name)
        self._done(name, right)


class _Check:
    """One content that is being read; `done` bytes of `size` have been."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.done = 0
        self._path = path
        self._file = path.open("rb")
        self._began = os.fstat(self._file.fileno())
        self.size = self._began.st_size
        self._digest = blake2b(digest_size=CONTENT_ID_BYTES)

    def step(self) -> int:
        piece = self._file.read(TURN_BYTES)
        self._digest.update(piece)
        self.done += len(piece)
        return len(piece)

    def has_changed(self) -> bool:
        """Whether the file of that name is not the one that was read."""
        now, began = self._path.stat(), self._began
        return (now.st_ino, now.st_size, now.st_mtime_ns) != (
            began.st_ino,
            began.st_size,
            began.st_mtime_ns,
        )

    @property
    def is_right(self) -> bool:
        return self._digest.hexdigest() == self.name

    def close(self) -> None:
        self._file.close()
