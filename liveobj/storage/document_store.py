"""Owns keeping one document on disk: loading it, writing what changed, and compacting in the
background.

Changes are gathered for a few milliseconds and written with one flush. The disk may take longer for
that than a frame has, so where there is a background it is waited for there; `saved` is true only
while everything is on the disk.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from typing import Protocol

from liveobj.documents import BadUpdate, Change, Document, Origin, Version
from liveobj.host import InBackground, Scheduler, TimerHandle
from liveobj.observers import Observers, Subscription
from liveobj.storage.compaction import is_snapshot, snapshot_of
from liveobj.storage.damage import StorageError
from liveobj.storage.fullness import is_full
from liveobj.storage.object_store import ObjectStore, StoredUpdate
from liveobj.storage.place import StoreMoved

log = logging.getLogger(__name__)

WRITE_DELAY_S = 0.05
# How soon a disk that has refused is tried again.
RETRY_DELAY_S = 2.0
COMPACT_AFTER_UPDATES = 500
# So much, or a quarter of what there is, is as slow to load as a whole snapshot.
COMPACT_AFTER_BYTES = 256 * 1024
# What the document need not read again to find long runs in it.
_READ_FACT = "runs read"


class SignedBatch(Protocol):
    """An update as its editor signed it."""

    @property
    def data(self) -> bytes: ...

    @property
    def signature(self) -> bytes: ...


class SignedBatches(Protocol):
    """What a viewer was given and keeps; `channels.batches.BatchLog` is one."""

    def add(self, data: bytes, signature: bytes, *, saved: bool = False) -> None: ...

    @property
    def unsaved(self) -> Sequence[SignedBatch]: ...

    saved_count: int


class DocumentStore:
    """Joins a document to its store. `problem` is a sentence while the disk refuses, else None;
    `full` says whether it has no room."""

    def __init__(
        self,
        document: Document,
        store: ObjectStore,
        scheduler: Scheduler,
        batches: SignedBatches | None = None,
        in_background: InBackground | None = None,
    ) -> None:
        self._document = document
        self._batches = batches
        self._in_background = in_background
        self._syncing = False
        self._closed = False
        self._store = store
        self._scheduler = scheduler
        self._timer: TimerHandle | None = None
        self._observers: Observers[DocumentStore] = Observers()
        self.saved = True
        self.problem: str | None = None
        self.full = False
        self.damaged_updates = 0
        self._update_count = 0
        self._first_bytes = 0  # of the snapshot, where there is one
        self._later_bytes = 0  # of what has been appended to it
        self._compacting = False
        # Updates by number that build on what is not here yet, so that no snapshot has them.
        self._waiting: dict[int, bytes] = {}
        self._rescued_news = False
        self._load()
        # What was given to the store, and what of that is known to be on the disk. What the
        # document did by itself while it was loaded is not.
        self._stored = self._safe = document.version.without(document.peer_id)
        self._safe_batches = batches.saved_count if batches is not None else 0
        self._subscription = document.observe(self._on_change)
        if not self._stored.includes(document.version):
            self._schedule(WRITE_DELAY_S)
            self.saved = False

    def _load(self) -> None:
        read = self._store.fact(_READ_FACT)
        if read is not None and self._document.mending is not None:
            with suppress(BadUpdate):
                self._document.mending.seen = Version.decode(read)
        # A snapshot loads quickly where there is nothing else yet. What was hidden comes last:
        # whether it was missing shows then.
        rescue = self._store.rescue
        hidden = rescue.brought if rescue is not None else lambda _: False
        for update in sorted(
            self._store.updates(), key=lambda u: (hidden(u.number), not is_snapshot(u.data))
        ):
            if self._import(update) and hidden(update.number):
                self._rescued_news = True
        self._document.mend()

    def _count(self, data: bytes) -> None:
        self._update_count += 1
        if self._update_count == 1:
            self._first_bytes = len(data)
        else:
            self._later_bytes += len(data)

    def _import(self, update: StoredUpdate) -> bool:
        """False if nothing in it was new."""
        self._count(update.data)
        try:
            done = self._document.import_update(update.data, Origin.STORED)
            if done.waiting:
                self._waiting[update.number] = update.data
            if self._batches is not None:
                self._batches.add(update.data, update.signature, saved=True)
        except BadUpdate as problem:
            # The others are whole, each has its own checksum; what is missing comes from peers.
            self.damaged_updates += 1
            log.error("update %d of %s: %s", update.number, self._store.path, problem)
            return False
        return done.changed or done.waiting

    @property
    def warning(self) -> str | None:
        """What the person should know about the copy on disk, once; None if all is well."""
        if self._store.looking is not None:
            return self._store.looking.sentence
        rescue = self._store.rescue
        if rescue is not None and (self._rescued_news or not rescue.was_whole):
            return rescue.sentence
        if self.damaged_updates:
            return (
                f"{self.damaged_updates} changes in the copy of this object on your disk are "
                "damaged; they will come again from others who have it open."
            )
        return None

    def observe(self, callback: Callable[[DocumentStore], None]) -> Subscription:
        """Calls back when `saved` or `problem` has changed."""
        return self._observers.observe(callback)

    def _on_change(self, change: Change) -> None:
        if change.origin is Origin.STORED:
            return
        self._schedule(WRITE_DELAY_S)
        self._tell(saved=False, problem=self.problem)

    def _schedule(self, delay_s: float) -> None:
        if self._timer is None:
            self._timer = self._scheduler.call_later(delay_s, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        if self._in_background is None:
            self.flush()
        elif self._syncing:
            self._schedule(WRITE_DELAY_S)  # a slow disk gets more at once
        elif self._write(lasting=False):
            self._syncing = True
            version, batches = self._stored, self._stored_batches
            self._in_background(
                self._store.sync, lambda problem: self._on_synced(version, batches, problem)
            )

    @property
    def _stored_batches(self) -> int:
        return self._batches.saved_count if self._batches is not None else 0

    def _write_again(self) -> None:
        """What the disk refused once it may have forgotten."""
        self._stored = self._safe
        if self._batches is not None:
            self._batches.saved_count = self._safe_batches

    def _on_synced(self, version: Version, batches: int, problem: Exception | None) -> None:
        self._syncing = False
        if self._closed:
            return
        if problem is not None:
            self._write_again()
            if not isinstance(problem, StoreMoved):
                self._tell_refused(problem)
            elif self._stay():
                self._schedule(WRITE_DELAY_S)
            return
        self._safe_batches = max(self._safe_batches, batches)
        if not self._safe.includes(version):
            self._safe = version
        self._tell(saved=self._safe.includes(self._document.version), problem=None)

    def flush(self) -> bool:
        """Writes what is not on the disk yet. False, with `problem` set, if that failed; it is
        tried again by itself, and nothing is lost while the program runs."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._stay():
            return False
        was_safe = self._safe.includes(self._stored) and not self._store.refused
        if not self._write(lasting=True):
            return False
        if not was_safe:
            try:
                self._store.sync()
            except StorageError as problem:
                self._write_again()
                self._tell_refused(problem)
                return False
        self._safe = self._stored
        self._safe_batches = self._stored_batches
        self._tell(saved=True, problem=None)
        return True

    def _stay(self) -> bool:
        """Has the store put its files back if somebody has removed them; False if that failed."""
        try:
            try:
                self._store.stay()
            except StoreMoved:
                # It cannot be read any more, but everything in it is here.
                self._store.stay(partly=True)
                self._stored = self._safe = Version()
                self._safe_batches = 0
                if self._batches is not None:
                    self._batches.saved_count = 0
        except StorageError as problem:
            self._tell_refused(problem)
            return False
        return True

    def _write(self, *, lasting: bool) -> bool:
        """Gives the store what is new; False if it does not take it."""
        version = self._document.version
        if not self._stored.includes(version):
            try:
                self._append(lasting)
            except StorageError as problem:
                self._tell_refused(problem)
                return False
            self._stored = version
        if self._should_compact:
            if self._in_background is None:
                self.compact(lasting=lasting)
            else:
                self._compact_in_background(self._in_background)
        return True

    @property
    def _should_compact(self) -> bool:
        if self._store.looking is not None:
            return False
        many = self._update_count > COMPACT_AFTER_UPDATES
        return many or self._later_bytes > max(COMPACT_AFTER_BYTES, self._first_bytes // 4)

    def _tell_refused(self, problem: Exception) -> None:
        if str(problem) != self.problem:  # once, and not at every try
            log.error("%s", problem)
        self._schedule(RETRY_DELAY_S)
        self.full = is_full(problem, self._store.path.parent)
        self._tell(saved=False, problem=str(problem))

    def _append(self, lasting: bool) -> None:
        store = self._store
        if self._batches is None:
            first = not self._stored.ends
            document = self._document
            update = document.export_snapshot() if first else document.export_since(self._stored)
            store.append(update, lasting=lasting)
            self._count(update)
            return
        for batch in self._batches.unsaved:
            store.append(batch.data, batch.signature, lasting=lasting)
            self._batches.saved_count += 1
            self._count(batch.data)

    def compact(self, *, lasting: bool = True) -> None:
        """Replaces the stored updates by one snapshot, which keeps the history, and merges what
        another program has stored. Signed batches are left as they are, since nobody here could
        sign a snapshot."""
        if self._batches is not None:
            return
        if not self._update_count or not self._stored.includes(self._document.version):
            return
        try:
            for update in self._store.unseen():
                self._import(update)
            keep = self._still_waiting()
            version = self._document.version
            self._replace(self._document.export_snapshot(), keep, lasting=lasting)
        except StorageError as problem:
            log.error("%s", problem)
            return
        self._stored = version

    def _replace(self, snapshot: bytes, keep: Set[int], *, lasting: bool) -> None:
        self._store.compact(snapshot, keep=keep, lasting=lasting)
        self._update_count = 1 + len(keep)
        self._first_bytes, self._later_bytes = len(snapshot), 0
        if self._document.mending is not None:
            self._store.set_fact(_READ_FACT, self._document.version.encode())

    def _compact_in_background(self, in_background: InBackground) -> None:
        """As `compact`, of what is on the disk; what is appended meanwhile stays beside it."""
        if self._batches is not None or self._compacting:
            return
        self._compacting = True
        made: list[tuple[bytes, Version] | None] = []
        path, version, place = self._store.path, self._stored, self._store.place
        numbers = self._store.numbers - self._still_waiting()

        def done(problem: Exception | None) -> None:
            self._compacting = False
            if self._closed:
                return
            snapshot = made[0] if problem is None and made else None
            moved = self._store.place is not place
            if moved or snapshot is None or not snapshot[1].includes(version):
                # Something on the disk is damaged, another program has compacted it, or it was
                # written again and has other numbers.
                self.compact(lasting=False)
                return
            try:
                self._replace(snapshot[0], self._store.numbers - numbers, lasting=False)
            except StorageError as refused:
                log.error("%s", refused)

        in_background(lambda: made.append(snapshot_of(path, numbers)), done)

    def _still_waiting(self) -> set[int]:
        """Numbers of updates that a snapshot would not contain."""
        for number, data in list(self._waiting.items()):
            if not self._document.import_update(data, Origin.STORED).waiting:
                del self._waiting[number]
        return set(self._waiting)

    def local(self, name: str) -> bytes | None:
        return self._store.fact(name)

    def set_local(self, name: str, value: bytes) -> None:
        self._store.set_fact(name, value)

    def _tell(self, *, saved: bool, problem: str | None) -> None:
        if (saved, problem) != (self.saved, self.problem):
            self.saved, self.problem = saved, problem
            self.full = self.full and problem is not None
            self._observers.notify(self)

    def close(self) -> None:
        self._closed = True
        self._subscription.close()
        self.flush()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._store.close()
