"""Owns one callback in the future that can be moved and taken back."""

from __future__ import annotations

from collections.abc import Callable

from liveobj.host import Scheduler, TimerHandle

# Clocks count in steps, so a time that is almost here may never come closer.
DELAY_S_MIN = 0.001

_NEVER = float("inf")


class Alarm:
    """Calls back once at the time that is set."""

    def __init__(self, scheduler: Scheduler, callback: Callable[[], None]) -> None:
        self._scheduler = scheduler
        self._callback = callback
        self._timer: TimerHandle | None = None
        self._at = _NEVER

    def set_at(self, at: float) -> None:
        """Calls back at this time and at no other; never, if that is infinite."""
        if at != self._at:
            self.cancel()
            if at < _NEVER:
                self._at = at
                delay_s = max(DELAY_S_MIN, at - self._scheduler.time())
                self._timer = self._scheduler.call_later(delay_s, self._on_time)

    def set_within(self, delay_s: float) -> None:
        """Calls back after that time, or earlier if it is set to an earlier one already."""
        self.set_at(min(self._at, self._scheduler.time() + delay_s))

    def _on_time(self) -> None:
        self._timer, self._at = None, _NEVER
        self._callback()

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._at = None, _NEVER
