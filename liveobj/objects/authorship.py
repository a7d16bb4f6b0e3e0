"""Owns the proof of who wrote what: statements, signed with the keys of persons, in the document
itself.

All editors of an object share its key, so that key says "an editor", not which one. Each writer
therefore puts a statement into the document: that the operations of this opening, up to a number,
are theirs, with a signature over a hash of these very operations. Whoever has the document can
check it, at any time later and without the writer. An operation that no good statement covers is
not verified: written a moment ago, by one without an identity, or by somebody who used another's
number. Another editor can remove a statement, which shows, and cannot make one.

A statement replaces the writer's one before it. It is written after a pause and at the end, since
what is in a document stays in its history.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from hashlib import blake2b

import msgpack

from liveobj.channels.presence import NAME_CHARACTERS_MAX
from liveobj.documents import Change, Document, DocumentError
from liveobj.documents.version import Span
from liveobj.host import Host, TimerHandle
from transport.identities import fingerprint, verify

log = logging.getLogger(__name__)

STATEMENTS = "statements"
# After so long without an edit, or after so long of editing, what was written is signed.
PAUSE_S = 30.0
EDITING_S_MAX = 600.0
STATEMENT_BYTES_MAX = 1024
# So many operations are hashed in some milliseconds; then the loop has its turn for a while.
SLICE_OPERATIONS = 10_000
SLICE_PAUSE_S = 0.05
# So many are hashed at once, at the end.
AT_ONCE_OPERATIONS = 1_000_000

_PURPOSE = "edits 1"


@dataclass(frozen=True, slots=True)
class Author:
    """Who has signed: the fingerprint of their identity, the name they gave themselves, and when
    they say it was, in seconds since 1970 (0: they had no clock)."""

    fingerprint: str
    name: str
    seconds: int


@dataclass(frozen=True, slots=True)
class Statement:
    """The first `end` operations of one opening are those of the owner of `public`."""

    public: bytes
    end: int
    seconds: int
    name: str
    signature: bytes = b""

    def packed(self) -> bytes:
        packed: bytes = msgpack.packb(
            [1, self.public, self.end, self.seconds, self.name, self.signature]
        )
        return packed

    @classmethod
    def read(cls, data: object) -> Statement | None:
        """What somebody has put there; None where it is no statement of a kind known here."""
        if not isinstance(data, bytes) or len(data) > STATEMENT_BYTES_MAX:
            return None
        try:
            match msgpack.unpackb(data):
                case [1, bytes(public), int(end), int(seconds), str(name), bytes(signature)]:
                    if end > 0 and len(name) <= NAME_CHARACTERS_MAX:
                        return cls(public, end, seconds, name, signature)
        except Exception as problem:  # msgpack has many ways to say no
            log.debug("a statement that cannot be read: %s", problem)
        return None

    def signed(self, object_id: bytes, peer: int, digest: bytes) -> bytes:
        whole: bytes = msgpack.packb(
            [object_id, peer, self.end, self.seconds, self.name, digest], use_bin_type=True
        )
        return whole


class Authors:
    """The authors of one document; signs for the host's identity, if it has one."""

    def __init__(self, document: Document, object_id: bytes, host: Host) -> None:
        self._document = document
        self._object_id = object_id
        self._host = host
        self._map = document.lasting_map(STATEMENTS)
        self._own = _Digest(document, document.peer_id)
        self._unsigned_since: float | None = None
        self._timer: TimerHandle | None = None
        self._checked: dict[int, tuple[Statement, Author | None]] = {}
        self._subscription = document.observe(self._on_change)

    def author_of(self, peer: int, start: int, length: int) -> Author | None:
        """Who wrote these operations for sure; None where nobody has (yet) signed all of them."""
        statement = Statement.read(self._map.get(_key(peer)))
        if statement is None or not self._covers(statement, peer, start + length):
            return None
        known = self._checked.get(peer)
        if known is None or known[0] != statement:
            known = self._checked[peer] = (statement, self._check(peer, statement))
        return known[1]

    def _covers(self, statement: Statement, peer: int, end: int) -> bool:
        """Whether the statement is about all below `end`; it cannot be about its own writing, which
        stands at the end of what it is about."""
        if end != statement.end + 1:
            return end <= statement.end
        *_, last = self._document.operations(Span(peer, end - 1, end))
        return f'"cid:root-{STATEMENTS}:Map"'.encode() in last

    def _check(self, peer: int, statement: Statement) -> Author | None:
        if self._document.version.end(peer) < statement.end:
            return None  # what it is about has not arrived
        digest = _Digest(self._document, peer).up_to(statement.end)
        signed = statement.signed(self._object_id, peer, digest)
        if not verify(statement.public, _PURPOSE, signed, statement.signature):
            return None
        return Author(fingerprint(statement.public), statement.name, statement.seconds)

    def on_new_identity(self) -> None:
        """The document writes under another identity: what was written under the one before stays
        as it is signed, since a statement would be one more operation of that one."""
        self._own = _Digest(self._document, self._document.peer_id)
        self._unsigned_since = None

    # Signing one's own

    def _on_change(self, change: Change) -> None:
        if self._host.identity is None or not change.origin.mine:
            return
        if change.containers == {STATEMENTS}:
            return
        now = self._host.scheduler.time()
        if self._unsigned_since is None:
            self._unsigned_since = now
        left_s = self._unsigned_since + EDITING_S_MAX - now
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._host.scheduler.call_later(
            max(0.0, min(PAUSE_S, left_s)), self._on_pause
        )

    def _on_pause(self) -> None:
        """Hashes a slice of what was written, and signs when all of it is hashed: the loop must not
        wait while a long text is."""
        left = self._document.version.end(self._document.peer_id) - self._own.end
        if left <= SLICE_OPERATIONS:
            self.sign()
            return
        self._own.up_to(self._own.end + SLICE_OPERATIONS)
        self._timer = self._host.scheduler.call_later(SLICE_PAUSE_S, self._on_pause)

    def sign(self) -> None:
        """Puts a statement about everything written here; nothing where there is nothing new. Of a
        long text that was written just now the beginning is signed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        identity = self._host.identity
        if identity is None or self._unsigned_since is None or not self._document.editable:
            return
        self._unsigned_since = None
        peer = self._document.peer_id
        end = min(self._document.version.end(peer), self._own.end + AT_ONCE_OPERATIONS)
        wall_time = self._host.wall_time
        seconds = 0 if wall_time is None else int(wall_time())
        name = self._host.person.name[:NAME_CHARACTERS_MAX]
        bare = Statement(identity.public, end, seconds, name)
        signed = bare.signed(self._object_id, peer, self._own.up_to(end))
        statement = Statement(identity.public, end, seconds, name, identity.sign(_PURPOSE, signed))
        with self._document.transaction("sign", undoable=False):
            self._map.set(_key(peer), statement.packed())

    def close(self) -> None:
        """Signs what was written last. Harmless when done twice."""
        try:
            self.sign()
        except DocumentError as problem:
            log.error("what was written last is not signed: %s", problem)
        self._subscription.close()


class _Digest:
    """A hash over the operations of one writer, from the first on. Attributes: `end`."""

    def __init__(self, document: Document, peer: int) -> None:
        self._document = document
        self._peer = peer
        self.end = 0
        self._hash = blake2b(digest_size=32, person=b"liveobj edits")

    def up_to(self, end: int) -> bytes:
        """Over the first `end`; must not be less than the last time."""
        assert end >= self.end, "hashes go forward only"
        for lines in self._document.operation_lines(Span(self._peer, self.end, end)):
            self._hash.update(lines)
        self.end = end
        return self._hash.digest()


def _key(peer: int) -> str:
    return f"{peer:x}"
