"""Owns when the keys of groups change: with the day, at every member by its own clock.

Nothing pauses for it: members open whatever epoch others are in (`transport.group_keys`).
"""

from __future__ import annotations

from collections.abc import Callable

from transport.group_keys import EPOCHS
from transport.loop import Closable
from transport.node import Node

PERIOD_S = 24 * 60 * 60.0
# A clock may be set meanwhile, so it is looked at more often than once a period.
LOOK_S_MAX = 600.0


def epoch_at(seconds: float, period_s: float = PERIOD_S) -> int:
    """The epoch in which that time, in seconds since 1970, is."""
    return 1 + int(seconds // period_s) % EPOCHS


class KeyRotation:
    """Keeps an engine's groups in the epoch of the day, until closed.

    `call_at` runs a callback at a time of `clock`, which is the event loop's; `wall_time` is the
    time of day.
    """

    def __init__(
        self,
        node: Node,
        call_at: Callable[[float, Callable[[], None]], Closable],
        clock: Callable[[], float],
        wall_time: Callable[[], float],
        period_s: float = PERIOD_S,
    ) -> None:
        self._node = node
        self._call_at = call_at
        self._clock = clock
        self._wall_time = wall_time
        self._period_s = period_s
        self._timer: Closable | None = None
        self._look()

    def close(self) -> None:
        """The epoch stays as it is from here on. Harmless when done twice."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.close()

    def _look(self) -> None:
        if self._node.closed:
            return
        now_s = self._wall_time()
        self._node.use_epoch(epoch_at(now_s, self._period_s))
        left_s = self._period_s - now_s % self._period_s
        self._timer = self._call_at(self._clock() + min(left_s, LOOK_S_MAX), self._look)
