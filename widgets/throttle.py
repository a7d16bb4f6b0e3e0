"""At most one call per frame: bursts of changes are gathered, the newest state is shown once.

The helper owns the waiting, not the work. Clock and timer are passed in, so that a test turns the
hands itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, Qt, QTimer

FRAME_S = 1 / 60


class Alarm(Protocol):
    """Runs one callback after a delay; setting it again moves it."""

    def set(self, delay_s: float, callback: Callable[[], None]) -> None: ...

    def clear(self) -> None: ...


class QtAlarm:
    """The alarm of the window program: one precise single-shot timer."""

    def __init__(self, parent: QObject | None = None) -> None:
        self._timer = QTimer(parent)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._ring)
        self._callback: Callable[[], None] | None = None

    def set(self, delay_s: float, callback: Callable[[], None]) -> None:
        self._callback = callback
        self._timer.start(max(0, round(delay_s * 1000)))

    def clear(self) -> None:
        self._callback = None
        self._timer.stop()

    def _ring(self) -> None:
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()


class Throttle:
    """Calls `work` soon after `request`, but never twice within `interval_s`.

    The first request after a quiet time is served in the next turn of the loop; requests that come
    meanwhile are one.
    """

    def __init__(
        self,
        work: Callable[[], None],
        alarm: Alarm,
        interval_s: float = FRAME_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._work = work
        self._alarm = alarm
        self._interval_s = interval_s
        self._clock = clock
        self._last_s: float | None = None
        self._waiting = False

    def request(self) -> None:
        """Says that there is something to do."""
        if self._waiting:
            return
        self._waiting = True
        delay_s = 0.0
        if self._last_s is not None:
            delay_s = max(0.0, self._last_s + self._interval_s - self._clock())
        self._alarm.set(delay_s, self._run)

    def flush(self) -> None:
        """Does at once what has been requested; nothing if nothing was."""
        if self._waiting:
            self._alarm.clear()
            self._run()

    def close(self) -> None:
        self._waiting = False
        self._alarm.clear()

    def _run(self) -> None:
        self._waiting = False
        self._last_s = self._clock()
        self._work()
