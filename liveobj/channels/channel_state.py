"""Owns what a document's channel knows about itself: its state as others see it, its counters, and
what it has to say next."""

from __future__ import annotations

from dataclasses import dataclass, field

from liveobj.channels.fragments import Cutter
from liveobj.channels.twin_check import Mark


@dataclass(frozen=True, slots=True)
class ChannelState:
    """`people` counts this member too and is 0 before the first view; `unsent` counts own
    operations that not every other member has received; `catching_up` while others are known to
    have more."""

    people: int = 0
    unsent: int = 0
    catching_up: bool = False


@dataclass(slots=True)
class Counters:
    """What the channel did; `dropped` messages were not understood, `refused` not allowed,
    `limited` greetings came too often from one member, `twins` are marks that differ."""

    sent: int = 0
    received: int = 0
    dropped: int = 0
    refused: int = 0
    limited: int = 0
    twins: int = 0
    greetings: int = 0
    answers: int = 0


@dataclass(slots=True)
class Due:
    """What is to be said at the next opportunity; each is said once, with what is true then."""

    introduction: bool = False
    hello: bool = False
    marks: bool = False
    replies: list[Mark] = field(default_factory=list)  # marks for those who have less
    whole: bool = False  # that greeting with the version itself
    presence: bool = False
    outgoing: Cutter | None = None
