"""What an engine reports, one frozen class per kind, and the table from the engine's tag to the
class.

Deliveries and views have their classes in `transport.interfaces`, since the layers above use them.
The numbers here are those of native/include/qsm.h; a test compares them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from transport.errors import Evicted
from transport.interfaces import Delivery, View


class EventType(IntEnum):
    """Tags of the engine's events (enum qsm_event_type)."""

    DELIVERY = 1
    VIEW = 2
    HEALTH = 3
    WRITABLE = 4
    KEY = 5
    RECEIVED = 6


class Health(IntEnum):
    """What an engine is doing (enum qsm_health)."""

    SEARCHING = 0
    JOINING = 1
    MEMBER = 2
    HOST = 3
    SUSPENDED = 4
    CLOSED = 5

    @property
    def admitted(self) -> bool:
        """Whether groups have views and messages travel."""
        return self in (Health.MEMBER, Health.HOST)


class Reason(IntEnum):
    """Why the health changed (enum qsm_reason)."""

    NONE = 0
    STARTED = 1
    FOUND_HOST = 2
    NOBODY_ANSWERED = 3
    ADMITTED = 4
    HOST_SILENT = 5
    HOST_MERGED = 6
    EVICTED_SILENT = 7
    EVICTED_SLOW = 8
    SLEPT = 9
    CLOSING = 10
    RESUMED = 11


_EVICTIONS = {
    Reason.EVICTED_SILENT: "This computer was not heard of for too long and was put out of the "
    "network; it joins again by itself when it is reachable.",
    Reason.EVICTED_SLOW: "This computer could not keep up and was put out of the network; it joins "
    "again by itself, close something if it happens often.",
}


@dataclass(frozen=True, slots=True)
class HealthChanged:
    """The engine's health; `node` is this engine's id from now on, new after each admission."""

    health: Health
    reason: Reason
    node: int

    @property
    def problem(self) -> Evicted | None:
        """The error that this change means, if it means one."""
        sentence = _EVICTIONS.get(self.reason)
        return None if sentence is None else Evicted(sentence, node=f"{self.node:016x}")


@dataclass(frozen=True, slots=True)
class ViewChanged:
    """A group's view that is now in force."""

    group_id: bytes
    view: View


@dataclass(frozen=True, slots=True)
class Writable:
    """A group has room for messages again, after `send` has raised BackPressure."""

    group_id: bytes


@dataclass(frozen=True, slots=True)
class KeyWanted:
    """A message of an epoch has come whose key the engine was not given; it waits a moment."""

    group_id: bytes
    epoch: int


@dataclass(frozen=True, slots=True)
class Received:
    """All others have received what was sent in a group before `when_received`."""

    group_id: bytes


EVENT_CLASSES: dict[
    EventType, type[Delivery | ViewChanged | HealthChanged | Writable | KeyWanted | Received]
] = {
    EventType.DELIVERY: Delivery,
    EventType.VIEW: ViewChanged,
    EventType.HEALTH: HealthChanged,
    EventType.WRITABLE: Writable,
    EventType.KEY: KeyWanted,
    EventType.RECEIVED: Received,
}
