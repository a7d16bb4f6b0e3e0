"""Owns the description of where an object runs: network, disk, person, time and randomness, passed
in.

No object reads a clock or draws entropy by itself, so the same object runs in the application and,
by the hundred and repeatably, on the virtual clock of a simulator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from liveobj.observers import Observers
from liveobj.packages.trust import Ask, refuse_all
from transport.identities import Identity
from transport.interfaces import Network, Streams


class TimerHandle(Protocol):
    """What a scheduler returns; `asyncio.TimerHandle` is one."""

    def cancel(self) -> None: ...


class Scheduler(Protocol):
    """Runs callbacks later, in the one thread; an asyncio event loop is one."""

    def time(self) -> float:
        """Seconds on a monotonic clock."""

    def call_later(self, delay: float, callback: Callable[[], None]) -> TimerHandle:
        """Runs `callback` once, `delay` seconds from now, unless cancelled."""


class InBackground(Protocol):
    """Does slow work elsewhere, one piece after another, and then calls back in the one thread,
    with what was raised."""

    def __call__(
        self, work: Callable[[], None], done: Callable[[Exception | None], None]
    ) -> None: ...


class Watch(Protocol):
    """A descriptor that is watched."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Person:
    """Whoever sits at this machine, as the others see them; `colour` is `#rrggbb`."""

    name: str
    colour: str = "#3b82f6"


@dataclass(frozen=True, slots=True)
class Host:
    """What objects are given. `folder` holds their databases; `random_bytes` is `os.urandom` in the
    application and a seeded generator in a simulation. `wall_time` gives seconds since 1970, where
    there is a clock on the wall; `ask_consent` asks the person whether the code of a publisher may
    run, and refuses by default; `identity` signs for the person, None leaves them unverified;
    `streams` carries contents that are too large for messages, where the program has them;
    `watch_readable` calls back while a descriptor can be read, where the event loop can do that;
    `in_background` waits for the disk where a person would feel the waiting."""

    network: Network
    folder: Path
    person: Person
    scheduler: Scheduler
    random_bytes: Callable[[int], bytes]
    wall_time: Callable[[], float] | None = None
    ask_consent: Ask = refuse_all
    recalled_packages: frozenset[str] = frozenset()
    identity: Identity | None = None
    streams: Streams | None = None
    watch_readable: Callable[[int, Callable[[], None]], Watch] | None = None
    in_background: InBackground | None = None
    # Notified when this machine goes on from a snapshot: a twin of it may use the same identities.
    new_identity: Observers[None] = field(default_factory=Observers)

    def new_peer_id(self) -> int:
        """A fresh identity for one opening of one document.

        Never reused: two writers under one identity would corrupt a replicated document, so every
        opening gets its own (63 bits, since some stores know only signed 64-bit integers).
        """
        return int.from_bytes(self.random_bytes(8), "big") >> 1
