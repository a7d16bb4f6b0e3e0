"""Owns one replicated document: its transactions, versions, updates, undo and observers.

Containers (text, map, list …) are views on it. It does not know channels, disks or clocks: whoever
holds a document moves its updates, which may arrive in any order and any number of times.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar, cast

import loro

from liveobj.documents.counters import Counter
from liveobj.documents.errors import BadUpdate, DocumentError, ReadOnly, TooCostly, loro_errors
from liveobj.documents.history import HistoryEntry, fork_at, read_history, revert
from liveobj.documents.lists import List, MovableList
from liveobj.documents.maps import Map
from liveobj.documents.mending import Mending
from liveobj.documents.observing import Delivery
from liveobj.documents.operations import read_lines, read_operations
from liveobj.documents.pieces import UpdateSize, causal_pieces
from liveobj.documents.runs import Run, read_runs
from liveobj.documents.text import Text, mark_styles
from liveobj.documents.trees import Tree
from liveobj.documents.undoing import LongEdit, Undoing
from liveobj.documents.version import Span, Version
from liveobj.observers import Observers, Subscription
from transport.sentences import worded

Kind = TypeVar("Kind")

# Which containers a diff can be about.
_KINDS: dict[type, tuple[type, ...]] = {
    loro.Diff.Text: (Text,),
    loro.Diff.Map: (Map,),
    loro.Diff.List: (List, MovableList),
    loro.Diff.Tree: (Tree,),
    loro.Diff.Counter: (Counter,),
}

# What one person writes within this time is one entry of the history.
_HISTORY_STEP_S = 60

# Origins that loro sees. Ours have a prefix, so that no label can be mistaken for loro's own
# "undo", and so that transactions which must not be undone can be told to its undo manager.
_EDIT = "edit:"
_QUIET = "quiet:"


class Origin(Enum):
    """Who began a change."""

    LOCAL = "local"  # this person, in this opening of the document
    UNDO = "undo"  # this person, by undo or redo
    REMOTE = "remote"  # somebody else
    STORED = "stored"  # loaded from disk

    @property
    def mine(self) -> bool:
        return self in (Origin.LOCAL, Origin.UNDO)


@dataclass(frozen=True, slots=True)
class Change:
    """One transaction or one import that has taken effect. `label` is the transaction's;
    `containers` names the root containers it touched."""

    origin: Origin
    label: str
    containers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did: whether anything was new, and which of it waits for updates that it
    builds upon and that are not here yet."""

    changed: bool
    pending: Version = field(default_factory=Version)

    @property
    def waiting(self) -> bool:
        return bool(self.pending.ends)


