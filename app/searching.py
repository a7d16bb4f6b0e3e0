"""Keeps the search index in step with what is open, off the frame, and answers the palette.

Words are taken out of a document some time after it has changed, one object at a time, and never
for more than a hundredth of the time; a thread of its own writes them. Those of large objects are
read from the disk by a helper process.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from app.paths import Paths
from app.search_index import Entry, SearchIndex, search
from app.session import OpenObject, Session
from app.window import MainWindow
from app.words_helper import read_elsewhere, stored_entry
from liveobj.observers import Subscription
from liveobj.references import ReferenceProblem, fingerprint, read_reference_file
from widgets.action import Action
from widgets.language import tr
from widgets.listed_object import ListedObject
from widgets.object_kind import Kinds
from widgets.palette_rows import FoundObject

log = logging.getLogger(__name__)

SETTLE_S = 2.0
# Reading the words of something large takes time from the window: at most one part in so many.
_SHARE = 100
_RECENT_SHOWN = 4
# From this size of its file on, or after so many operations, an object is read by the helper, and
# not again for a while.
LARGE_BYTES = 400_000
LARGE_OPERATIONS = 200_000
LARGE_REST_S = 30.0


class Searching(QObject):
    """Watches every object that is opened (`watch`) until it is closed (`forget`)."""

    def __init__(self, session: Session, window: MainWindow, paths: Paths) -> None:
        super().__init__(window)
        self._session = session
        self._window = window
        self._paths = paths
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="search")
        self._index: SearchIndex | None = None
        self._dirty: dict[str, OpenObject] = {}
        self._watched: dict[str, Subscription] = {}
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._take_one)
        self._rests_until_s: dict[str, float] = {}  # of large objects
        self._rest_s = SETTLE_S  # how long to wait before words are read again

    def register(self) -> None:
        self._window.registry.add(
            Action("search.rebuild", tr("Make the search index anew"), self.rebuild)
        )

    def __call__(self, query: str) -> Sequence[FoundObject]:
        """What the palette shows for a query; for none, what was open lately."""
        kinds = self._session.kinds
        if not query:
            recent = self._session.recent.entries[:_RECENT_SHOWN]
            return [_as_found(entry, kinds) for entry in recent]
        hits = search(self._paths.search, query)
        return [
            FoundObject(
                hit.identity, hit.title, kinds.title(hit.kind), kinds.picture(hit.kind), hit.snippet
            )
            for hit in hits
        ]

    def watch(self, opened: OpenObject) -> None:
        """From now on, its words are searched."""
        identity = str(opened.opening.identity)
        if identity not in self._watched:
            document = opened.opening.shared.document
            self._watched[identity] = document.observe(lambda _: self._on_change(opened))
            self._on_change(opened)

    def forget(self, opened: OpenObject) -> None:
        """It is about to be closed: what it says now is what it says."""
        identity = str(opened.opening.identity)
        subscription = self._watched.pop(identity, None)
        if subscription is not None:
            subscription.close()
        if self._dirty.pop(identity, None) is not None:
            self._put(opened)

    def flush(self) -> None:
        """Takes over everything now, and waits until it is written."""
        dirty, self._dirty = self._dirty, {}
        for opened in dirty.values():
            self._put(opened)
        self._writer.submit(lambda: None).result()

    def close(self) -> None:
        for subscription in self._watched.values():
            subscription.close()
        self._watched.clear()
        self.flush()
        self._timer.stop()
        self._writer.submit(self._close_index)
        self._writer.shutdown()

    def rebuild(self) -> None:
        """Forgets the index and reads every object on this PC again."""
        kept, lists = self._session.kept, (self._session.recent, self._session.pinned)
        latest = (entry.key for each in lists for entry in each.entries)
        identities = dict.fromkeys([*latest, *kept.identities()])
        self._submit(lambda index: index.clear())
        for identity in identities:
            self._submit(partial(self._read_again, kept.file(identity)))
        for opened in self._session.open_objects:
            self._on_change(opened)
        self._window.notice.say(tr("The search index is being made anew."))

    def _read_again(self, file: Path, index: SearchIndex) -> None:
        objects = self._paths.objects
        with suppress(ReferenceProblem):
            identity = fingerprint(read_reference_file(file))
            if _is_large(objects / f"{identity}.db"):
                self._put_large(file, index)
                return
        entry = stored_entry(file, objects, self._session.kinds)
        if entry is not None:
            index.put(entry)

    def _on_change(self, opened: OpenObject) -> None:
        self._dirty[str(opened.opening.identity)] = opened
        if not self._timer.isActive():
            self._timer.start(round(self._rest_s * 1000))

    def _take_one(self) -> None:
        now_s = time.monotonic()
        awake = (each for each in self._dirty if self._rests_until_s.get(each, 0.0) <= now_s)
        identity = next(awake, None)
        took_s = 0.0
        if identity is not None:
            opened = self._dirty.pop(identity)
            self._put(opened)
            took_s = time.monotonic() - now_s
            self._rest_s = max(SETTLE_S, took_s * _SHARE)
            if self._is_large(opened):
                self._rests_until_s[identity] = now_s + LARGE_REST_S
        if self._dirty:
            pause_s = took_s * _SHARE if identity is not None else SETTLE_S
            self._timer.start(max(50, round(pause_s * 1000)))

    def _is_large(self, opened: OpenObject) -> bool:
        # Words that repeat take little room on the disk, and time all the same.
        operations = sum(opened.opening.shared.document.version.ends.values())
        database = self._paths.objects / f"{opened.opening.identity}.db"
        return operations > LARGE_OPERATIONS or _is_large(database)

    def _put(self, opened: OpenObject) -> None:
        if self._is_large(opened):
            opened.opening.shared.flush()
            self._submit(partial(self._put_large, opened.file))
        else:
            self._put_small(opened)

    def _put_large(self, file: Path, index: SearchIndex) -> None:
        entry = read_elsewhere(file, self._paths.objects)
        if entry is not None:
            index.put(entry)

    def _put_small(self, opened: OpenObject) -> None:
        opening = opened.opening
        try:
            body = opened.kind.text(opening.shared.document)
        except Exception:
            log.exception("the words of %s cannot be read", opening.title)
            return
        identity, file = str(opening.identity), str(opened.file)
        entry = Entry(identity, file, opened.kind.word, opening.title, body)
        self._submit(lambda index: index.put(entry))

    def _submit(self, work: Callable[[SearchIndex], None]) -> None:
        self._writer.submit(self._work, work)

    # In the writer's thread

    def _work(self, work: Callable[[SearchIndex], None]) -> None:
        if self._index is None:
            self._index = SearchIndex(self._paths.search)
        try:
            work(self._index)
        except Exception:
            log.exception("the search index could not be written")

    def _close_index(self) -> None:
        if self._index is not None:
            self._index.close()


def _is_large(database: Path) -> bool:
    with suppress(OSError):
        return database.stat().st_size > LARGE_BYTES
    return False


def _as_found(entry: ListedObject, kinds: Kinds) -> FoundObject:
    return FoundObject(entry.key, entry.title, kinds.title(entry.kind), kinds.picture(entry.kind))
