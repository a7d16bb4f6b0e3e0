"""Folds the stored history of one object: many updates become one snapshot, the file its size.

For objects that no program has open. The snapshot has the whole history and is compared, read back,
with what it replaces before anything is changed; what cannot be folded is left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from liveobj.documents import BadUpdate, Document, Origin
from liveobj.storage.damage import StorageBusy
from liveobj.storage.object_store import ObjectStore
from transport.sentences import worded


@dataclass(frozen=True, slots=True)
class Folded:
    """What came of it; `why_not` is a sentence where nothing was done."""

    updates: int
    bytes_before: int
    bytes_after: int
    why_not: str = ""


def fold_stored(path: Path) -> Folded:
    """Folds a database; raises StorageError where the disk refuses."""
    before = path.stat().st_size
    try:
        store = ObjectStore(path, alone=True)
    except StorageBusy:
        return Folded(
            0, before, before, worded("It is open in another program: close it there first.")
        )
    try:
        updates = list(store.updates())

        def left(why: str) -> Folded:
            return Folded(len(updates), before, before, why)

        if store.rescue is not None:
            return left("It was damaged and has been rescued: open it first.")
        if any(update.signature for update in updates):
            return left("It holds what others have signed, and nobody here could sign for them.")
        document = Document(1, editable=False)
        try:
            waiting = [document.import_update(each.data, Origin.STORED).waiting for each in updates]
        except BadUpdate:
            return left(
                "It is no document, or damaged: open it, so that it comes again from others."
            )
        if not updates or any(waiting[-1:]):
            return left("There is nothing in it that could be folded.")
        snapshot = document.export_snapshot()
        if not _is_same(document, snapshot):
            return left("It would not have been the same afterwards.")
        if len(updates) > 1:
            store.compact(snapshot)
        store.shrink()
    finally:
        store.close()
    return Folded(len(updates), before, path.stat().st_size)


def _is_same(document: Document, snapshot: bytes) -> bool:
    again = Document(1, editable=False)
    try:
        again.import_update(snapshot, Origin.STORED)
    except BadUpdate:
        return False
    same_history = again.version.includes(document.version)
    return same_history and again.to_plain() == document.to_plain()
