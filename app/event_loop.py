"""The event loop that Qt, asyncio and the engine share: qasync's, with timers that can be trusted.

qasync gives every pending call a Qt timer of its own, coarse ones, which may fire up to five per
cent early and live on after they have been cancelled. Here asyncio's handles wait in one queue and
one heap, and a single precise Qt timer wakes the loop for the next of them: never early, and a
thousand timeouts that were cancelled cost nothing. The loop knows neither engine nor windows.
"""

from __future__ import annotations

import asyncio
import heapq
import math
from collections import deque
from collections.abc import Callable
from contextvars import Context
from typing import Any

import qasync
from PySide6.QtCore import QCoreApplication, Qt, QTimer

# Below this many timers a purge of cancelled ones is not worth its walk over the heap.
_PURGE_TIMERS_MIN = 64


class EventLoop(qasync.QEventLoop):  # type: ignore[misc]  # qasync has no type hints
    """An asyncio loop on Qt's; `timers_pending` counts the entries of its heap."""

    def __init__(self, application: QCoreApplication) -> None:
        self._soon: deque[asyncio.Handle] = deque()
        self._later: list[asyncio.TimerHandle] = []
        self._later_cancelled = 0
        self._wakeup = QTimer()
        self._wakeup.setSingleShot(True)
        self._wakeup.setTimerType(Qt.TimerType.PreciseTimer)
        self._wakeup.timeout.connect(self._turn)
        super().__init__(application)

    @property
    def timers_pending(self) -> int:
        return len(self._later)

    def call_soon(
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        self._check_closed()
        _check_callback(callback, "call_soon")
        handle = asyncio.Handle(callback, args, self, context)
        self._soon.append(handle)
        if len(self._soon) == 1:
            self._wakeup.start(0)
        return handle

    def call_later(
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        self._check_closed()
        _check_callback(callback, "call_at")
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._later, handle)
        # asyncio tells the loop about the cancelling of a handle only while this mark is set.
        handle._scheduled = True  # type: ignore[attr-defined]
        if not self._soon and self._later[0] is handle:
            self._arm()
        return handle

    def close(self) -> None:
        if not self.is_closed() and not self.is_running():
            self._wakeup.stop()
            self._soon.clear()
            self._later.clear()
        super().close()

    def _turn(self) -> None:
        """Runs what was ready when the turn began; what that adds waits until Qt had its turn."""
        now_s = self.time()
        while self._later and (self._later[0].cancelled() or self._later[0].when() <= now_s):
            timer = heapq.heappop(self._later)
            timer._scheduled = False  # type: ignore[attr-defined]
            if timer.cancelled():
                self._later_cancelled -= 1
            else:
                self._soon.append(timer)
        for _ in range(len(self._soon)):
            if not self._soon:  # A nested event loop inside a handle has run the rest.
                break
            handle = self._soon.popleft()
            if not self._wakeup.isActive():
                self._arm()
            if not handle.cancelled():
                handle._run()
        if not self.is_closed():
            self._arm()

    def _arm(self) -> None:
        if self._soon:
            self._wakeup.start(0)
        elif self._later:
            delay_s = self._later[0].when() - self.time()
            self._wakeup.start(min(max(0, math.ceil(delay_s * 1000)), 2**31 - 1))
        else:
            self._wakeup.stop()

    def _timer_handle_cancelled(self, _handle: asyncio.TimerHandle) -> None:
        self._later_cancelled += 1
        many = len(self._later) > _PURGE_TIMERS_MIN
        if many and self._later_cancelled * 2 > len(self._later):
            self._later = [timer for timer in self._later if not timer.cancelled()]
            heapq.heapify(self._later)
            self._later_cancelled = 0


def _check_callback(callback: Callable[..., Any], method: str) -> None:
    if asyncio.iscoroutinefunction(callback) or not callable(callback):
        raise TypeError(f"{method} wants a plain callable, not {callback!r}")
