"""Owns what is known of own operations that the other members have: how many of them every one who
is still in the view has received.

The engine says when all members have received what was handed to it (`Group.when_received`). Only
one question is open at a time, so that fast writing costs one answer a round trip.
"""

from __future__ import annotations

from collections.abc import Callable

from transport.interfaces import Group


class Receipts:
    """Of one document's own operations, counted as its version counts them. `on_change` is called
    when others have received more."""

    def __init__(self, end: int, on_change: Callable[[], None]) -> None:
        self._received = end
        self._on_change = on_change
        self._handed = end
        self._asked: int | None = None  # the question that is open: about all below this
        self.owed: int | None = None  # all below this waits for the greetings of others

    def missing(self, end: int) -> int:
        """How many of the operations below `end` somebody in the view may lack."""
        return max(0, end - self._received)

    def on_alone(self, end: int) -> None:
        """Nobody else is there: nothing is missing anywhere."""
        self._received = self._handed = end
        self._asked = self.owed = None

    def on_newcomers(self, end: int) -> None:
        """Others have come, who greet: what they lack is sent when they have."""
        if end > 0:
            self._received = 0
            self._asked = None
            self.owed = end

    def on_answer(self, start: int) -> None:
        """Somebody lacks own operations from there on, and they are about to be sent."""
        self._received = min(self._received, start)

    def on_greeted(self) -> None:
        """All have greeted, and what they lacked has been handed to the network."""
        self.owed = None

    def on_handed(self, group: Group, end: int) -> None:
        """The network has all operations below `end`, unless greetings are still awaited."""
        self._handed = end
        self._ask(group)

    def _ask(self, group: Group) -> None:
        waits = self._asked is not None or self.owed is not None
        if waits or self._received >= self._handed:
            return
        asked = self._asked = self._handed
        group.when_received(lambda: self._on_received(group, asked))

    def _on_received(self, group: Group, asked: int) -> None:
        if self._asked != asked:
            return  # of an earlier stay in the network
        self._asked = None
        self._received = max(self._received, asked)
        self._ask(group)
        self._on_change()
