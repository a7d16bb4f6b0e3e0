"""Virtual time that passes with real time, so that the product can be tried with no network."""

from __future__ import annotations

import time
from collections.abc import Callable

from transport.loop import Closable, Watcher
from transport.simulation import Simulation


class SimulationDriver:
    """Lets virtual time pass with real time, in an event loop; for trying things with no network.

    When the loop was held up, or the machine slept, the virtual clock skips what it missed beyond
    `catch_up_s`, instead of holding the loop up again.
    """

    def __init__(
        self,
        simulation: Simulation,
        watcher: Watcher,
        *,
        tick_s: float = 0.01,
        speed: float = 1.0,
        catch_up_s: float = 0.05,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._simulation = simulation
        self._watcher = watcher
        self._tick_s = tick_s
        self._speed = speed
        self._catch_up_s = catch_up_s
        self._clock = clock
        self._last_s = clock()
        self._timer: Closable | None = None
        self._arm()

    def close(self) -> None:
        """Time stands still from now on."""
        if self._timer is not None:
            self._timer.close()
            self._timer = None

    def _arm(self) -> None:
        self._timer = self._watcher.call_at(self._last_s + self._tick_s, self._tick)

    def _tick(self) -> None:
        now_s = self._clock()
        passed_s = min(now_s - self._last_s, self._catch_up_s)
        self._last_s = now_s
        self._arm()
        self._simulation.run_for(passed_s * self._speed)
