"""Brings objects up to date that are usually opened together with one that was just opened.

When they are opened, what others wrote meanwhile is on this disk already. One object at a time,
some seconds after the person has opened something, each for some seconds only: it joins, catches
up, is saved, and leaves. The others see neither name nor caret. Which objects go together is what
the pipeline has found (`hints.py`); they must have been live here before.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from app.hints import Hints, read_hints
from app.known_objects import KnownObjects
from app.paths import Paths
from app.session import Session
from liveobj.errors import Problem
from liveobj.host import TimerHandle
from liveobj.opening import Opening
from liveobj.references import Reference, fingerprint, group_id_of

log = logging.getLogger(__name__)

# What the person has opened comes first.
BEGIN_AFTER_S = 4.0
STEP_S = 0.5
FILES_A_STEP = 10
# Nobody is there at once; who has not caught up by then is left as it is.
FETCH_S_MIN = 2.0
FETCH_S_MAX = 15.0
AGAIN_AFTER_S = 600.0
QUEUE_MAX = 20


class FetchLog(Protocol):
    """Who keeps the event log; groups are hexadecimal."""

    def fetched(self, group: str) -> None: ...

    def used(self, group: str) -> None: ...


class _NoFetchLog:
    def fetched(self, group: str) -> None: ...

    def used(self, group: str) -> None: ...


# Where no log is kept.
NO_FETCH_LOG = _NoFetchLog()


class Prefetching:
    """Fetches for one session. `wanted` is the person's choice; `fetch_log` is told, so that what
    was only fetched is not taken for used."""

    def __init__(
        self,
        session: Session,
        paths: Paths,
        wanted: Callable[[], bool],
        fetch_log: FetchLog,
    ) -> None:
        self._session = session
        self._paths = paths
        self._wanted = wanted
        self._log = fetch_log
        self._scheduler = session.runtime.host.scheduler
        self._hints = Hints()
        self._read_at_ns = -1
        self._known: KnownObjects | None = None
        self._queue: list[str] = []
        self._fetched_s: dict[str, float] = {}
        self._current: tuple[str, Opening, float] | None = None
        self._timer: TimerHandle | None = None

    def opened(self, reference: Reference) -> None:
        """The person has opened this: what goes with it is fetched soon."""
        group = _group_of(reference)
        if group in self._fetched_s:
            self._log.used(group)
        if self._current is not None and self._current[0] == group:
            self._let_go()
        if not self._wanted():
            return
        self._read()
        now_s = self._scheduler.time()
        for other in self._hints.together.get(group, ()):
            recent = now_s - self._fetched_s.get(other, -AGAIN_AFTER_S) < AGAIN_AFTER_S
            if not recent and other not in self._queue and len(self._queue) < QUEUE_MAX:
                self._queue.append(other)
        if self._queue and self._timer is None:
            self._timer = self._scheduler.call_later(BEGIN_AFTER_S, self._step)

    def close(self) -> None:
        """Harmless when done twice."""
        self._queue.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._let_go()

    def _read(self) -> None:
        """Takes the advice over, when there is a new one."""
        try:
            changed_ns = self._paths.hints.stat().st_mtime_ns
        except OSError:
            changed_ns = 0
        if changed_ns != self._read_at_ns:
            self._read_at_ns = changed_ns
            self._hints = read_hints(self._paths.hints)

    def _step(self) -> None:
        """A little work, then the next one later, until all is done."""
        self._timer = None
        if not self._wanted():
            self.close()
            return
        if self._current is not None:
            if self._is_done():
                self._let_go()
        elif self._known is None or not self._known.all_read:
            self._look()
        elif self._queue:
            self._begin(self._queue.pop(0))
        if self._queue or self._current is not None:
            self._timer = self._scheduler.call_later(STEP_S, self._step)
        else:
            self._known = None  # Files come and go until the next time.

    def _look(self) -> None:
        if self._known is None:
            lists = (self._session.recent.entries, self._session.pinned.entries)
            kept = self._session.kept
            files = tuple(kept.file(entry.key) for entries in lists for entry in entries)
            self._known = KnownObjects(self._paths, files)
        self._known.look(FILES_A_STEP)

    def _begin(self, group: str) -> None:
        assert self._known is not None
        reference = self._known.find(group)
        if reference is None or self._session.find(reference) is not None:
            return
        try:
            opening = Opening(self._session.runtime, reference)
        except Problem as problem:
            log.info("an object is not fetched: %s", problem)
            return
        if not opening.alone:
            opening.close()  # It is shown inside another one: nothing is to be fetched.
            return
        opening.shared.presence.set_hidden(True)
        now_s = self._fetched_s[group] = self._scheduler.time()
        self._current = (group, opening, now_s)
        self._log.fetched(group)

    def _is_done(self) -> bool:
        assert self._current is not None
        _, opening, began_s = self._current
        passed_s = self._scheduler.time() - began_s
        state = opening.shared.state
        caught_up = state.people > 0 and not state.catching_up and state.saved
        return passed_s >= (FETCH_S_MIN if caught_up else FETCH_S_MAX)

    def _let_go(self) -> None:
        if self._current is not None:
            self._current[1].close()
            self._current = None


def _group_of(reference: Reference) -> str:
    return group_id_of(fingerprint(reference)).hex()
