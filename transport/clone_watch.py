"""Owns noticing that this machine goes on from a snapshot, or as a clone of another one.

Such a machine has a twin that knows the same ids and counts on from the same numbers, so it takes
new ids before it sends anything. Two signs show it: the system says that the virtual machine has
another generation (Linux: a uevent of the vmgenid driver), or the wall clock has jumped against the
clock that counts all time since boot. That clock goes on while a laptop is suspended, so a mere
suspend is no sign. Somebody who sets the clock by more than ten seconds causes a renewal as well:
it costs one rejoin, and it is bounded to one a minute.
"""

from __future__ import annotations

import hashlib
import logging
import os
import socket
import time
from collections.abc import Callable

from transport.errors import Closed, WrongMoment
from transport.loop import Closable, EngineJoin, Watcher
from transport.node import Node

log = logging.getLogger(__name__)

# Clocks that are set by the network jump less than this.
JUMP_S = 10.0
# A clock that jumps again and again causes at most one renewal in that time.
RENEWAL_PAUSE_S = 60.0
_NETLINK_KOBJECT_UEVENT = 15
_UEVENTS_OF_THE_KERNEL = 1
_NEWS_BYTES_MAX = 65536
_NEW_GENERATION = b"NEW_VMGENID=1"


def time_since_boot() -> float:
    """Seconds since boot, those in suspend included where the system counts them."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


class SnapshotSigns:
    """Whether the machine was resumed from a snapshot since the last question, by its clocks."""

    __slots__ = ("_difference_s",)

    def __init__(self, wall_s: float, boot_s: float) -> None:
        self._difference_s = wall_s - boot_s

    def clocks_jumped(self, wall_s: float, boot_s: float) -> bool:
        """Whether the wall clock went elsewhere than the time since boot. Slow drift is none."""
        before_s, self._difference_s = self._difference_s, wall_s - boot_s
        return abs(self._difference_s - before_s) > JUMP_S


class CloneWatch:
    """Renews a node's identity when the machine was resumed from a snapshot, until closed. The
    join asks it before each step; it has no timer of its own."""

    def __init__(
        self,
        node: Node,
        join: EngineJoin,
        watcher: Watcher,
        wall: Callable[[], float] = time.time,
        boot: Callable[[], float] = time_since_boot,
        news: socket.socket | None = None,
    ) -> None:
        self._node = node
        self._join = join
        self._wall = wall
        self._boot = boot
        self._signs = SnapshotSigns(wall(), boot())
        self._due = False
        self._renewed_s: float | None = None
        self._news = news or _listen()
        self._reading: Closable | None = None
        if self._news is not None:
            self._reading = watcher.watch_readable(self._news.fileno(), self._on_news)
        join.before_step = self.check

    def close(self) -> None:
        """Harmless when done twice."""
        if self._reading is not None:
            self._reading.close()
            self._reading = None
        if self._news is not None:
            self._news.close()
            self._news = None
        if self._join.before_step == self.check:
            self._join.before_step = None

    def check(self) -> None:
        """Reads the clocks, and renews the identity when that is due and possible."""
        wall_s, boot_s = self._wall(), self._boot()
        if self._signs.clocks_jumped(wall_s, boot_s):
            self._due = True
        if self._due:
            self._renew(wall_s, boot_s)

    def _on_news(self) -> None:
        assert self._news is not None
        try:
            while news := self._news.recv(_NEWS_BYTES_MAX):
                self._due |= _NEW_GENERATION in news
        except BlockingIOError:
            pass
        except OSError:
            log.debug("news of the kernel were lost")
        self.check()

    def _renew(self, wall_s: float, boot_s: float) -> None:
        if self._renewed_s is not None and 0 <= boot_s - self._renewed_s < RENEWAL_PAUSE_S:
            return
        try:
            self._node.renew_identity(_fresh_seed(wall_s, boot_s))
        except WrongMoment:
            return  # before the next step
        except Closed:
            self._due = False
            return
        self._due = False
        self._renewed_s = boot_s
        log.warning("this machine was resumed from a snapshot, or its clock was set: new ids")


def _fresh_seed(wall_s: float, boot_s: float) -> bytes:
    """Two clones may have the same random numbers for a while, but not the same time."""
    here = f"{wall_s!r} {boot_s!r} {time.perf_counter_ns()} {os.getpid()}".encode()
    return hashlib.sha256(os.urandom(32) + here).digest()


def _listen() -> socket.socket | None:
    """Where the kernel tells of another generation of the machine; None where it does not."""
    if not hasattr(socket, "AF_NETLINK"):
        return None
    try:
        news = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_KOBJECT_UEVENT)
        news.setblocking(False)
        news.bind((0, _UEVENTS_OF_THE_KERNEL))
    except OSError as problem:
        log.info("another generation of this machine is noticed by its clocks only: %s", problem)
        return None
    return news
