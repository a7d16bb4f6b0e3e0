"""Owns giving seams to the long runs of others: of documents from version 0.1, and of members who
do not play by the rules.

What comes in is counted, writer by writer. When one has inserted so much that a long run may be
among it, that part is read, and what is long gets its seams here, before anything else is merged.
"""

from __future__ import annotations

from collections.abc import Mapping

import loro

from liveobj.documents.errors import DocumentError, loro_errors
from liveobj.documents.runs import Run, read_runs
from liveobj.documents.seams import halvings, sew
from liveobj.documents.version import Span, Version

# Reading is cheap, but not free; a run of this length costs a merge as much as eight of 1,000.
LONG_RUN = 4_000
_READ_AFTER = 2 * LONG_RUN

_Sewable = loro.LoroText | loro.LoroList | loro.LoroMovableList


class Mending:
    """The runs of one document. `seen`: what has been read already, and needs no reading."""

    def __init__(self, doc: loro.LoroDoc, peer_id: int) -> None:
        self._doc = doc
        self._peer_id = peer_id
        self.seen = Version()
        self._unread: dict[int, int] = {}  # peer -> from where on

    def after_import(self, imported: Mapping[int, tuple[int, int]]) -> bool:
        """Puts seams into what has come in, where it needs any; the caller commits if so."""
        sewn = False
        for peer, (first, end) in imported.items():
            if peer != self._peer_id:
                start = self._unread.setdefault(peer, max(first, self.seen.end(peer)))
                if end - start >= _READ_AFTER:
                    sewn |= self._read(Span(peer, start, end))
        return sewn

    def _read(self, span: Span) -> bool:
        sewn, unread = False, span.end
        for run in read_runs(self._doc, span):
            if len(run) >= LONG_RUN:
                sewn |= self._sew(run)
            elif run.end == span.end:
                unread = run.start  # may go on with what comes next
        self._unread[span.peer] = unread
        return sewn

    def _sew(self, run: Run) -> bool:
        """Whether anything of it is still there, and has seams now."""
        container = self._find(run.container)
        if container is None or not len(container):
            return False
        places = _Places(self._doc, container)
        sewn = False
        with loro_errors(DocumentError, "A long text cannot be cut"):
            for number in halvings(run.start, run.end):
                place = places.of(run.peer, number)
                if place is not None:
                    if isinstance(container, loro.LoroText):
                        sew(container, place)
                    else:
                        container.insert(place, None)
                        container.delete(place, 1)
                    sewn = True
        return sewn

    def _find(self, name: str) -> _Sewable | None:
        """The container of a name as it is in JSON: cid:root-NAME:KIND or cid:COUNTER@PEER:KIND."""
        inner, _, kind = name.removeprefix("cid:").rpartition(":")
        kinds = {
            "Text": loro.ContainerType.Text,
            "List": loro.ContainerType.List,
            "MovableList": loro.ContainerType.MovableList,
        }
        if kind not in kinds:
            return None
        identity: loro.ContainerID
        if inner.startswith("root-"):
            identity = loro.ContainerID.Root(inner.removeprefix("root-"), kinds[kind]())
        else:
            counter, _, peer = inner.partition("@")
            identity = loro.ContainerID.Normal(int(peer), int(counter), kinds[kind]())
        found = self._doc.get_container(identity)
        inside = getattr(found, "container", found)
        return inside if isinstance(inside, _Sewable) else None


class _Places:
    """Where in a container the operations of a peer are. loro makes cursors of places only, so one
    is made here of what identifies it: the first bytes of its encoded form."""

    def __init__(self, doc: loro.LoroDoc, container: _Sewable) -> None:
        self._doc = doc
        self._rest = b""
        cursor = container.get_cursor(0, loro.Side.Middle)
        if cursor is not None and cursor.id is not None:
            encoded, start = bytes(cursor.encode()), _identity(cursor.id.peer, cursor.id.counter)
            if encoded.startswith(start):
                self._rest = encoded[len(start) :]

    def of(self, peer: int, counter: int) -> int | None:
        """None where it is gone."""
        if not self._rest:
            return None
        cursor = loro.Cursor.decode(_identity(peer, counter) + self._rest)
        found = self._doc.get_cursor_pos(cursor)
        return found.current.pos if found.update is None else None


def _identity(peer: int, counter: int) -> bytes:
    return b"\x01" + _variable(peer) + _variable(counter << 1)


def _variable(number: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
