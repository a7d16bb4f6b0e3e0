"""Keeps the search index in step with what is open, off the frame, and answers the palette.

Words are taken out of a document some time after it has changed, one object at a time, and never
for more than a hundredth of the time; a thread of its own writes them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from app.paths import Paths
from app.search_index import Entry, SearchIndex, search
from app.session import OpenObject, Session
from app.window import MainWindow
from liveobj.observers import Subscription
from liveobj.references import ReferenceProblem, fingerprint, read_reference_file
from liveobj.references.summary import title_of
from liveobj.storage.stored import read_stored
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
                hit.file, hit.title, kinds.title(hit.kind), kinds.picture(hit.kind), hit.snippet
            )
            for hit in hits
            if Path(hit.file).is_file()
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
        while self._dirty:
            self._take_one()
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
        files = [
            *(Path(entry.key) for entry in self._session.recent.entries),
            *(Path(entry.key) for entry in self._session.pinned.entries),
            *sorted(self._paths.references.glob("*.liveobject")),
        ]
        self._submit(lambda index: index.clear())
        for file in dict.fromkeys(files):
            self._submit(partial(self._read_again, file))
        for opened in self._session.open_objects:
            self._on_change(opened)
        self._window.notice.say(tr("The search index is being made anew."))

    def _read_again(self, file: Path, index: SearchIndex) -> None:
        entry = stored_entry(file, self._paths.objects, self._session.kinds)
        if entry is not None:
            index.put(entry)

    def _on_change(self, opened: OpenObject) -> None:
        self._dirty[str(opened.opening.identity)] = opened
        if not self._timer.isActive():
            self._timer.start(round(self._rest_s * 1000))

    def _take_one(self) -> None:
        if not self._dirty:
            return
        identity = next(iter(self._dirty))
        opened = self._dirty.pop(identity)
        start_s = time.monotonic()
        self._put(opened)
        took_s = time.monotonic() - start_s
        self._rest_s = max(SETTLE_S, took_s * _SHARE)
        if self._dirty:
            self._timer.start(max(50, round(took_s * _SHARE * 1000)))

    def _put(self, opened: OpenObject) -> None:
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


def stored_entry(file: Path, objects: Path, kinds: Kinds) -> Entry | None:
    """What is on disk of the object that a file refers to; None if nothing is."""
    try:
        reference = read_reference_file(file)
    except ReferenceProblem:
        return None
    identity, kind = str(fingerprint(reference)), kinds.of(reference)
    document = read_stored(objects / f"{identity}.db")
    if document is None or kind is None:
        return None
    given = document.to_plain().get("about", {}).get("title")
    title = given if isinstance(given, str) and given.strip() else title_of(reference)
    return Entry(identity, str(file), kind.word, title, kind.text(document))


def _as_found(entry: ListedObject, kinds: Kinds) -> FoundObject:
    return FoundObject(entry.key, entry.title, kinds.title(entry.kind), kinds.picture(entry.kind))
