"""Parts of the messages of an ordered channel, checked: anybody may have sent anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from liveobj.channels.messages import BadMessage


@dataclass(frozen=True, slots=True)
class Promise:
    """How far a member is, and that it takes part in no earlier epoch."""

    identity: int
    lineage: int
    epoch: int
    end: int
    delivered: int
    electorates: tuple[tuple[int, ...], ...]

    @property
    def rank(self) -> tuple[int, int, int]:
        return (self.epoch, self.end, self.lineage)


def integers(items: Sequence[object]) -> tuple[int, ...]:
    """Identities of members."""
    if not all(isinstance(item, int) for item in items):
        raise BadMessage("identities that are no numbers")
    return tuple(item for item in items if isinstance(item, int))


def electorates_in(items: Sequence[object]) -> tuple[tuple[int, ...], ...]:
    """None of them is empty."""
    found = tuple(integers(item) for item in items if isinstance(item, list))
    if len(found) != len(items) or not all(found):
        raise BadMessage("electorates that are none")
    return found


def check_begin(
    electorates: Sequence[Sequence[int]], entries: Sequence[object], known: Sequence[object]
) -> None:
    """What begins an epoch: its electorates, entries that others may lack, and counts of each
    member's messages."""
    if not electorates:
        raise BadMessage("an epoch of nobody")
    for entry in entries:
        match entry:
            case [int(), int(), bytes()]:
                continue
        raise BadMessage("an entry that is none")
    for pair in known:
        match pair:
            case [int(), int()]:
                continue
        raise BadMessage("a count that is none")
