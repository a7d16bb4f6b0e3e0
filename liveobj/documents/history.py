"""Owns looking back: the list of changes that led here, and the document as it was at one of
them."""

from __future__ import annotations

from dataclasses import dataclass

import loro

from liveobj.documents.errors import DocumentError, loro_errors
from liveobj.documents.version import Version
from transport.sentences import worded


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A run of operations of one peer. `version` is the document with them, and with all that their
    writer had seen; `seconds` is when, since 1970, or 0 where nobody took down the time."""

    peer: int
    start: int
    length: int
    seconds: int
    version: Version


def read_history(doc: loro.LoroDoc) -> list[HistoryEntry]:
    """Oldest first."""
    entries: list[HistoryEntry] = []
    seen: set[tuple[int, int]] = set()

    def visit(change: loro.ChangeMeta) -> bool:
        if (change.id.peer, change.id.counter) in seen:  # reached from two of the newest
            return False
        seen.add((change.id.peer, change.id.counter))
        last = loro.ID(change.id.peer, change.id.counter + change.len - 1)
        vector = doc.frontiers_to_vv(loro.Frontiers.from_id(last))
        version = Version() if vector is None else Version.of(vector)
        entries.append(
            HistoryEntry(change.id.peer, change.id.counter, change.len, change.timestamp, version)
        )
        return False  # that is: do not stop

    newest = [loro.ID(peer, end - 1) for peer, end in Version.of(doc.oplog_vv).ends.items()]
    with loro_errors(DocumentError, "The history cannot be read"):
        doc.travel_change_ancestors(newest, visit)
    return entries[::-1]


def fork_at(doc: loro.LoroDoc, version: Version) -> loro.LoroDoc:
    """A copy of the document as it was; raises DocumentError for a version it never had."""
    if not Version.of(doc.oplog_vv).includes(version):
        raise DocumentError(worded("This document has never been at that version."))
    with loro_errors(DocumentError, "That version cannot be shown"):
        return doc.fork_at(doc.vv_to_frontiers(version.vector()))


def revert(doc: loro.LoroDoc, version: Version) -> None:
    """Edits the document so that it is as it was then."""
    if not Version.of(doc.oplog_vv).includes(version):
        raise DocumentError(worded("This document has never been at that version."))
    with loro_errors(DocumentError, "That version cannot be brought back"):
        doc.revert_to(doc.vv_to_frontiers(version.vector()))
