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
    """One after another, each as canonical JSON; never with a line end inside."""
    for lines in read_lines(doc, span):
        yield from lines.removesuffix(b"\n").split(b"\n")


def read_lines(doc: loro.LoroDoc, span: Span) -> Iterator[bytes]:
    """The same, each on a line; the letters of a run at once, as texts have millions of them."""
    if not len(span):
        return
    wanted = loro.IdSpan(span.peer, loro.CounterSpan(span.start, span.end))
    with loro_errors(DocumentError, "The changes could not be read"):
        changes: list[dict[str, Any]] = json.loads(doc.export_json_in_id_span(wanted))
    for change in changes:
        start = int(change["id"].partition("@")[0])
        if change["deps"] != [f"{start - 1}@{span.peer}"]:
            yield _canonical(["after", start, sorted(change["deps"])]) + b"\n"
        for operation in change["ops"]:
            match operation["content"]:
                case {"type": "insert", "pos": int(position), "text": str(inserted)}:
                    yield _letters(operation, position, inserted)
                case _:
                    yield b"".join(_canonical(piece) + b"\n" for piece in _pieces(operation))


def _pieces(operation: dict[str, Any]) -> Iterator[list[Any]]:
    counter, container = operation["counter"], operation["container"]
    match operation["content"]:
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


def _letters(operation: dict[str, Any], position: int, inserted: str) -> bytes:
    """What `_canonical` makes of `[counter, container, "insert", position, letter]` for each."""
    middle = f',{json.dumps(operation["container"])},"insert",'
    quoted = {letter: json.dumps(letter) for letter in set(inserted)}
    numbers = enumerate(inserted, operation["counter"])
    shift = position - operation["counter"]
    lines = [f"[{at}{middle}{at + shift},{quoted[letter]}]\n" for at, letter in numbers]
    return "".join(lines).encode()


def _canonical(piece: list[Any]) -> bytes:
    return json.dumps(piece, sort_keys=True, separators=(",", ":")).encode()
