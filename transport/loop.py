"""The one place where the engine and an event loop meet: descriptors and deadline in, bounded
steps out.

Every wake-up makes one step of a bounded length. Where work is left the next step is asked of the
loop as a new appointment, so that the user interface has its turn between; the length follows what
the loop's own lateness tells of the frames that it has to paint. Which loop it is, a `Watcher`
knows: plain asyncio here, Qt's in the application.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from transport.errors import Closed

Callback = Callable[[], None]

FRAME_S = 1 / 60
# A frame that comes later than this is seen as a stutter.
FRAME_LATE_S = FRAME_S / 4
BUDGET_S = 0.002
BUDGET_S_MIN = 0.00025
BUDGET_S_MAX = 0.004
# A deadline that is met later than this is counted.
WAKE_LATE_S = 0.005
# How soon a full socket is tried again. Sockets drain in microseconds; watching them for writing
# would need a second kind of notifier in every loop.
WRITE_RETRY_S = 0.001


class Closable(Protocol):
    def close(self) -> None: ...


class Watcher(Protocol):
    """What the join asks of an event loop; times are seconds of the monotonic clock."""

    def watch_readable(self, descriptor: int, callback: Callback) -> Closable:
        """Calls back whenever the descriptor has something to read, until closed."""

    def call_at(self, deadline_s: float, callback: Callback) -> Closable:
        """Calls back once, not before that time, unless closed before; soon if it has passed, but
        never inside this call."""


class Steppable(Protocol):
    """What the join asks of an engine."""

    on_wake: Callback | None
    on_closing: Callback | None
    on_sockets: Callback | None

    def step(self, budget_s: float) -> bool: ...
    def descriptors(self) -> tuple[int, tuple[int, ...]]: ...
    @property
    def deadline_s(self) -> float: ...
    @property
    def wants_write(self) -> bool: ...
    @property
    def closed(self) -> bool: ...


class FrameBudget:
    """How long one step may take: halved when frames are late, grown slowly while they are not."""

    def __init__(self, budget_s: float = BUDGET_S) -> None:
        self.budget_s = budget_s
        self.delayed_frames = 0

    def on_frame(self, lateness_s: float) -> None:
        if lateness_s > FRAME_LATE_S:
            self.delayed_frames += 1
            self.budget_s = max(BUDGET_S_MIN, self.budget_s / 2)
        else:
            self.budget_s = min(BUDGET_S_MAX, self.budget_s * 1.05)


@dataclass(slots=True)
class JoinCounters:
    """What the join did; `late_wakeups` are deadlines met more than 5 ms late."""

    steps: int = 0
    late_wakeups: int = 0
    longest_step_s: float = 0.0
    delayed_frames: int = 0
    frames: int = 0


class EngineJoin:
    """Steps `engine` from a loop, until closed. Closing the engine closes this first."""

    def __init__(
        self,
        engine: Steppable,
        watcher: Watcher,
        *,
        budget: FrameBudget | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.counters = JoinCounters()
        # Called before each step: what must be known before anything is sent.
        self.before_step: Callback | None = None
        self.budget = budget or FrameBudget()
        self._engine = engine
        self._watcher = watcher
        self._clock = clock
        self._generation = -1
        self._readers: list[Closable] = []
        self._soon: Closable | None = None
        self._timer: Closable | None = None
        self._timer_s = math.inf
        self._frame: Closable | None = None
        self._frame_s = 0.0
        self._closed = False
        engine.on_wake = self._on_wake
        engine.on_closing = self.close
        engine.on_sockets = self._watch_descriptors
        self._watch_descriptors()
        self._on_wake()

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """The loop forgets the engine, which stays as it is. Harmless when done twice."""
        if self._closed:
            return
        self._closed = True
        self._engine.on_wake = None
        self._engine.on_closing = None
        self._engine.on_sockets = None
        for watched in (*self._readers, self._soon, self._timer, self._frame):
            if watched is not None:
                watched.close()
        self._readers.clear()
        self._soon = self._timer = self._frame = None

    # What wakes it

    def _on_readable(self) -> None:
        # With a step already appointed the loop's other work goes first.
        if self._soon is None:
            self._step()

    def _on_wake(self) -> None:
        if self._soon is None and not self._closed:
            self._soon = self._watcher.call_at(self._clock(), self._on_soon)

    def _on_soon(self) -> None:
        self._soon = None
        self._step()

    def _on_deadline(self) -> None:
        lateness_s = self._clock() - self._timer_s
        self._timer = None
        self._timer_s = math.inf
        if lateness_s > WAKE_LATE_S:
            self.counters.late_wakeups += 1
        if self._soon is None:
            self._step()

    # One step

    def _step(self) -> None:
        if self._closed:
            return
        if self._engine.closed:
            self.close()
            return
        started_s = self._clock()
        more = True
        try:
            if self.before_step is not None:
                self.before_step()
            more = self._engine.step(self.budget.budget_s)
        except Closed:
            self.close()
        finally:
            if not self._closed:
                self._after_step(started_s, more)

    def _after_step(self, started_s: float, more: bool) -> None:
        now_s = self._clock()
        counters = self.counters
        counters.steps += 1
        counters.longest_step_s = max(counters.longest_step_s, now_s - started_s)
        self._watch_descriptors()
        if more:
            self._watch_frame(now_s)
            self._on_wake()
        elif self._engine.wants_write:
            self._arm(now_s + WRITE_RETRY_S)
        else:
            self._arm(self._engine.deadline_s)

    def _arm(self, deadline_s: float) -> None:
        """Wakes at the deadline. A later one than is armed already waits for that to pass, which
        costs an early step now and then, and saves a timer at every packet."""
        if deadline_s >= self._timer_s:
            return
        if self._timer is not None:
            self._timer.close()
        self._timer_s = deadline_s
        self._timer = self._watcher.call_at(deadline_s, self._on_deadline)

    def _watch_descriptors(self) -> None:
        generation, descriptors = self._engine.descriptors()
        if generation == self._generation:
            return
        self._generation = generation
        for reader in self._readers:
            reader.close()
        self._readers = [
            self._watcher.watch_readable(descriptor, self._on_readable)
            for descriptor in descriptors
        ]

    # Frames: while there is more work than a step can do, the loop's lateness is measured once per
    # frame. An idle engine has no such timer.

    def _watch_frame(self, now_s: float) -> None:
        if self._frame is None:
            self._frame_s = now_s + FRAME_S
            self._frame = self._watcher.call_at(self._frame_s, self._on_frame)

    def _on_frame(self) -> None:
        self._frame = None
        now_s = self._clock()
        self.counters.frames += 1
        self.budget.on_frame(now_s - self._frame_s)
        self.counters.delayed_frames = self.budget.delayed_frames
        if self._soon is not None:
            self._watch_frame(now_s)


# Plain asyncio


class _Reader:
    def __init__(
        self, loop: asyncio.AbstractEventLoop, descriptor: int, callback: Callback
    ) -> None:
        self._loop = loop
        self._descriptor = descriptor
        loop.add_reader(descriptor, callback)

    def close(self) -> None:
        if not self._loop.is_closed():
            self._loop.remove_reader(self._descriptor)


class _Appointment:
    __slots__ = ("close",)

    def __init__(self, handle: asyncio.Handle) -> None:
        self.close = handle.cancel


class AsyncioWatcher:
    """Watches in an asyncio event loop; the running one when none is given."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._loop = loop or asyncio.get_running_loop()
        self._clock = clock

    def watch_readable(self, descriptor: int, callback: Callback) -> Closable:
        return _Reader(self._loop, descriptor, callback)

    def call_at(self, deadline_s: float, callback: Callback) -> Closable:
        delay_s = deadline_s - self._clock()
        if delay_s <= 0:
            return _Appointment(self._loop.call_soon(callback))
        return _Appointment(self._loop.call_later(delay_s, callback))
