"""Many small edits a second in the note in front: what an automatic writer would do."""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer

from app.window import MainWindow
from liveobj.objects.text_note import TextNote

_TICK_MS = 10
# In one tick it works no longer than this, so that the window stays alive; the rate drops instead.
_WORK_S_MAX = 0.008


class Burst(QObject):
    """Begins at once and ends by itself. Attributes: `result`, empty until it has ended."""

    def __init__(self, window: MainWindow, rate: int, seconds: float) -> None:
        super().__init__(window)
        front = window.front
        shared = None if front is None else front.opened.opening.shared
        assert isinstance(shared, TextNote), "a note is in front"
        self._text = shared.text
        self._rate = rate
        self._start_s = time.monotonic()
        self._end_s = self._start_s + seconds
        self._done = 0
        self.result: dict[str, Any] = {}
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start(_TICK_MS)

    def _tick(self) -> None:
        now_s = time.monotonic()
        due = round((min(now_s, self._end_s) - self._start_s) * self._rate)
        until_s = now_s + _WORK_S_MAX
        length = self._text.length
        while self._done < due and time.monotonic() < until_s:
            # Over and over the same short text: it is the edits that count, not its length.
            if length >= 200:
                self._text.delete(0, 1)
                length -= 1
            else:
                self._text.insert(length // 2, "x")
                length += 1
            self._done += 1
        if now_s >= self._end_s:
            self._timer.stop()
            self.result = {"edits": self._done, "seconds": now_s - self._start_s}
