"""Owns how often each member may greet and send marks: whoever does it more is not heard until it
is slower.

Members greet after each view and when something is missing, so a few at once are right, and one a
second after that. A greeting may cost others an answer; without a limit one member could keep all
others busy.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

GREETINGS_AT_ONCE = 12.0
GREETINGS_PER_S = 1.0
GREETINGS_PER_VIEW = 4.0


class GreetingLimit:
    """How many greetings each member has left."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._left: dict[int, tuple[float, float]] = {}  # by member: how many, at which time

    def on_view(self, nodes: Collection[int]) -> None:
        self._left = {
            node: (min(GREETINGS_AT_ONCE, self._now_left(node) + GREETINGS_PER_VIEW), self._now())
            for node in nodes
        }

    def _now_left(self, node: int) -> float:
        left, since = self._left.get(node, (GREETINGS_AT_ONCE, self._now()))
        return min(GREETINGS_AT_ONCE, left + (self._now() - since) * GREETINGS_PER_S)

    def admit(self, node: int) -> bool:
        """Whether a greeting of this member is heard; it has one fewer then."""
        if node not in self._left:
            return True  # not in the view: nothing follows from it
        left = self._now_left(node)
        if left < 1:
            return False
        self._left[node] = (left - 1, self._now())
        return True
