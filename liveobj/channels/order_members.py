"""Owns who is who in an ordered channel: which node speaks as which member, and which of them must
not vote because another one may have voted in its name.

Each member says in every view, before anything else: its identity, how often its journal was
opened, a token of this opening, and how far it is. The others know what they have seen of it:

- One that comes back at no later start, or has forgotten a promise or an acknowledgement, was set
  back: restored from a backup, or a twin of one that went on meanwhile.
- Two nodes that say to be one member with different tokens are twins; the one that was there before
  stays. Where both are new nobody knows which one voted, and neither stays.

Whoever must not vote is disowned: it goes on as a new member, and learns the order from the others.
Members of version 0.1 do not say who they are; nothing is known of them, and nothing is demanded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from liveobj.channels.order_state import Seen


class Who(NamedTuple):
    """What a node says about itself."""

    identity: int
    seen: Seen


class OrderMembers:
    """The nodes that have spoken in the present view, and those disowned since this program
    started."""

    def __init__(self, seen: dict[int, Seen]) -> None:
        self._seen = seen
        self._here: dict[int, Who] = {}  # by node
        self._before: set[int] = set()  # nodes that spoke in the view before this one
        self._disowned: set[tuple[int, int]] = set()  # identity and token
        self._changed: set[int] = set()

    def on_view(self) -> None:
        """All who live say again who they are: a member that crashed and was started again may be
        in the view twice."""
        self._before = set(self._here)
        self._here = {}

    def on_who(self, node: int, who: Who, *, mine: bool) -> list[Who]:
        """A node has said who it is; returns those who must not vote. `mine`: it is this one."""
        self._here[node] = who
        wrong = [] if mine or not self._is_set_back(who) else [who]
        twins = [other for other in self._here if other != node and self._are_twins(other, node)]
        for other in twins:
            wrong += [self._here[n] for n in (other, node) if n not in self._before]
        if not wrong:
            self.note(who.identity, who.seen)
        return [who for who in wrong if (who.identity, who.seen.token) not in self._disowned]

    def _is_set_back(self, who: Who) -> bool:
        known = self._seen.get(who.identity)
        return known is not None and known.token != who.seen.token and known.is_ahead_of(who.seen)

    def _are_twins(self, first: int, second: int) -> bool:
        one, two = self._here[first], self._here[second]
        return one.identity == two.identity and one.seen.token != two.seen.token

    def disown(self, identity: int, token: int) -> None:
        self._disowned.add((identity, token))

    def may_vote(self, node: int, identity: int) -> bool:
        """Whether a vote of `identity` from this node counts."""
        who = self._here.get(node)
        return who is None or (identity, who.seen.token) not in self._disowned

    # What was seen

    def note(self, identity: int, seen: Seen) -> None:
        known = self._seen.get(identity)
        if known is not None and known.starts == seen.starts and known.token == seen.token:
            seen = known.merged(seen.ballot, seen.epoch, seen.end)
        self._seen[identity] = seen
        self._changed.add(identity)

    def note_progress(self, node: int, ballot: int = 0, epoch: int = 0, end: int = 0) -> None:
        """A node has promised or acknowledged something, at the start that it spoke of."""
        who = self._here.get(node)
        if who is None:
            return
        identity = who.identity
        known = self._seen.get(identity)
        if known is not None and known.token == who.seen.token:
            merged = known.merged(ballot, epoch, end)
            if merged != known:
                self._seen[identity] = merged
                self._changed.add(identity)

    def news(self) -> list[list[int]]:
        """What has changed since it was asked for last, for the journal."""
        changed, self._changed = self._changed, set()
        return [[identity, *self._seen[identity]] for identity in changed & self._seen.keys()]


def single(identities: Mapping[int, int]) -> list[int]:
    """The identities, by node, that only one node votes for."""
    votes = list(identities.values())
    return [identity for identity in votes if votes.count(identity) == 1]
