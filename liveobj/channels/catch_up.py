"""Owns the decision who sends what to whom after a view change; it knows versions, not messages.

Every member greets after every view with its identity and version. Whoever lacks operations gets
each of them from one member. All members put those who can send a span into the same order:

- the one that wrote it, if it is in the view: it alone surely has all, also what was on its way
  when the view changed;
- then those whose greeting shows that they have it, by seniority; then the others, by seniority;
- last those who have failed to send before. Who has not greeted at all is not in the order.

The first sends at once. Each further one waits for a time that grows with the logarithm of its
rank, and sends only if the one who asked has not been sent the span by then: updates are multicast,
so everybody hears. So nobody depends on a member that is silent, slow or lies, and while all is
well one member sends. Who was passed over comes last from then on, until it sends something.

A version has an entry for every opening that ever wrote, so those of old documents are long. Then
members greet with a digest, and a whole version is sent only where digests differ: once for each
that differs, by the most senior of those who have it, or by the next one if that one does not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from liveobj.channels.claims import Claims
from liveobj.channels.messages import Greeting
from liveobj.documents.version import Span, Version

# A senior that has not greeted for so long after a view is not waited for.
SILENT_AFTER_S = 2.0
# The second in the order sends after so long; the fourth after twice that.
PATIENCE_S = 1.0
# As long as parts of an answer arrive the others wait, at most for so long.
TRANSFER_S_MAX = 20.0
# A greeting that comes so soon after an answer was made before that answer arrived.
CROSSING_S = 0.5
HEARD_MAX = 64
# Who asks for the same again gets it after twice as long each time.
AGAIN_S_MAX = 60.0
WHOLE_VERSIONS_MAX = 128

_NEVER = float("inf")


@dataclass(slots=True)
class _Other:
    """What is known of another member. `have` is what it has at least: what it said, and what was
    sent to all since it asked."""

    peer_id: int | None = None
    claimed: Version | None = None
    can_answer: bool = True
    have: dict[int, int] = field(default_factory=dict)
    digest: bytes | None = None  # what it has said in this view
    unknown: Greeting | None = None  # a digest whose version nobody has told
    greeted: bool = False  # in this view
    silent: bool = False  # for too long, in this view or an earlier one
    unreliable: bool = False  # it had to send something, and did not
    due_at: float = 0.0  # when it is to be answered by the first in the order
    served_at: float = -_NEVER
    pieces_at: float = -_NEVER
    repeats: int = 0

    def claims(self, span: Span) -> bool:
        return self.claimed is not None and self.claimed.includes_span(span)


class CatchUp:
    """What is known of the other members. `me` is this node's id, `now` a clock."""

    def __init__(self, me: int, now: Callable[[], float]) -> None:
        self.me = me
        self.claims = Claims(now)
        self._now = now
        self._seniority: tuple[int, ...] = ()
        self._others: dict[int, _Other] = {}
        self._asking: set[int] = set()
        self._heard: deque[tuple[float, int, Version, Version]] = deque(maxlen=HEARD_MAX)
        self._whole: dict[bytes, Version] = {}  # versions told in this view, by anybody
        self._whole_told: set[bytes] = set()  # those of them told as such
        self._greeted = Version()  # what this member has said that it has
        self._greeted_digest = self._greeted.digest
        self._view_at = 0.0
        self._differs_at: float | None = None  # when a digest other than this member's was heard
        self._next_at = _NEVER  # when there may be something to answer
        self._whole_at = _NEVER  # when to tell the whole version

    def on_view(self, nodes: Sequence[int]) -> None:
        now = self._now()
        if now >= self._view_at + SILENT_AFTER_S:
            self._note_silent(self._seniority)
        self._seniority = tuple(nodes)
        self._view_at = now
        # Versions only grow, so what somebody who stays has said is still true as a lower bound.
        self._others = {
            node: self._others.get(node) or _Other() for node in nodes if node != self.me
        }
        self._asking &= self._others.keys()
        self._heard.clear()
        self.claims.keep_only(self._others)
        for other in self._others.values():  # everybody greets again
            other.greeted = False
            other.digest = None
        self._whole = {}
        self._whole_told = set()
        self._differs_at = None
        self._next_at, self._whole_at = now, _NEVER

    def _note_silent(self, nodes: Iterable[int]) -> None:
        for node in nodes:
            other = self._others.get(node)
            if other is not None and not other.greeted:
                other.silent = True

    # Digests

    def greeted(self, version: Version, *, whole: bool) -> None:
        """This member has greeted with a version, or with the digest of it."""
        self._greeted, self._greeted_digest = version, version.digest
        self._keep_whole(version)
        if whole:
            self._whole_told.add(self._greeted_digest)
        elif any(o.digest not in (None, self._greeted_digest) for o in self._others.values()):
            self._differs_at = self._now()

    def tell_whole(self) -> Version:
        """The version whose digest was said: it stands for those who said the same, too."""
        for other in self._seniors():
            if other.digest == self._greeted_digest:
                other.unreliable = True  # it should have
        self._whole_told.add(self._greeted_digest)
        self._whole_at = _NEVER
        return self._greeted

    def _keep_whole(self, version: Version) -> None:
        self._whole[version.digest] = version
        while len(self._whole) > WHOLE_VERSIONS_MAX:
            del self._whole[next(iter(self._whole))]

    def on_greeting(self, node: int, greeting: Greeting, mine: Version) -> None:
        other = self._others.get(node)
        if other is None:
            return  # it has gone meanwhile
        self._note_greeting(other, greeting.digest)
        same = mine if greeting.digest == mine.digest else self._whole.get(greeting.digest)
        if same is not None:
            self._on_version(node, greeting.peer_id, same, greeting.can_answer)
        else:
            other.unknown = greeting
            self.claims.on_digest(node, greeting.digest)

    def _note_greeting(self, other: _Other, digest: bytes) -> None:
        other.greeted = True
        other.silent &= self._now() >= self._view_at + SILENT_AFTER_S
        other.digest = digest
        if self._differs_at is None and digest != self._greeted_digest:
            self._differs_at = self._now()
        self._next_at = self._now()

    @property
    def wants_whole(self) -> bool:
        """Whether this member has to tell its whole version now: somebody has said another digest,
        and none of those before it in seniority has told the same."""
        if self._differs_at is None:
            return False
        self._whole_at = self._when_whole(self._differs_at)
        return self._whole_at <= self._now()

    def _when_whole(self, differs_at: float) -> float:
        mine = self._greeted_digest
        if not self._greeted.ends or mine in self._whole_told:
            return _NEVER
        digests = [o.digest for o in self._others.values() if o.digest is not None]
        if all(digest == mine for digest in digests):
            return _NEVER
        rank = sum(1 for o in self._seniors() if o.digest == mine and not o.unreliable)
        return max(self._seniors_known_at(), differs_at + delay_of(rank))

    def _seniors(self) -> list[_Other]:
        if self.me not in self._seniority:
            return []
        return [self._others[n] for n in self._seniority[: self._seniority.index(self.me)]]

    def _seniors_known_at(self) -> float:
        """When those are known who might have to send instead of this member."""
        waiting = [other for other in self._seniors() if not other.greeted and not other.silent]
        if not waiting:
            return self._view_at
        until = self._view_at + SILENT_AFTER_S
        if self._now() >= until:
            self._note_silent(self._seniority)
        return until

    # Versions

    def on_hello(self, node: int, peer_id: int, version: Version, can_answer: bool = True) -> None:
        other = self._others.get(node)
        if other is None:
            return  # it has gone meanwhile
        digest = version.digest
        self._note_greeting(other, digest)
        self._keep_whole(version)
        self._whole_told.add(digest)
        self._on_version(node, peer_id, version, can_answer)
        for other_node, unknown in self._others.items():
            greeting = unknown.unknown
            if greeting is not None and greeting.digest == digest:
                self._on_version(other_node, greeting.peer_id, version, greeting.can_answer)

    def _on_version(self, node: int, peer_id: int, version: Version, can_answer: bool) -> None:
        other = self._others[node]
        other.peer_id, other.claimed, other.can_answer = peer_id, version, can_answer
        other.unknown = None
        self.claims.on_version(node, version)
        self._on_asking(node, other, version)

    def _on_asking(self, node: int, other: _Other, version: Version) -> None:
        """It may lack something, which is asked for again if it was sent since it asked."""
        now = self._now()
        again = any(version.end(peer) < end for peer, end in other.have.items())
        if again and now < other.served_at + CROSSING_S:
            other.have = {**version.ends, **_larger(other.have, version)}
        elif again:
            minutes = min(now - other.served_at, 1e6) // AGAIN_S_MAX
            other.repeats = max(0, other.repeats - int(minutes)) + 1
            pause = min(CROSSING_S * 2 ** min(other.repeats, 10), AGAIN_S_MAX)
            other.due_at = max(now, other.served_at + pause)
            other.have = dict(version.ends)
        else:
            if node not in self._asking:
                other.due_at = now
            other.have = dict(version.ends)
        for at, sender, start, end in self._heard:
            if sender != node and now < at + CROSSING_S:
                self._note_sent(node, sender, start, end)
        self._asking.add(node)
        self._next_at = now

    @property
    def writers(self) -> dict[int, int]:
        """The identities under which others here write, by node."""
        known = ((node, other.peer_id) for node, other in self._others.items())
        return {node: peer for node, peer in known if peer is not None}

    def is_senior(self, node: int) -> bool:
        """Whether that member comes before this one."""
        here = self._seniority
        return node in here and self.me in here and here.index(node) < here.index(self.me)

    def answer_again(self) -> None:
        """Something came late, from one who has gone: those who came meanwhile may lack it."""
        for node, other in self._others.items():
            if other.claimed is not None:
                self._asking.add(node)
                other.due_at = self._now()
        self._next_at = self._now()

    # What is heard from those who answer

    def on_update(self, sender: int, start: Version, end: Version) -> None:
        """A member has sent these operations to all."""
        if sender not in self._others:
            return  # it has gone: not all who are here have heard it
        self._heard.append((self._now(), sender, start, end))
        for node in self._asking - {sender}:
            self._note_sent(node, sender, start, end)

    def _note_sent(self, to: int, sender: int, start: Version, end: Version) -> None:
        for peer, stop in end.ends.items():
            served = self._serve(to, sender, Span(peer, start.end(peer), stop))
            if served and sender != self.me:
                self._others[sender].pieces_at = self._now()
                self._others[sender].unreliable = False

    def _serve(self, to: int, sender: int, span: Span) -> bool:
        """Notes that this was sent to all; whether it is what `to` lacks."""
        other, now = self._others[to], self._now()
        have = other.have.get(span.peer, 0)
        if not span.start <= have < span.end:
            return False
        if now >= other.due_at + PATIENCE_S and not other.repeats:
            self._blame(sender, to, Span(span.peer, have, span.end))
        other.have[span.peer] = span.end
        other.served_at = now
        return True

    def on_piece(self, sender: int) -> None:
        """A part of a long message has come."""
        if sender in self._others:
            self._others[sender].pieces_at = self._now()

    def on_damage(self, sender: int) -> None:
        """What this member sent is of no use."""
        if sender in self._others:
            self._others[sender].unreliable = True
            self._next_at = self._now()

    def _blame(self, sender: int, to: int, span: Span) -> None:
        """Notes who said that they have it, and left it to `sender` to send."""
        for node in self._before(sender, to, span):
            other = self._others[node]
            other.unreliable |= other.claims(span) or other.peer_id == span.peer

    # Answering

    @property
    def next_at(self) -> float:
        """When `answers` or `wants_whole` may have something, though nothing happens till then."""
        return min(self._next_at if self._asking else _NEVER, self._whole_at)

    @property
    def greetings_until(self) -> float:
        """When whoever has not greeted after this view does not take part."""
        return self._view_at + SILENT_AFTER_S

    def all_have(self, peer_id: int, end: int) -> bool:
        """Whether all others have greeted, and have a writer's operations below `end` or were sent
        them since. Who is silent for too long is not waited for."""
        late = self._now() >= self.greetings_until
        return all(
            other.have.get(peer_id, 0) >= end or (late and not other.greeted)
            for other in self._others.values()
        )

    def answers(self, mine: Version, my_peer_id: int) -> list[Span]:
        """What this member has to send now, given that it has `mine`; each span once."""
        now = self._now()
        if not self._asking or now < self._next_at or self.me not in self._seniority:
            return []
        self._next_at = _NEVER
        spans: dict[int, Span] = {}
        for node in sorted(self._asking, key=self._seniority.index):
            other = self._others[node]
            missing = [
                Span(peer, other.have.get(peer, 0), end)
                for peer, end in mine.ends.items()
                if other.have.get(peer, 0) < end
            ]
            if not missing:
                self._asking.discard(node)
            for span in missing:
                at = self._send_at(node, span, my_peer_id)
                if at > now:
                    self._next_at = min(self._next_at, at)
                    continue
                known = spans.get(span.peer)
                start = span.start if known is None else min(span.start, known.start)
                spans[span.peer] = Span(span.peer, start, span.end)
        for span in spans.values():
            for node in self._asking:
                self._serve(node, self.me, span)
        return [spans[peer] for peer in sorted(spans)]

    def _send_at(self, to: int, span: Span, my_peer_id: int) -> float:
        """When this member sends a span to one that lacks it, unless another does before."""
        asked = self._others[to]
        if span.peer == my_peer_id:
            return asked.due_at
        before = self._before(self.me, to, span)
        rank = len(before)
        if asked.repeats:  # what the first one sent did not help
            able = 1 + sum(1 for node in self._others if node != to and self._able(node))
            rank = (rank - asked.repeats) % able
        at = asked.due_at
        if rank:
            heard = max([asked.served_at, *(self._others[node].pieces_at for node in before)])
            at = min(max(at, heard), at + TRANSFER_S_MAX)
        return max(at + delay_of(rank), self._seniors_known_at())

    def _able(self, node: int) -> bool:
        other = self._others[node]
        here = other.greeted or not other.silent
        return here and other.can_answer and other.claimed is not None

    def _before(self, who: int, to: int, span: Span) -> list[int]:
        """Those who come before `who` in the order of those who can send this span."""
        limit = self._place(who, span)
        return [
            node
            for node in self._others
            if node not in (who, to) and self._able(node) and self._place(node, span) < limit
        ]

    def _place(self, node: int, span: Span) -> tuple[bool, bool, bool, int]:
        """Where a member stands in that order."""
        index = self._seniority.index(node)
        if node == self.me:
            return (False, True, not self._greeted.includes_span(span), index)
        other = self._others[node]
        return (other.unreliable, other.peer_id != span.peer, not other.claims(span), index)


def delay_of(rank: int) -> float:
    """How long the one with this rank waits: 0, 1, 2, 2.5, 3, 3.25 … times the patience."""
    if rank == 0:
        return 0.0
    half = 1 << (rank.bit_length() - 1)
    return PATIENCE_S * (rank.bit_length() + (rank - half) / half)


def _larger(have: dict[int, int], version: Version) -> dict[int, int]:
    return {peer: end for peer, end in have.items() if end > version.end(peer)}
