"""Gentle motion: things glide to where they belong, unless the system asks for less of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from liveobj.objects.desktop_items import Frame
from widgets.reduced_motion import motion_wanted

GLIDE_S = 0.12


def eased(share: float) -> float:
    """Fast at first, then slower: 0 to 1 for 0 to 1."""
    rest = 1.0 - min(max(share, 0.0), 1.0)
    return 1.0 - rest * rest * rest


@dataclass(frozen=True, slots=True)
class _Glide:
    start: Frame
    since_s: float


class Glides:
    """Frames on their way. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._glides: dict[str, _Glide] = {}

    def __bool__(self) -> bool:
        return bool(self._glides)

    def __contains__(self, identity: str) -> bool:
        return identity in self._glides

    @property
    def identities(self) -> set[str]:
        return set(self._glides)

    def begin(self, identity: str, start: Frame) -> None:
        """From where it is shown now; where to is told whenever it is asked for."""
        if motion_wanted():
            self._glides[identity] = _Glide(start, self._clock())

    def drop(self, identity: str) -> None:
        self._glides.pop(identity, None)

    def at(self, identity: str, end: Frame) -> Frame:
        """Where it is now on its way to `end`."""
        glide = self._glides.get(identity)
        if glide is None:
            return end
        share = (self._clock() - glide.since_s) / GLIDE_S
        if share >= 1.0:
            return end
        part = eased(share)
        start = glide.start
        return Frame(
            start.x + (end.x - start.x) * part,
            start.y + (end.y - start.y) * part,
            start.width + (end.width - start.width) * part,
            start.height + (end.height - start.height) * part,
        )

    def finish(self) -> None:
        """Forgets those that have arrived."""
        now_s = self._clock()
        over = [i for i, glide in self._glides.items() if now_s - glide.since_s >= GLIDE_S]
        for identity in over:
            del self._glides[identity]
