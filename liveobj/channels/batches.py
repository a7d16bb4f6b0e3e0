"""Owns signed updates as their editors signed them, so that one who cannot sign can pass them on.

An editor merges and signs anew whatever is asked for. A viewer has no key: what it gives to others
must be, byte for byte, what some editor has signed. So it keeps the batches that it was given.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import loro

from liveobj.documents.errors import BadUpdate, loro_errors
from liveobj.documents.version import Span, Version


@dataclass(frozen=True, slots=True)
class Batch:
    """One update with its signature, and what it covers."""

    data: bytes
    signature: bytes
    start: Version
    end: Version

    @classmethod
    def read(cls, data: bytes, signature: bytes) -> Batch:
        with loro_errors(BadUpdate, "These bytes are not an update"):
            meta = loro.LoroDoc.decode_import_blob_meta(data, True)
        return cls(
            data, signature, Version.of(meta.partial_start_vv), Version.of(meta.partial_end_vv)
        )

    def overlaps(self, span: Span) -> bool:
        return self.end.end(span.peer) > span.start and self.start.end(span.peer) < span.end


class BatchLog:
    """Batches in order of arrival. The store takes those that are `unsaved`, from where it
    left off."""

    def __init__(self) -> None:
        self._batches: list[Batch] = []
        # How many the store has taken; fewer again when the disk may have lost some.
        self.saved_count = 0

    def add(self, data: bytes, signature: bytes, *, saved: bool = False) -> None:
        self._batches.append(Batch.read(data, signature))
        if saved:
            self.saved_count = len(self._batches)

    def overlapping(self, spans: Iterable[Span]) -> list[Batch]:
        wanted = list(spans)
        return [b for b in self._batches if any(b.overlaps(span) for span in wanted)]

    @property
    def unsaved(self) -> list[Batch]:
        return self._batches[self.saved_count :]
