"""Owns giving seams to the long runs of others: of documents from version 0.1, and of members who
do not play by the rules.

What comes in is counted, writer by writer. When one has inserted so much that a long run may be
among it, that part is read. What is long gets its seams before something of another writer is
merged, once the run is whole: seams and a run that grow side by side are slow to merge as well.
Seams do not help against edits that were here before the run: those come first, then the seams. So
beside such edits runs may have only so much.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import loro

from liveobj.documents.errors import DocumentError, TooCostly, loro_errors
from liveobj.documents.pieces import size_of
from liveobj.documents.runs import Run, read_runs
from liveobj.documents.seams import halvings, sew
from liveobj.documents.version import Span, Version

# Reading is cheap, but not free; a run of this length costs a merge as much as eight of 1,000.
LONG_RUN = 4_000
_READ_AFTER = 2 * LONG_RUN
# What all long runs together may cost a merge, in steps of loro of about a microsecond.
MERGE_STEPS_MAX = 100_000
_FRAGMENT = 256
# Who goes on after so many times without having seen the seams of its runs does not mean well.
_ROUNDS_MAX = 4

_Sewable = loro.LoroText | loro.LoroList | loro.LoroMovableList


class Mending:
    """The runs of one document. `seen`: what has been read already, and needs no reading."""

    def __init__(self, doc: loro.LoroDoc, peer_id: int) -> None:
        self._doc = doc
        self._peer_id = peer_id
        self.seen = Version()
        self._unread: dict[int, int] = {}  # peer -> from where on
        self._last_runs: dict[int, Run] = {}  # the long run that each has written last
        self._steps: dict[int, int] = {}  # what the long runs of each cost
        self._unsewn: dict[int, list[Run]] = {}
        self._rounds: dict[int, int] = {}  # how often the runs of each were given seams
        self._seams = 0  # how many operations of this document are seams

    def renew_peer_id(self, peer_id: int) -> None:
        """The document writes under another identity from now on."""
        self._peer_id = peer_id

    def after_import(self, imported: Mapping[int, tuple[int, int]]) -> None:
        """Looks for long runs in what has come in."""
        for peer, (first, end) in imported.items():
            if peer != self._peer_id:
                start = self._unread.setdefault(peer, max(first, self.seen.end(peer)))
                if end - start >= _READ_AFTER:
                    self._read(Span(peer, start, end))

    def _read(self, span: Span) -> None:
        unread = span.end
        for run in read_runs(self._doc, span):
            self._note_last(run)
            if len(run) >= LONG_RUN:
                self._unsewn.setdefault(run.peer, []).append(run)
            elif run.end == span.end:
                unread = run.start  # may go on with what comes next
        self._unread[span.peer] = unread

    def is_due(self, data: bytes) -> bool:
        """Whether runs must get their seams before this update is merged."""
        if not self._unsewn:
            return False
        writers = size_of(data).end.ends
        return any(peer not in self._unsewn for peer in writers) or len(self._unsewn) > 1

    def sew(self) -> bool:
        """Gives all runs their seams; the caller commits if there were any."""
        unsewn, self._unsewn = self._unsewn, {}
        sewn = False
        for peer, runs in unsewn.items():
            self._rounds[peer] = self._rounds.get(peer, 0) + 1
            for run in runs:
                sewn |= self._sew(run)
        return sewn

    def _note_last(self, run: Run) -> None:
        last = self._last_runs.get(run.peer)
        before = 0
        if last is not None and (last.end, last.container) == (run.start, run.container):
            before = _merge_steps(last)
            last.end = run.end
        elif len(run) >= LONG_RUN:
            last = self._last_runs[run.peer] = replace(run)
        else:
            if len(run):
                self._last_runs.pop(run.peer, None)
            return
        self._steps[run.peer] = self._steps.get(run.peer, 0) + _merge_steps(last) - before

    def check_cost(self, writers: Iterable[int], version: Version) -> None:
        """Raises TooCostly if one of those who wrote an update has long runs, and has not seen
        edits that are here."""
        if not self._steps or sum(self._steps.values()) < MERGE_STEPS_MAX:
            return
        for peer in writers:
            end = version.end(peer)
            if peer not in self._steps or not end:
                continue
            vector = self._doc.frontiers_to_vv(loro.Frontiers.from_id(loro.ID(peer, end - 1)))
            seen = Version() if vector is None else Version.of(vector)
            beside = sum(map(len, version.without(self._peer_id).missing_from(seen)))
            mine = version.end(self._peer_id) - seen.end(self._peer_id)
            if self._rounds.get(peer, 0) < _ROUNDS_MAX:
                mine = max(0, mine - self._seams)
            if beside + mine:
                raise TooCostly(
                    "Its writer has inserted long texts in one go, beside edits that they had not "
                    "seen."
                )

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
                    self._seams += 2
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


def _merge_steps(run: Run) -> int:
    """loro cuts a run fragment by fragment, and renumbers each time all that follow."""
    return (len(run) // _FRAGMENT) ** 2 // 2


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
