"""Owns finding out that two writers have used one identity, so that two copies of a document differ
although their versions are the same.

A virtual machine that is resumed twice from one snapshot does that, or an editor who wants to. Both
write different operations under the same numbers, which no version shows. So members sign marks:
for a writer, a hash over some of its operations. Whoever has these operations too compares, and who
has fewer is answered with a mark that ends where it ends. Marks are about the writers who are here,
and in each view about some others, drawn by the number of the view, the same at all members.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import msgpack

from liveobj.channels.messages import BadMessage
from liveobj.documents import Document
from liveobj.documents.version import Span

# A mark is about so many operations at most, the last ones.
WINDOW = 500
DRAWN_MAX = 16
MARKS_MAX = 128
HASH_BYTES = 16


@dataclass(frozen=True, slots=True)
class Mark:
    """The hash of operations `start` to `end` of one writer, as the one who marks has them."""

    peer: int
    start: int
    end: int
    digest: bytes

    @property
    def span(self) -> Span:
        return Span(self.peer, self.start, self.end)


def pack_marks(node: int, marks: Iterable[Mark]) -> bytes:
    """Marks of a node, to be signed: nobody else can send them as its own."""
    items = [[mark.peer, mark.start, mark.end, mark.digest] for mark in marks]
    packed: bytes = msgpack.packb([1, node, items], use_bin_type=True)
    return packed


def read_marks(data: bytes) -> tuple[int, list[Mark]]:
    """The node and its marks, or BadMessage."""
    try:
        body = msgpack.unpackb(data, raw=False, max_array_len=2 * MARKS_MAX, max_ext_len=0)
    except Exception as problem:  # msgpack has many ways to say no
        raise BadMessage(f"marks that cannot be unpacked ({problem})") from None
    match body:
        case [1, int(node), [*items], *_] if len(items) <= MARKS_MAX:
            return node, [_mark(item) for item in items]
    raise BadMessage("marks that are none")


def _mark(item: object) -> Mark:
    match item:
        case [int(peer), int(start), int(end), bytes(digest)]:
            sound = 0 <= peer < 1 << 64 and 0 <= start < end < 1 << 31
            if sound and end - start <= WINDOW and len(digest) == HASH_BYTES:
                return Mark(peer, start, end, digest)
    raise BadMessage("a mark that is none")


class TwinCheck:
    """Compares the operations of a document with the marks of others."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[tuple[int, int], Mark] = {}  # by writer and end

    def marks(self, writers: Iterable[int], drawn_by: int) -> list[Mark]:
        """Of these writers, and of some others that are drawn by a number."""
        ends = self._document.version.ends
        if not self._document.editable:  # its own stay here
            ends = {peer: end for peer, end in ends.items() if peer != self._document.peer_id}
        chosen = {peer for peer in writers if peer in ends}
        others = sorted(ends.keys() - chosen, key=lambda peer: _draw(drawn_by, peer))
        chosen.update(others[:DRAWN_MAX])
        known, self._known = self._known, {}
        for peer in sorted(chosen)[:MARKS_MAX]:
            mark = known.get((peer, ends[peer])) or self._make(peer, ends[peer])
            self._known[peer, ends[peer]] = mark
        return list(self._known.values())

    def _make(self, peer: int, end: int) -> Mark:
        start = max(0, end - WINDOW)
        return Mark(peer, start, end, self._hash(Span(peer, start, end)))

    def _hash(self, span: Span) -> bytes:
        digest = blake2b(digest_size=HASH_BYTES, person=b"liveobj marks")
        for piece in self._document.operations(span):
            digest.update(piece + b"\n")
        return digest.digest()

    def compare(self, marks: Sequence[Mark]) -> tuple[set[int], list[Mark]]:
        """The writers of whom this document holds something else than marked, and marks for one
        who has less of a writer than this document."""
        version, own = self._document.version, self._document.peer_id
        differing: set[int] = set()
        replies: list[Mark] = []
        for mark in marks:
            have = version.end(mark.peer)
            if have < mark.end or (mark.peer == own and not self._document.editable):
                continue
            mine = self._known.get((mark.peer, mark.end))
            same_span = mine is not None and mine.start == mark.start
            digest = mine.digest if mine is not None and same_span else self._hash(mark.span)
            if digest != mark.digest:
                differing.add(mark.peer)
                if have > mark.end:
                    replies.append(Mark(mark.peer, mark.start, mark.end, digest))
        return differing, replies


def _draw(number: int, peer: int) -> bytes:
    return blake2b(f"{number} {peer}".encode(), digest_size=8).digest()
