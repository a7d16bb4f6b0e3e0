"""Owns what others claim to have and this member lacks: when to ask for it again, and whose claims
are no longer believed.

When all goes well nobody asks twice: a greeting is answered. What has not come is asked for again
after one second, then after twice as long each time. A claim that nobody has made good after a few
repetitions is doubted: it is asked for once a minute, and no longer counts as something missing.
Whoever makes a doubted claim good is believed again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from liveobj.documents.version import Version

ASK_DELAY_S = 1.0
ASK_DELAY_S_MAX = 60.0
# So often in a row without any progress, or for so long with some.
ASKS_MAX = 4
CLAIM_S_MAX = 300.0


@dataclass(slots=True)
class _Claim:
    """What one member claims, by version or by the digest of one."""

    since: float
    version: Version | None = None
    digest: bytes | None = None
    asks: int = 0
    missing: int | None = None  # how much of it was missing when it was last asked for
    doubted: bool = False

    def missing_from(self, mine: Version) -> int:
        """How many operations of it are missing; a digest stands for one."""
        if self.version is not None:
            return sum(len(span) for span in self.version.missing_from(mine))
        return int(self.digest != mine.digest)


class Claims:
    """The claims that are open, by the member who made them; below zero, by whoever sent what
    cannot be applied yet."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._open: dict[int, _Claim] = {}
        self._doubted: set[int] = set()

    def keep_only(self, nodes: Collection[int]) -> None:
        self._open = {key: c for key, c in self._open.items() if _node_of(key) in nodes}
        self._doubted = {key for key in self._doubted if _node_of(key) in nodes}

    def on_version(self, node: int, version: Version) -> None:
        self._put(node, version=version)

    def on_digest(self, node: int, digest: bytes) -> None:
        self._put(node, digest=digest)

    def on_pending(self, sender: int, version: Version) -> None:
        """What `sender` sent is here, and cannot be applied before what it builds upon."""
        key = ~sender
        known = self._open.get(key)
        if known is not None and known.version is not None:
            version = version.merged(known.version)
        self._put(key, version=version)

    def _put(self, key: int, version: Version | None = None, digest: bytes | None = None) -> None:
        claim = self._open.get(key)
        if claim is None:
            claim = self._open[key] = _Claim(self._now(), doubted=key in self._doubted)
        claim.version, claim.digest = version, digest

    def _settle(self, mine: Version) -> None:
        """Forgets what has come. Whoever was doubted and has been made good is believed."""
        for key, claim in list(self._open.items()):
            if not claim.missing_from(mine):
                del self._open[key]
                self._doubted.discard(key)

    def lacks_something(self, mine: Version) -> bool:
        """Whether somebody who is here and believed has what this member has not, or may have."""
        if self._open:
            self._settle(mine)
        return any(not c.doubted for key, c in self._open.items() if key >= 0)

    def ask_after_s(self, mine: Version) -> float | None:
        """How long to wait before asking again; None where nothing is missing."""
        if self._open:
            self._settle(mine)
        if not self._open:
            return None
        return min(_delay(claim) for claim in self._open.values())

    def ask(self, mine: Version) -> bool:
        """Called when that time is over: whether to ask now. What is on its way is not asked for;
        who has claimed too much for too long is doubted from here on."""
        self._settle(mine)
        now = self._now()
        stuck = False
        for key, claim in self._open.items():
            missing = claim.missing_from(mine)
            moving = claim.missing is not None and missing < claim.missing
            claim.missing = missing
            stuck |= not moving
            claim.asks = 0 if moving and not claim.doubted else claim.asks + 1
            if claim.asks > ASKS_MAX or now >= claim.since + CLAIM_S_MAX:
                self._doubt(key, claim)
        return stuck

    def _doubt(self, key: int, claim: _Claim) -> None:
        claim.doubted = True
        self._doubted.add(key)

    @property
    def wants_whole(self) -> bool:
        """Whether asking needs the whole version: not for digests alone, nor for the doubted."""
        return any(c.version is not None and not c.doubted for c in self._open.values())


def _node_of(key: int) -> int:
    return key if key >= 0 else ~key


def _delay(claim: _Claim) -> float:
    """Twice as long each time."""
    if claim.doubted:
        return ASK_DELAY_S_MAX
    return min(ASK_DELAY_S * 2.0 ** min(claim.asks, 10), ASK_DELAY_S_MAX)
