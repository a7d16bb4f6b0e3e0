"""Owns finding the long runs in a document: what one writer has inserted in one go, without a
seam."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import loro

from liveobj.documents.errors import DocumentError, loro_errors
from liveobj.documents.version import Span


@dataclass(slots=True)
class Run:
    """Characters `start` to `end` (exclusive) of one peer, in one text."""

    container: str
    peer: int
    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


def read_runs(doc: loro.LoroDoc, span: Span) -> Iterator[Run]:
    """The insertions of one peer into texts, joined as loro would join them or more."""
    if not len(span):
        return
    wanted = loro.IdSpan(span.peer, loro.CounterSpan(span.start, span.end))
    with loro_errors(DocumentError, "The changes could not be read"):
        changes: list[dict[str, Any]] = json.loads(doc.export_json_in_id_span(wanted))
    run, place = Run("", span.peer, span.start, span.start), 0
    for change in changes:
        # After what others did, the same place may have another number.
        elsewhere = True
        for operation in change["ops"]:
            match operation["content"]:
                case {"type": "insert", "pos": int(position), "text": str(text)}:
                    start, container = operation["counter"], operation["container"]
                    goes_on = start == run.end and container == run.container
                    if not goes_on or not (elsewhere or position == place):
                        yield run
                        run = Run(container, span.peer, start, start)
                    run.end = start + len(text)
                    place = position + len(text)
            elsewhere = False
    yield run
