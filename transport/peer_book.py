"""Owns the memory of where engines of a scope were: typed addresses, found ones, and a small file.

A file that cannot be read is an empty memory, not an error: it only makes finding others faster.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from pathlib import Path

from transport.config import KNOWN_PEERS_MAX, Peer
from transport.errors import BadArgument, SystemRefused
from transport.scopes import Scope
from transport.secrets_file import read_small, write_private

log = logging.getLogger(__name__)

SCOPES_MAX = 8


def choose_peers(*sources: Iterable[Peer], myself: Peer | None = None) -> tuple[Peer, ...]:
    """The peers an engine is told of: the first sources first, none twice, no more than it
    takes."""
    chosen: dict[Peer, None] = {}
    for source in sources:
        for peer in source:
            if peer != myself:
                chosen.setdefault(peer)
    return tuple(chosen)[:KNOWN_PEERS_MAX]


class PeerBook:
    """Peers by scope, the latest first, in a file of this user."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._scopes = self._load()

    def peers(self, scope: Scope) -> tuple[Peer, ...]:
        return self._scopes.get(scope.scope_id.hex(), ())

    def remember(self, scope: Scope, peers: Iterable[Peer]) -> None:
        """Puts peers before those that are remembered, and writes the file."""
        name = scope.scope_id.hex()
        remembered = choose_peers(peers, self.peers(scope))
        others = {key: value for key, value in self._scopes.items() if key != name}
        self._scopes = dict([(name, remembered), *others.items()][:SCOPES_MAX])
        listed = {
            key: [[peer.address, peer.port] for peer in value]
            for key, value in self._scopes.items()
        }
        try:
            write_private(self._path, json.dumps(listed, indent=1), replace=True)
        except SystemRefused as problem:
            log.warning("known computers are not remembered: %s", problem)

    def _load(self) -> dict[str, tuple[Peer, ...]]:
        try:
            listed = json.loads(read_small(self._path)) if self._path.exists() else {}
            return {
                str(name): tuple(Peer(str(address), int(port)) for address, port in peers)
                for name, peers in listed.items()
            }
        except (SystemRefused, BadArgument, ValueError, TypeError, AttributeError) as problem:
            log.warning("the list of known computers is unreadable and is begun anew: %s", problem)
            return {}
