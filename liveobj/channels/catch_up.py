"""Owns the decision who sends what to whom after a view change; it knows versions, not messages.

Every member greets after every view with its identity and version. Whoever lacks operations gets
each of them from exactly one member:

- from the one that wrote them, if it is in the view: it alone surely has them, also those that were
  on their way when the view changed;
- else from the most senior member whose greeting shows that it has them.

A version has an entry for every opening that ever wrote, so those of old documents are long. Then
members greet with a digest, and a whole version is told only where digests differ: once for each
that differs, by the most senior of those who have it. Where all have the same, none is.

Updates are multicast and idempotent, so a repeat would be harmless; the rule is there to keep a
crowd from answering at once. Views are agreed and greetings reliable, so no timer is needed: if the
one who should have answered dies, the next view begins anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from liveobj.channels.messages import Greeting
from liveobj.documents.version import Span, Version


class CatchUp:
    """What is known of the other members. `me` is this node's id."""

    def __init__(self, me: int) -> None:
        self.me = me
        self._seniority: tuple[int, ...] = ()
        self._versions: dict[int, Version] = {}
        self._writers: dict[int, int] = {}  # identity in documents -> node
        self._unanswered: dict[int, Version] = {}
        self._mute: set[int] = set()  # those who cannot pass on what they have
        self._digests: dict[int, bytes] = {}  # what each has said in this view
        self._unknown: dict[int, Greeting] = {}  # those whose version is not known
        self._whole: dict[bytes, Version] = {}  # versions told in this view, by anybody
        self._greeted = Version()  # what this member has said that it has
        self._told = False

    def on_view(self, nodes: Sequence[int]) -> None:
        self._seniority = tuple(nodes)
        here = set(nodes)
        # Versions only grow, so an old greeting of somebody who stays is still true as a lower
        # bound.
        self._versions = {n: v for n, v in self._versions.items() if n in here}
        self._writers = {p: n for p, n in self._writers.items() if n in here}
        self._unanswered = {n: v for n, v in self._unanswered.items() if n in here}
        self._mute &= here
        self._unknown = {n: g for n, g in self._unknown.items() if n in here}
        # Everybody greets again.
        self._digests = {}
        self._whole = {}
        self._told = False

    # Digests

    def greeted(self, version: Version, *, whole: bool) -> None:
        """This member has greeted with a version, or with the digest of it."""
        self._greeted = version
        self._told |= whole
        self._whole[version.digest] = version

    def tell_whole(self) -> Version:
        """The version whose digest was said: it stands for those who said the same, too."""
        self._told = True
        return self._greeted

    def on_greeting(self, node: int, greeting: Greeting, mine: Version) -> None:
        if node == self.me or node not in self._seniority:
            return  # it has gone meanwhile
        self._digests[node] = greeting.digest
        same = mine if greeting.digest == mine.digest else self._whole.get(greeting.digest)
        if same is not None:
            self.on_hello(node, greeting.peer_id, same, greeting.can_answer)
        else:
            self._unknown[node] = greeting

    @property
    def wants_whole(self) -> bool:
        """Whether this member has to tell its whole version: somebody has said another digest, and
        none of those before it in seniority tells the same."""
        if self._told or self.me not in self._seniority or not self._greeted.ends:
            return False
        mine = self._greeted.digest
        if all(digest == mine for digest in self._digests.values()):
            return False
        seniors = self._seniority[: self._seniority.index(self.me)]
        said = [self._digests.get(node) for node in seniors]
        return None not in said and mine not in said

    def on_hello(self, node: int, peer_id: int, version: Version, can_answer: bool = True) -> None:
        if node == self.me or node not in self._seniority:
            return  # it has gone meanwhile
        self._versions[node] = version
        digest = version.digest
        self._whole[digest] = version
        self._digests.setdefault(node, digest)
        self._unknown.pop(node, None)
        same = {n: g for n, g in self._unknown.items() if g.digest == digest}
        self._unknown = {n: g for n, g in self._unknown.items() if n not in same}
        for other, greeting in same.items():
            self.on_hello(other, greeting.peer_id, version, greeting.can_answer)
        self._mute.discard(node)
        if not can_answer:
            self._mute.add(node)
        self._writers = {p: n for p, n in self._writers.items() if n != node}
        self._writers[peer_id] = node
        self._unanswered[node] = version

    def answer_again(self) -> None:
        """Something came late, from one who has gone: those who came meanwhile may lack it."""
        self._unanswered = dict(self._versions)

    def answers(self, mine: Version, my_peer_id: int) -> list[Span]:
        """What this member has to send now, given that it has `mine`; each span once."""
        if self.me not in self._seniority or not self._seniors_known():
            return []
        spans: dict[int, Span] = {}
        for node, theirs in self._unanswered.items():
            for span in mine.missing_from(theirs):
                if self._is_mine_to_send(node, span, my_peer_id):
                    known = spans.get(span.peer)
                    start = span.start if known is None else min(span.start, known.start)
                    spans[span.peer] = Span(span.peer, start, span.end)
        self._unanswered.clear()
        return [spans[peer] for peer in sorted(spans)]

    def _seniors_known(self) -> bool:
        """Whether all those have greeted who might have to answer instead of this member."""
        seniors = self._seniority[: self._seniority.index(self.me)]
        return all(node in self._versions for node in seniors)

    def _is_mine_to_send(self, to: int, span: Span, my_peer_id: int) -> bool:
        if span.peer == my_peer_id:
            return True
        writer = self._writers.get(span.peer)
        if writer is not None and writer != to:
            return False
        for node in self._seniority:
            if node == self.me:
                return True
            able = node != to and node not in self._mute
            if able and self._versions[node].includes_span(span):
                return False
        return False

    def lacks_something(self, mine: Version) -> bool:
        """Whether somebody in the view is known to have what this member has not, or may have."""
        if self._unknown:
            return True
        return any(not mine.includes(version) for version in self._versions.values())
