"""Owns the operations of one writer in a form that is the same at every replica, for hashing.

Replicas cut and join operations as they like: what one has as the insertion of a word, another has
letter by letter. So each is taken apart into its smallest pieces: one letter, one element, one
deletion of one thing. With each run goes what its writer had seen, where that is more than its own
last operation, since positions mean something only together with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import loro

from liveobj.documents.errors import DocumentError, loro_errors
from liveobj.documents.version import Span


def read_operations(doc: loro.LoroDoc, span: Span) -> Iterator[bytes]:
    """One after another, each as canonical JSON."""
    if not len(span):
        return
    wanted = loro.IdSpan(span.peer, loro.CounterSpan(span.start, span.end))
    with loro_errors(DocumentError, "The changes could not be read"):
        changes: list[dict[str, Any]] = json.loads(doc.export_json_in_id_span(wanted))
    for change in changes:
        start = int(change["id"].partition("@")[0])
        if change["deps"] != [f"{start - 1}@{span.peer}"]:
            yield _canonical(["after", start, sorted(change["deps"])])
        for operation in change["ops"]:
            yield from map(_canonical, _pieces(operation))


def _pieces(operation: dict[str, Any]) -> Iterator[list[Any]]:
    counter, container = operation["counter"], operation["container"]
    match operation["content"]:
        case {"type": "insert", "pos": int(position), "text": str(inserted)}:
            for index, letter in enumerate(inserted):
                yield [counter + index, container, "insert", position + index, letter]
        case {"type": "insert", "pos": int(position), "value": [*values]}:
            for index, value in enumerate(values):
                yield [counter + index, container, "insert", position + index, value]
        case {"type": "delete", "pos": int(position), "len": int(length), "start_id": str(first)}:
            # A negative length: backwards from `position`, as the backspace key does.
            number, _, peer = first.partition("@")
            for index in range(abs(length)):
                at = position if length > 0 else position - index
                victim = index if length > 0 else -length - 1 - index
                yield [counter + index, container, "delete", at, f"{int(number) + victim}@{peer}"]
        case content:
            yield [counter, container, content]


def _canonical(piece: list[Any]) -> bytes:
    return json.dumps(piece, sort_keys=True, separators=(",", ":")).encode()
