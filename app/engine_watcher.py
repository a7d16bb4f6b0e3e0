"""Qt's eyes for the engine: descriptors watched by notifiers, its deadline by one precise timer.

Fulfils the `Watcher` protocol of `transport.loop`, which joins the engine to any event loop; this
is the one for the window program. It knows nothing of packets.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QSocketNotifier, Qt, QTimer

# Qt counts milliseconds in 32 bits; whoever waits for days is woken in between, and waits again.
_DELAY_S_MAX = 86400.0


class _Readable:
    """One watched descriptor."""

    def __init__(self, descriptor: int, callback: Callable[[], None], parent: QObject) -> None:
        self._callback = callback
        self._notifier: QSocketNotifier | None = QSocketNotifier(
            descriptor, QSocketNotifier.Type.Read, parent
        )
        self._notifier.activated.connect(self._ready)

    def _ready(self) -> None:
        if self._notifier is not None:
            self._callback()

    def close(self) -> None:
        if self._notifier is not None:
            self._notifier.setEnabled(False)
            self._notifier.deleteLater()
            self._notifier = None


class _Appointment:
    """One callback at one time; closing it leaves an empty entry that the timer passes over."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def close(self) -> None:
        self.callback = None


class EngineWatcher:
    """Watches descriptors and deadlines in the Qt event loop; `clock` is monotonic, in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._parent = QObject()
        self._order = itertools.count()
        self._appointments: list[tuple[float, int, _Appointment]] = []
        self._timer = QTimer(self._parent)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._due)

    def watch_readable(self, descriptor: int, callback: Callable[[], None]) -> _Readable:
        """Calls back whenever the descriptor has something to read, until closed."""
        return _Readable(descriptor, callback, self._parent)

    def call_at(self, deadline_s: float, callback: Callable[[], None]) -> _Appointment:
        """Calls back once, at that time of the clock or a little later, never earlier."""
        appointment = _Appointment(callback)
        heapq.heappush(self._appointments, (deadline_s, next(self._order), appointment))
        self._arm()
        return appointment

    def _due(self) -> None:
        now_s = self._clock()
        due = []
        while self._appointments and self._appointments[0][0] <= now_s:
            due.append(heapq.heappop(self._appointments)[2])
        self._arm()
        for appointment in due:
            callback, appointment.callback = appointment.callback, None
            if callback is not None:
                callback()

    def _arm(self) -> None:
        while self._appointments and self._appointments[0][2].callback is None:
            heapq.heappop(self._appointments)
        if self._appointments:
            delay_s = self._appointments[0][0] - self._clock()
            self._timer.start(max(0, math.ceil(min(delay_s, _DELAY_S_MAX) * 1000)))
        else:
            self._timer.stop()
