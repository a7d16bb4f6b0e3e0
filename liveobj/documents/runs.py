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
    """Characters or items `start` to `end` (exclusive) of one peer, in one text or list."""

    container: str
    peer: int
    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


def read_runs(doc: loro.LoroDoc, span: Span) -> Iterator[Run]:
    """The insertions of one peer, joined as loro would join them, or more."""
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
            inserted = _inserted(operation["content"])
            if inserted is not None:
                position, length = inserted
                start, container = operation["counter"], operation["container"]
                goes_on = start == run.end and container == run.container
                if not goes_on or not (elsewhere or position == place):
                    yield run
                    run = Run(container, span.peer, start, start)
                run.end, place = start + length, position + length
            elsewhere = False
    yield run


def _inserted(content: dict[str, Any]) -> tuple[int, int] | None:
    match content:
        case {"type": "insert", "pos": int(position), "text": str(text)}:
            return position, len(text)
        case {"type": "insert", "pos": int(position), "value": [*values]}:
            return position, len(values)
    return None
