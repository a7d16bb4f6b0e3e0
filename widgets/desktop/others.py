"""The other people on a desktop: where they point, what they have chosen, what they look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from liveobj.channels.presence import Presence
from widgets.desktop.spots import Spot, read_spot

IDLE_S = 3.0
AWAY_S = 60.0
IDLE_OPACITY = 0.35


@dataclass(frozen=True, slots=True)
class Other:
    """Somebody else who has the desktop open; `colour` is as it came over the network, `spot` is
    None for one who says nothing, `moved_s` is when the pointer moved last."""

    node: int
    name: str
    colour: str
    spot: Spot | None
    moved_s: float

    @property
    def dragging(self) -> bool:
        return self.spot is not None and self.spot.dragged_to is not None

    def opacity(self, now_s: float) -> float:
        """How clearly the pointer is drawn: one who rests fades, one who is away is not shown."""
        if self.spot is None or self.spot.pointer is None:
            return 0.0
        rest_s = now_s - self.moved_s
        if rest_s < IDLE_S:
            return 1.0
        return IDLE_OPACITY if rest_s < AWAY_S else 0.0

    def fades_after(self, now_s: float) -> float | None:
        """In how many seconds `opacity` will be another; None for never."""
        rest_s = now_s - self.moved_s
        if self.spot is None or self.spot.pointer is None:
            return None
        return next((limit - rest_s for limit in (IDLE_S, AWAY_S) if rest_s < limit), None)


class Others:
    """Reads presence. Attributes: `people`, by node."""

    def __init__(self, presence: Presence, clock: Callable[[], float]) -> None:
        self._presence = presence
        self._clock = clock
        self.people: dict[int, Other] = {}

    def refresh(self) -> None:
        """Takes the newest; a pointer that has not moved keeps its time."""
        now_s = self._clock()
        people: dict[int, Other] = {}
        for node, entry in sorted(self._presence.others.items()):
            spot = read_spot(entry.spot)
            before = self.people.get(node)
            same = before is not None and _pointer(before.spot) == _pointer(spot)
            moved_s = before.moved_s if before is not None and same else now_s
            people[node] = Other(node, entry.name, entry.colour, spot, moved_s)
        self.people = people

    def inside(self, identity: str) -> list[Other]:
        """Those who work in an item."""
        return [o for o in self.people.values() if o.spot is not None and o.spot.inside == identity]

    def next_fade_s(self) -> float | None:
        """In how many seconds somebody's pointer will be drawn differently."""
        now_s = self._clock()
        times = [other.fades_after(now_s) for other in self.people.values()]
        return min((time for time in times if time is not None), default=None)


def _pointer(spot: Spot | None) -> tuple[float, float] | None:
    return None if spot is None else spot.pointer
