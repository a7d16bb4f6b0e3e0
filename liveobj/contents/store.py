"""Owns the contents on this disk: files named by the hash of what is in them, within a quota.

A content that is there is whole and right: it gets its name only then.
"""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path

from liveobj.errors import Problem
from transport.bulk import CONTENT_ID_BYTES, content_id
from transport.sentences import worded

QUOTA_BYTES = 20 * 10**9
_PIECE_BYTES = 1 << 20


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
        self.quota_bytes = quota_bytes

    def place(self, name: str) -> Path:
        """Where a content is, or would be."""
        assert is_content_name(name), "checked where it came in"
        return self._folder / name[:2] / name

    def find(self, name: str) -> Path | None:
        path = self.place(name)
        return path if path.is_file() else None

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
            new = path.with_name(f"{name}.new")
            try:
                new.write_bytes(data)
                new.replace(path)
            except OSError as problem:
                raise ContentProblem(
                    worded("The disk refuses: {reason}.", reason=problem.strerror)
                ) from problem
        return name

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
            room = store.make_room("0" * 2 * CONTENT_ID_BYTES, self.size)
            self._new = room.with_name(f"{os.getpid()}-{id(self)}.new")
            self._file = source.open("rb")
            self._copy = self._new.open("wb")
        except OSError as problem:
            raise ContentProblem(
                worded("It cannot be read: {reason}.", reason=problem.strerror)
            ) from problem
        self._digest = blake2b(digest_size=CONTENT_ID_BYTES)
        self._size_max = size_max

    def step(self) -> bool:
        """Does one piece; whether there is more. Raises ContentProblem, and nothing is kept."""
        try:
            piece = self._file.read(_PIECE_BYTES)
            self._digest.update(piece)
            self._copy.write(piece)
            self.done += len(piece)
            if self.done > self._size_max:
                raise ContentProblem(
                    worded("It has more than {most} MB.", most=self._size_max // 1024**2)
                )
            if piece:
                return True
            self._finish()
        except OSError as problem:
            self.cancel()
            raise ContentProblem(
                worded("It cannot be copied: {reason}.", reason=problem.strerror)
            ) from problem
        except ContentProblem:
            self.cancel()
            raise
        return False

    def _finish(self) -> None:
        self._close()
        name = self._digest.hexdigest()
        path = self._store.place(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._new.replace(path)
        self.size = self.done
        self.name = name

    def cancel(self) -> None:
        self._close()
        self._new.unlink(missing_ok=True)

    def _close(self) -> None:
        self._file.close()
        self._copy.close()
