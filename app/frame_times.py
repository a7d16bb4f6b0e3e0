"""How evenly the window is painted, and when what was painted last: measured from inside."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

_TICK_MS = 16
_KEPT_MAX = 20_000


class FrameTimes(QObject):
    """Watches one widget's painting and the turns of the event loop, from `watch` until `take`."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._target: QWidget | None = None
        self._size: Callable[[], int] = lambda: 0
        self._painted: list[tuple[float, int]] = []
        self._turns_s: list[float] = []
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._tick)

    def watch(self, target: QWidget, size: Callable[[], int]) -> None:
        """`size` tells how much there is to be seen, such as the length of a text."""
        self.stop()
        self._size = size
        self._target = target
        target.installEventFilter(self)
        self._timer.start()

    def stop(self) -> None:
        if self._target is not None:
            self._target.removeEventFilter(self)
        self._target = None
        self._timer.stop()

    def take(self) -> dict[str, Any]:
        """When something was painted and how much there was to be seen then; and how long the loop
        took between its ticks, in seconds."""
        painted, self._painted = self._painted, []
        turns, self._turns_s = self._turns_s, []
        gaps = [after - before for before, after in itertools.pairwise(turns)]
        return {"painted": painted, "gaps_s": gaps}

    def _tick(self) -> None:
        self._turns_s = [*self._turns_s[-_KEPT_MAX:], time.monotonic()]

    # Qt

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Paint:
            # After the event has been handled, what it painted is in the window.
            QTimer.singleShot(0, self, self._note_painted)
        return False

    def _note_painted(self) -> None:
        self._painted.append((time.monotonic(), self._size()))
        del self._painted[:-_KEPT_MAX]
