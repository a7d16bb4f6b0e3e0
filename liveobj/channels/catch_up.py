"""Owns the decision who sends what to whom after a view change; it knows versions, not messages.

Every member greets after every view with its identity and version. Whoever lacks operations gets
each of them from exactly one member:

- from the one that wrote them, if it is in the view: it alone surely has them, also those that were
  on their way when the view changed;
- else from the most senior member whose greeting shows that it has them.

Updates are multicast and idempotent, so a repeat would be harmless; the rule is there to keep a
crowd from answering at once. Views are agreed and greetings reliable, so no timer is needed: if the
one who should have answered dies, the next view begins anew.
"""

from __future__ import annotations

from collections.abc import Sequence

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

    def on_view(self, nodes: Sequence[int]) -> None:
        self._seniority = tuple(nodes)
        here = set(nodes)
        # Versions only grow, so an old greeting of somebody who stays is still true as a lower
        # bound.
        self._versions = {n: v for n, v in self._versions.items() if n in here}
        self._writers = {p: n for p, n in self._writers.items() if n in here}
        self._unanswered = {n: v for n, v in self._unanswered.items() if n in here}
        self._mute &= here

    def on_hello(self, node: int, peer_id: int, version: Version, can_answer: bool = True) -> None:
        if node == self.me:
            return
        self._versions[node] = version
        self._mute.discard(node)
        if not can_answer:
            self._mute.add(node)
        self._writers = {p: n for p, n in self._writers.items() if n != node}
        self._writers[peer_id] = node
        self._unanswered[node] = version

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
        """Whether somebody in the view is known to have what this member has not."""
        return any(not mine.includes(version) for version in self._versions.values())
