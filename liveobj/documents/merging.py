"""Owns the merging of updates into one snapshot, where nobody observes the document.

loro computes what has changed only for those who listen; of a long text in many runs that takes
time that grows with the square of its length, and merging without it takes none.
"""

from __future__ import annotations

from collections.abc import Iterable

import loro

from liveobj.documents.errors import BadUpdate, DocumentError, loro_errors
from liveobj.documents.version import Version


def merge_updates(updates: Iterable[bytes]) -> tuple[bytes, Version]:
    """One snapshot of all these, with its version; raises BadUpdate where one is none."""
    doc = loro.LoroDoc()
    doc.detach()  # the state is made once, in the end, and not after each update
    with loro_errors(BadUpdate, "These bytes are not an update"):
        for update in updates:
            doc.import_(update)
        doc.checkout_to_latest()
    with loro_errors(DocumentError, "The document could not be exported"):
        return bytes(doc.export(loro.ExportMode.Snapshot())), Version.of(doc.oplog_vv)
