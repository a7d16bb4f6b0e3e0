"""The objects that were live in this profile, found by their groups: for advice about them.

A reference file is read once; only objects that have a database here count, so nothing is ever
opened that the person has not opened before.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from app.paths import Paths
from liveobj.references import (
    Reference,
    ReferenceProblem,
    fingerprint,
    group_id_of,
    read_reference_file,
)

FILES_MAX = 2000


class KnownObjects:
    """References by group. `look` reads a few more files; `all_read` says that there are none."""

    def __init__(self, paths: Paths, more: tuple[Path, ...] = ()) -> None:
        self._objects = paths.objects
        self._left = self._files(paths, more)
        self._found: dict[str, Reference] = {}
        self.all_read = False

    def look(self, files: int) -> None:
        """Reads that many more files."""
        before = 0
        for file in islice(self._left, files):
            before += 1
            try:
                reference = read_reference_file(file)
            except (ReferenceProblem, OSError):
                continue
            self.add(reference)
        self.all_read = before < files

    def add(self, reference: Reference) -> None:
        """A reference that is known anyhow."""
        identity = fingerprint(reference)
        if (self._objects / f"{identity}.db").exists():
            self._found[group_id_of(identity).hex()] = reference

    def find(self, group: str) -> Reference | None:
        return self._found.get(group)

    @staticmethod
    def _files(paths: Paths, more: tuple[Path, ...]) -> Iterator[Path]:
        own = islice(paths.references.glob("*.liveobject"), FILES_MAX)
        yield from dict.fromkeys([*more, *own])