class Document:
    """A document that merges. `peer_id` must be fresh for every opening (see `Host.new_peer_id`).

    One that is not `editable` takes updates of others and refuses transactions. `now` gives seconds
    since 1970, which are taken down with each change. `inner` is for copies of another document.
    One that `mends` gives long runs of others their seams (see `documents.mending`): by operations
    of its own, or, if it is not editable, by operations that stay here and are in no version.
    """

    def __init__(
        self,
        peer_id: int,
        *,
        undo_merge_ms: int = 0,
        editable: bool = True,
        now: Callable[[], float] | None = None,
        inner: loro.LoroDoc | None = None,
        mends: bool = False,
    ) -> None:
        self.editable = editable
        self._now = now
        self._doc = inner or loro.LoroDoc()
        self._doc.config_text_style(mark_styles())
        self._doc.config_default_text_style(loro.ExpandType.After)
        self._doc.set_change_merge_interval(_HISTORY_STEP_S)
        with loro_errors(DocumentError, f"{peer_id} cannot be a peer identity"):
            self._doc.peer_id = peer_id
        self.peer_id = peer_id
        self._undo = Undoing(self._doc, undo_merge_ms, _QUIET)
        self.mending = Mending(self._doc, peer_id) if mends else None
        # Called once, before the first transaction that can be undone: what is done quietly between
        # two edits would keep them from being undone together.
        self.before_first_edit: Callable[[], None] | None = None
        self._import_origin = Origin.REMOTE
        self._depth = 0
        self._label = ""
        self._observers: Observers[Change] = Observers()
        self._containers: dict[tuple[str, type], Any] = {}
        self._lasting: set[str] = set()
        self.rewriting = False  # loro inserts by itself, however long: undo, or an older state
        self._version: Version | None = None  # kept until the next change, as it is asked for often
        self._deliveries: deque[Delivery] = deque()
        self._delivering = False
        self._subscription = self._doc.subscribe_root(self._on_event)

    def renew_peer_id(self, peer_id: int) -> None:
        """Goes on under another identity, which must be fresh: another writer may use the old one.
        What was written before can no longer be undone."""
        self._finish_open_edits()
        with loro_errors(DocumentError, f"{peer_id} cannot be a peer identity"):
            self._doc.peer_id = peer_id
        self.peer_id = peer_id
        if self.mending is not None:
            self.mending.renew_peer_id(peer_id)

    # Containers

    # A container exists, empty, as soon as it is asked for. Each kind has names of its own.

    def text(self, name: str) -> Text:
        return self._container(name, Text, self._doc.get_text)

    def map(self, name: str) -> Map:
        return self._container(name, Map, self._doc.get_map)

    def lasting_map(self, name: str) -> Map:
        """A map that stays as it is when an older state is brought back."""
        self._lasting.add(name)
        return self.map(name)

    def list(self, name: str) -> List:
        return self._container(name, List, self._doc.get_list)

    def movable_list(self, name: str) -> MovableList:
        return self._container(name, MovableList, self._doc.get_movable_list)

    def tree(self, name: str) -> Tree:
        return self._container(name, Tree, self._doc.get_tree)

    def counter(self, name: str) -> Counter:
        return self._container(name, Counter, self._doc.get_counter)

    def _container(
        self, name: str, kind: Callable[[Document, Any], Kind], find: Callable[[str], Any]
    ) -> Kind:
        key = (name, cast(type, kind))
        if key not in self._containers:
            with loro_errors(DocumentError, f"{name!r:.60} cannot be the name of a container"):
                self._containers[key] = kind(self, find(name))
        found: Kind = self._containers[key]
        return found

    def to_plain(self) -> dict[str, Any]:
        """Everything in it as plain values, by the names of its containers."""
        self._finish_open_edits()
        return cast(dict[str, Any], self._doc.get_deep_value())

    # Changing

    @contextmanager
    def transaction(self, label: str = "", *, undoable: bool = True) -> Iterator[None]:
        """Everything changed inside is one change to observers, one step of undo, and travels as
        one.

        Nested transactions join the outermost. There is no rollback: when the body raises, what it
        had done stays, because others may merge with it at any time anyway.
        """
        if not self.editable:
            raise ReadOnly(
                worded("This object can be viewed, but not edited, with the file you were given.")
            )
        if self._depth == 0:
            if undoable and self.before_first_edit is not None:
                first, self.before_first_edit = self.before_first_edit, None
                first()
            self._label = (_EDIT if undoable else _QUIET) + label
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._commit()

    def _commit(self) -> None:
        self._commit_now(self._label)
        self._deliver()

    def _commit_now(self, label: str) -> None:
        self._version = None
        timestamp = None if self._now is None else int(self._now())
        counts = self._doc.get_pending_txn_len() > 0 and label.startswith(_EDIT)
        with loro_errors(DocumentError, "The change could not be completed"):
            self._doc.commit_with(origin=label, timestamp=timestamp)
        if counts:
            self._undo.on_edit()

    def undo(self) -> bool:
        """Takes back this person's last transaction; edits of others stay. False if there is
        none."""
        return self._step_undo(self._undo.undo)

    def redo(self) -> bool:
        return self._step_undo(self._undo.redo)

    def _step_undo(self, step: Callable[[], bool]) -> bool:
        if self._depth:
            raise DocumentError("Undo is not possible inside a transaction")
        self._finish_open_edits()
        with (
            self._rewriting(),
            loro_errors(DocumentError, "The last change could not be taken back"),
        ):
            return step()

    @contextmanager
    def _rewriting(self) -> Iterator[None]:
        """Long texts that loro inserts by itself get their seams at once, before anybody merges
        with them."""
        was_delivering, self._delivering = self._delivering, True
        self.rewriting = True
        try:
            yield
        finally:
            self.rewriting = False
            self._version = None
            texts = [text for text in self._containers.values() if isinstance(text, Text)]
            sewn = [text for text in texts if text.sew_rewritten()]
            if sewn:
                self._commit_now(_QUIET)
            self._delivering = was_delivering
            self._deliver()

    @property
    def can_undo(self) -> bool:
        return self._undo.can_undo

    @property
    def can_redo(self) -> bool:
        return self._undo.can_redo

    def undo_boundary(self) -> None:
        """What follows will be undone separately from what was done before."""
        self._undo.boundary()

    def begin_undo_group(self) -> None:
        """Transactions from now on are undone together, until the group ends."""
        with loro_errors(DocumentError, "Two groups at once"):
            self._undo.begin_group()

    def end_undo_group(self) -> None:
        self._undo.end_group()

    def begin_long_edit(self, edit: LongEdit) -> None:
        """What this person does until the long edit ends is one step of undo, whatever others do
        meanwhile."""
        self._undo.begin_long_edit(edit)

    def end_long_edit(self, edit: LongEdit) -> None:
        self._undo.end_long_edit(edit)

    # Looking back

    def history(self) -> Sequence[HistoryEntry]:
        """The changes that led here, oldest first."""
        self._finish_open_edits()
        return [entry for entry in read_history(self._doc) if entry.peer in self.version.ends]

    def operations(self, span: Span) -> Iterator[bytes]:
        """What one writer did, in a form that is the same at every replica (see
        `documents.operations`)."""
        self._finish_open_edits()
        return read_operations(self._doc, span)

    def operation_lines(self, span: Span) -> Iterator[bytes]:
        """The same as lines, many at once."""
        self._finish_open_edits()
        return read_lines(self._doc, span)

    def runs(self, span: Span) -> Iterator[Run]:
        """What one writer inserted into texts, in how long pieces (see `documents.seams`)."""
        self._finish_open_edits()
        return read_runs(self._doc, span)

    def at(self, version: Version) -> Document:
        """The document as it was; a copy that cannot be edited and that nobody else sees."""
        self._finish_open_edits()
        inner = fork_at(self._doc, version)
        return Document(int(inner.peer_id) >> 1, editable=False, inner=inner)

    def bring_back(self, version: Version) -> None:
        """Makes the document as it was then, by one more change, which can be undone."""
        lasting = {name: self.map(name).to_dict() for name in self._lasting}
        with self._rewriting(), self.transaction("bring back"):
            revert(self._doc, version)
            for name, values in lasting.items():
                for key, value in values.items():
                    self.map(name).set(key, value)

    # Versions and updates

    @property
    def version(self) -> Version:
        self._finish_open_edits()
        if self._version is None:
            self._version = Version.of(self._doc.oplog_vv)
            if self.mending is not None and not self.editable:
                self._version = self._version.without(self.peer_id)
        return self._version

    def export_since(self, version: Version) -> bytes:
        """One update with everything that `version` lacks."""
        self._finish_open_edits()
        with loro_errors(DocumentError, "The changes could not be exported"):
            return bytes(self._doc.export(loro.ExportMode.Updates(version.vector())))

    def export_spans(self, spans: Iterable[Span]) -> bytes:
        """One update with exactly these operations."""
        self._finish_open_edits()
        wanted = [loro.IdSpan(s.peer, loro.CounterSpan(s.start, s.end)) for s in spans]
        with loro_errors(DocumentError, "The changes could not be exported"):
            return bytes(self._doc.export(loro.ExportMode.UpdatesInRange(wanted)))

    def pieces(self, spans: Sequence[Span], most: int) -> Iterator[Sequence[Span]]:
        """The same operations, at most so many at a time, each after all that it builds on."""
        self._finish_open_edits()
        return causal_pieces(self._doc, spans, most)

    def export_snapshot(self) -> bytes:
        """State and whole history in one piece, which loads faster than the updates it replaces."""
        self._finish_open_edits()
        with loro_errors(DocumentError, "The document could not be exported"):
            return bytes(self._doc.export(loro.ExportMode.Snapshot()))

    def import_update(self, data: bytes, origin: Origin = Origin.REMOTE) -> Imported:
        """Merges an update or snapshot; raises BadUpdate, and changes nothing, if it is neither."""
        self._finish_open_edits()
        if self.mending is not None and self.mending.is_due(data):
            self.mend()
        self._import_origin = origin
        self._version = None
        with loro_errors(BadUpdate, "These bytes are not an update"):
            status = self._doc.import_(data)
        news = status.success.inner()
        if self.mending is not None:
            self.mending.after_import(news)
        self._deliver()
        pending = {} if status.pending is None else status.pending.inner()
        return Imported(
            changed=bool(news),
            pending=Version({peer: end for peer, (_, end) in pending.items()}),
        )

    def mend(self) -> None:
        """Gives long runs of others their seams now; it also happens before they would be felt."""
        if self.mending is not None and self.mending.sew():
            self._commit_now(_QUIET)
            self._deliver()

    def check_cost(self, size: UpdateSize, operations_max: int) -> None:
        """Raises TooCostly for an update that would hold everybody up: one with too much at once,
        or one that goes on with a long run beside edits which its writer has not seen."""
        if size.operations > operations_max:
            raise TooCostly(
                f"It has {size.operations} operations at once, and {operations_max} are allowed."
            )
        if self.mending is not None:
            self.mending.check_cost(size.end.ends, self.version)

    def _finish_open_edits(self) -> None:
        """loro commits by itself before it exports or imports; done here, the label is not lost."""
        if self._doc.get_pending_txn_len():
            self._commit_now(self._label or _EDIT)
            if self._depth == 0:
                self._deliver()

    # Observing

    def observe(self, callback: Callable[[Change], None]) -> Subscription:
        """Calls back after every change, outside of any transaction, so that it may edit."""
        return self._observers.observe(callback)

    def _on_event(self, event: loro.DiffEvent) -> None:
        """Takes down what happened. Called by loro in the middle of its work, where an exception
        would be a panic; so nothing but our own bookkeeping happens here, and others are told
        afterwards."""
        origin, label = self._read_origin(event)
        names: set[str] = set()
        for item in event.events:
            names.add(self._take_down(item, origin, label))
        change = Change(origin, label, frozenset(names))
        self._deliveries.append(lambda: self._observers.notify(change))

    def _take_down(self, item: loro.ContainerDiff, origin: Origin, label: str) -> str:
        """Notes the change of one container, if anybody has asked for it; returns its root's
        name."""
        target = item.target
        diff: Any = item.diff
        if isinstance(target, loro.ContainerID.Root):
            for kind in _KINDS.get(type(diff), ()):
                container = self._containers.get((target.name, kind))
                if container is not None and container.holds(target):
                    delivery = container.take_down(diff.diff, origin, label)
                    if delivery is not None:
                        self._deliveries.append(delivery)
            return target.name
        root, *inner = item.path
        name = root.container.name if isinstance(root.container, loro.ContainerID.Root) else ""
        tree = self._containers.get((name, Tree))
        if tree is not None and inner and isinstance(diff, loro.Diff.Map):
            index = inner[0].index
            if isinstance(index, loro.Index.Node):
                self._deliveries.append(tree.take_down_data(index.target, diff.diff, origin, label))
        return name

    def _read_origin(self, event: loro.DiffEvent) -> tuple[Origin, str]:
        if event.triggered_by == loro.EventTriggerKind.Import:
            return self._import_origin, ""
        for prefix in (_EDIT, _QUIET):
            if event.origin.startswith(prefix):
                return Origin.LOCAL, event.origin.removeprefix(prefix)
        return (Origin.UNDO if event.origin in ("undo", "redo") else Origin.LOCAL), ""

    def _deliver(self) -> None:
        """Tells observers, oldest change first. An observer that edits adds to the end of the
        queue."""
        if self._delivering:
            return
        self._delivering = True
        try:
            while self._deliveries:
                self._deliveries.popleft()()
        finally:
            self._delivering = False
