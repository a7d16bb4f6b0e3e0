"""Owns the contents on this disk: files named by the hash of what is in them, within a quota.

A content gets its name when it is whole and right. What a crash or somebody has made of it since is
found out before it is used: `find` gives only what is known to be right (`checked.py`), the rest is
checked first (`checking.py`).
"""

from __future__ import annotations

import logging
import os
from concurrent.futures import Future
from hashlib import blake2b
from pathlib import Path

from liveobj.contents.checked import checked_in, is_bookkeeping
from liveobj.errors import Problem
from transport.bulk import CONTENT_ID_BYTES, content_id
from transport.disk_thread import disk_thread
from transport.sentences import worded
from transport.whole_file import WholeFile

log = logging.getLogger(__name__)

QUOTA_BYTES = 20 * 10**9
_PIECE_BYTES = 1 << 20
# How long one turn waits for the disk.
_TURN_S = 0.02


class ContentProblem(Problem):
    """A content that cannot be kept; the text is a sentence."""


def is_content_name(text: object) -> bool:
    """Whether a text from somebody else is the name of a content, in hexadecimal."""
    return (
        isinstance(text, str)
        and len(text) == 2 * CONTENT_ID_BYTES
        and all(character in "0123456789abcdef" for character in text)
    )


class ContentStore:
    """The contents of one profile. Names are hexadecimal; what they may be has been checked."""

    def __init__(self, folder: Path, quota_bytes: int = QUOTA_BYTES) -> None:
        self._folder = folder
        self._checked = checked_in(folder)
        self.quota_bytes = quota_bytes

    def place(self, name: str) -> Path:
        """Where a content is, or would be."""
        assert is_content_name(name), "checked where it came in"
        return self._folder / name[:2] / name

    def find(self, name: str) -> Path | None:
        """The content, if it is here and known to be right."""
        path = self.place(name)
        return path if self._checked.is_right(path) else None

    def is_doubtful(self, name: str) -> bool:
        """Whether something is here under that name that has to be checked first."""
        path = self.place(name)
        return path.is_file() and not self._checked.is_right(path)

    def approve(self, name: str) -> None:
        """What is here under that name has been found to be right."""
        self._checked.approve(self.place(name))

    def remove_damaged(self, name: str) -> None:
        """Takes a wrong content off this disk, so that it can be fetched again."""
        try:
            self.place(name).unlink(missing_ok=True)
        except OSError as problem:
            log.warning("a damaged content stays: %s", problem)

    def make_room(self, name: str, size: int) -> Path:
        """Where to put a content of that size; raises ContentProblem if there is no room."""
        if self.used_bytes() + size > self.quota_bytes:
            raise ContentProblem(
                worded(
                    "There is no room: {most} MB are set aside for contents.",
                    most=self.quota_bytes // 10**6,
                )
            )
        path = self.place(name)
        self._checked.writing()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise ContentProblem(
                worded("The disk refuses: {reason}.", reason=problem.strerror)
            ) from problem
        return path

    def used_bytes(self) -> int:
        """What contents take on the disk, those on their way included."""
        total = 0
        for folder, _, names in os.walk(self._folder):
            for name in names:
                if is_bookkeeping(name):
                    continue
                try:
                    total += (Path(folder) / name).stat().st_size
                except OSError:
                    continue  # gone meanwhile
        return total

    def add_bytes(self, data: bytes) -> str:
        """Keeps these bytes; returns their name."""
        name = content_id(data).hex()
        if self.find(name) is None:
            path = self.make_room(name, len(data))
            try:
                with self.new_file() as file:
                    file.write(data)
                    file.finish(path)
                self.approve(name)
            except OSError as problem:
                raise ContentProblem(
                    worded("The disk refuses: {reason}.", reason=problem.strerror)
                ) from problem
        return name

    def new_file(self) -> WholeFile:
        """A content that is not whole yet. What a crash leaves of them is in one folder. Raises
        OSError."""
        return WholeFile(self._folder / "new")

    def remove(self, name: str) -> None:
        """Takes a content off this disk; whoever else has it keeps it."""
        for path in (self.place(name), self.part(name)):
            path.unlink(missing_ok=True)

    def part(self, name: str) -> Path:
        """Where a content grows while it is fetched."""
        path = self.place(name)
        return path.with_name(f"{name}.part")


class Intake:
    """A file on its way into the store, a piece at a time, so that nobody has to wait for it.

    `step` copies and hashes one piece; `done` is then how much, `name` what it is called, in the
    end."""

    def __init__(self, store: ContentStore, source: Path, size_max: int) -> None:
        self._store = store
        self.name = ""
        self.done = 0
        try:
            self.size = source.stat().st_size
            if self.size > size_max:
                raise ContentProblem(
                    worded("It has more than {most} MB.", most=size_max // 1024**2)
                )
            store.make_room("0" * 2 * CONTENT_ID_BYTES, self.size)
            self._file = source.open("rb")
            self._copy = store.new_file()
        except OSError as problem:
            raise ContentProblem(
                worded("It cannot be read: {reason}.", reason=problem.strerror)
            ) from problem
        self._digest = blake2b(digest_size=CONTENT_ID_BYTES)
        self._size_max = size_max
        self._finishing: Future[None] | None = None

    def step(self) -> bool:
        """Does one piece; whether there is more. Raises ContentProblem, and nothing is kept."""
        try:
            if self._finishing is not None:
                return not self._has_finished()
            piece = self._file.read(_PIECE_BYTES)
            self._digest.update(piece)
            self._copy.write(piece)
            self.done += len(piece)
            if self.done > self._size_max:
                raise ContentProblem(
                    worded("It has more than {most} MB.", most=self._size_max // 1024**2)
                )
            if not piece:
                # The disk may need seconds for something large, which nobody should feel.
                self._finishing = disk_thread().submit(self._finish, self._digest.hexdigest())
            return True
        except OSError as problem:
            self.cancel()
            raise ContentProblem(
                worded("It cannot be copied: {reason}.", reason=problem.strerror)
            ) from problem
        except ContentProblem:
            self.cancel()
            raise

    def _has_finished(self) -> bool:
        assert self._finishing is not None
        try:
            self._finishing.result(timeout=_TURN_S)
        except TimeoutError:
            if not self._finishing.done():
                return False
            raise
        self._file.close()
        self.size = self.done
        self.name = self._digest.hexdigest()
        return True

    def cancel(self) -> None:
        """Nothing is kept, unless it is about to be whole."""
        self._file.close()
        if self._finishing is None or self._finishing.done():
            self._copy.cancel()

    # In the thread

    def _finish(self, name: str) -> None:
        with self._copy as copy:
            path = self._store.place(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            copy.finish(path)
        self._store.approve(name)
