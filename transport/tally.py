"""Owns the sums of what one group has delivered, which logs give to whoever plans regions."""

from __future__ import annotations

from collections.abc import Sequence


class Tally:
    """Messages and bytes since the group was joined; `own` ones were sent by this node."""

    __slots__ = ("bytes", "messages", "own_bytes", "own_messages")

    def __init__(self) -> None:
        self.messages = 0
        self.bytes = 0
        self.own_messages = 0
        self.own_bytes = 0

    def add(self, senders: Sequence[int], sizes: Sequence[int], me: int) -> None:
        """Counts one batch; nothing is done for each message unless some are one's own."""
        self.messages += len(sizes)
        self.bytes += sum(sizes)
        own = senders.count(me)
        if own:
            self.own_messages += own
            self.own_bytes += sum(
                size for sender, size in zip(senders, sizes, strict=True) if sender == me
            )
