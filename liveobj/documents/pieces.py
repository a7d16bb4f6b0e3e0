"""Owns cutting operations into updates of a bounded size, in an order in which each builds only on
those before it."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import loro

from liveobj.documents.errors import BadUpdate, loro_errors
from liveobj.documents.version import Span, Version


def causal_pieces(doc: loro.LoroDoc, spans: Iterable[Span], most: int) -> Iterator[list[Span]]:
    """The same operations as `spans`, at most so many at a time."""
    # The clock of an operation is later than those of all that it builds on.
    waiting: list[tuple[int, int, int, int]] = []  # clock, peer, start, end
    ends = {span.peer: span.end for span in spans if len(span)}

    def put(peer: int, start: int) -> None:
        change = doc.get_change(loro.ID(peer, start)) if start < ends[peer] else None
        if change is not None:
            clock = change.lamport + start - change.id.counter
            end = min(ends[peer], change.id.counter + change.len)
            heapq.heappush(waiting, (clock, peer, start, end))

    for span in spans:
        if len(span):
            put(span.peer, span.start)
    piece: dict[int, Span] = {}
    room = most
    while waiting:
        _, peer, start, end = heapq.heappop(waiting)
        while start < end:  # the rest of a change goes first, so that no other comes in between
            until = min(end, start + room)
            known = piece.get(peer)
            piece[peer] = Span(peer, start if known is None else known.start, until)
            room -= until - start
            start = until
            if not room:
                yield list(piece.values())
                piece, room = {}, most
        put(peer, end)
    if piece:
        yield list(piece.values())


@dataclass(frozen=True, slots=True)
class UpdateSize:
    """What an update claims to hold: operations from `start` up to `end`."""

    start: Version
    end: Version

    @property
    def operations(self) -> int:
        return sum(max(0, last - self.start.end(peer)) for peer, last in self.end.ends.items())


def size_of(data: bytes) -> UpdateSize:
    """Reads the head of an update; raises BadUpdate for what is none."""
    with loro_errors(BadUpdate, "These bytes are not an update"):
        meta = loro.LoroDoc.decode_import_blob_meta(data, False)
        return UpdateSize(Version.of(meta.partial_start_vv), Version.of(meta.partial_end_vv))
