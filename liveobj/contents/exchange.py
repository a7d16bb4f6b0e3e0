"""Owns the contents of one open object: what is here is offered to the others, what is wanted is
fetched from whoever has it, from one after the other.

Who can be asked is told by presence; whether they have it, they say when they are asked. What is
here and doubtful is checked first: until then it is neither given to anybody nor fetched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from liveobj.contents.checking import ContentChecks
from liveobj.contents.store import ContentProblem, ContentStore
from liveobj.host import Host, TimerHandle
from liveobj.observers import Observers, Subscription
from liveobj.references import group_id_of
from transport.interfaces import Fetching, StreamPlace

if TYPE_CHECKING:
    from liveobj.objects.shared_document import SharedDocument

RETRY_S = 15.0
_FETCHING_MAX = 3


@dataclass(frozen=True, slots=True)
class Arrival:
    """How a content that is not here is getting on: `done` of `size` bytes have come. It is
    `moving` while somebody gives it, or while it is checked; else nobody here has it now, or
    `problem` says what is wrong."""

    done: int
    size: int
    moving: bool
    problem: str = ""


class ContentExchange:
    """Attributes: `store`. Made by an object that has contents, closed with it."""

    def __init__(self, shared: SharedDocument, host: Host) -> None:
        self.store = ContentStore(host.folder / "contents")
        self._shared = shared
        self._host = host
        self._streams = host.streams
        self._group = group_id_of(shared.fingerprint)
        self._key = shared.description.keys.group
        self._checks = ContentChecks(self.store, host.scheduler, self._on_checked)
        self._wanted: dict[str, _Wanted] = {}
        self._observers: Observers[str] = Observers()
        self._retry: TimerHandle | None = None
        self._subscription: Subscription | None = shared.presence.observe(lambda _: self._look())
        self.tell_place()

    # What others see

    def tell_place(self) -> None:
        """Says in presence where this computer can be asked."""
        place = None if self._streams is None else self._streams.place
        self._shared.presence.set_streams(None if place is None else (place.address, place.port))

    def offer(self, name: str) -> None:
        """Lets the others fetch a content that is here, once it is known to be right."""
        path = self.find(name)
        if path is not None and self._streams is not None:
            self._streams.offer(self._group, self._key, bytes.fromhex(name), path)

    # What one wants

    def find(self, name: str) -> Path | None:
        """The file with the content, if it is here and right; observers are told when a check
        has found that out."""
        path = self.store.find(name)
        if path is None and self._subscription is not None and self.store.is_doubtful(name):
            self._checks.add(name)
        return path

    def want(self, name: str, size: int) -> None:
        """Fetches a content of that size, now or when somebody who has it is there."""
        if self.find(name) is not None or name in self._wanted:
            return
        self._wanted[name] = _Wanted(size)
        self._look()

    def forget(self, name: str) -> None:
        """It is not wanted any more; what has come stays for another time."""
        wanted = self._wanted.pop(name, None)
        if wanted is not None and wanted.fetching is not None:
            wanted.fetching.cancel()
        self._look()

    def arrival(self, name: str) -> Arrival | None:
        """How a content is getting on that is wanted; None for others."""
        wanted = self._wanted.get(name)
        if name in self._checks:
            return Arrival(*self._checks.progress(name), moving=True)
        if wanted is None:
            return None
        return Arrival(wanted.done, wanted.size, wanted.fetching is not None, wanted.problem)

    def observe(self, callback: Callable[[str], None]) -> Subscription:
        """Calls back with the name of a content that has come, or has got on."""
        return self._observers.observe(callback)

    def close(self) -> None:
        if self._subscription is None:
            return
        self._subscription.close()
        self._subscription = None
        self._checks.close()
        for wanted in self._wanted.values():
            if wanted.fetching is not None:
                wanted.fetching.cancel()
        self._wanted.clear()
        if self._retry is not None:
            self._retry.cancel()
        if self._streams is not None:
            self._streams.withdraw(self._group)

    # Fetching

    def _places(self) -> list[StreamPlace]:
        return [StreamPlace(*place) for _, place in sorted(self._shared.presence.places.items())]

    def _look(self) -> None:
        """Begins what can begin: after somebody came, something was finished, or some time."""
        if self._streams is None or self._subscription is None:
            return
        self.tell_place()
        places = self._places()
        moving = sum(1 for wanted in self._wanted.values() if wanted.fetching is not None)
        for name, wanted in list(self._wanted.items()):
            if wanted.fetching is not None or name in self._checks or moving >= _FETCHING_MAX:
                continue
            place = next((each for each in places if each not in wanted.asked), None)
            if place is not None:
                moving += self._begin(name, wanted, place)
        waiting = any(wanted.fetching is None for wanted in self._wanted.values())
        if waiting and self._retry is None:
            self._retry = self._host.scheduler.call_later(RETRY_S, self._look_again)

    def _look_again(self) -> None:
        """Those who did not have it may have it by now."""
        self._retry = None
        for wanted in self._wanted.values():
            wanted.asked.clear()
        self._look()

    def _begin(self, name: str, wanted: _Wanted, place: StreamPlace) -> bool:
        assert self._streams is not None
        wanted.asked.add(place)
        try:
            destination = self.store.make_room(name, wanted.size)
        except ContentProblem as problem:
            wanted.problem = str(problem)
            self._observers.notify(name)
            return False
        wanted.problem = ""
        wanted.fetching = self._streams.fetch(
            place,
            self._group,
            self._key,
            bytes.fromhex(name),
            destination,
            wanted.size,
            lambda done, _size: self._on_progress(name, done),
            lambda problem: self._on_done(name, problem),
        )
        return True

    def _on_progress(self, name: str, done: int) -> None:
        wanted = self._wanted.get(name)
        if wanted is not None:
            wanted.done = done
            self._observers.notify(name)

    def _on_done(self, name: str, problem: str) -> None:
        wanted = self._wanted.get(name)
        if wanted is None:
            return
        wanted.fetching = None
        if not problem:
            self.store.approve(name)  # it was checked while it came
            self._come(name)
        self._observers.notify(name)
        self._look()

    def _come(self, name: str) -> None:
        """A content may be here: if so, the others can have it."""
        if self.find(name) is not None:
            self._wanted.pop(name, None)
            self.offer(name)

    def _on_checked(self, name: str, right: bool) -> None:
        """One that was wrong is not here any more, and fetched if it is wanted."""
        if right:
            self._come(name)
        self._observers.notify(name)
        self._look()


class _Wanted:
    """A content that is not here yet; `asked` are those who did not have it."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.done = 0
        self.fetching: Fetching | None = None
        self.asked: set[StreamPlace] = set()
        self.problem = ""
