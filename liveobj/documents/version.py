"""Owns the version of a document: for every peer that ever wrote, how far one has seen its
writing."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

import loro

from liveobj.documents.errors import BadUpdate, loro_errors

DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class Span:
    """Operations `start` to `end` (exclusive) of one peer."""

    peer: int
    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Version:
    """A version vector: peer -> number of its operations that are included. Plain, immutable
    data."""

    ends: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, vector: loro.VersionVector) -> Version:
        spans = loro.VersionRange.from_vv(vector).inner()
        return cls({peer: end for peer, (_, end) in sorted(spans.items()) if end > 0})

    @classmethod
    def decode(cls, data: bytes) -> Version:
        with loro_errors(BadUpdate, "These bytes are not a version"):
            return cls.of(loro.VersionVector.decode(data))

    def vector(self) -> loro.VersionVector:
        vector = loro.VersionVector()
        for peer, end in self.ends.items():
            vector.set_end(loro.ID(peer, end))
        return vector

    def encode(self) -> bytes:
        return bytes(self.vector().encode())

    @property
    def digest(self) -> bytes:
        """A short name: equal versions have equal ones, and others do not."""
        pairs = sorted(self.ends.items())
        packed = b"".join(struct.pack(">QQ", peer, end) for peer, end in pairs)
        return blake2b(packed, digest_size=DIGEST_BYTES, person=b"liveobj version").digest()

    def end(self, peer: int) -> int:
        return self.ends.get(peer, 0)

    def includes(self, other: Version) -> bool:
        return all(self.end(peer) >= end for peer, end in other.ends.items())

    def includes_span(self, span: Span) -> bool:
        return self.end(span.peer) >= span.end

    def missing_from(self, other: Version) -> Iterator[Span]:
        """What `self` has and `other` lacks."""
        for peer, end in self.ends.items():
            start = other.end(peer)
            if start < end:
                yield Span(peer, start, end)

    def without(self, peer: int) -> Version:
        return Version({other: end for other, end in self.ends.items() if other != peer})

    def merged(self, other: Version) -> Version:
        peers = {**self.ends, **other.ends}
        return Version({peer: max(self.end(peer), other.end(peer)) for peer in sorted(peers)})
