"""Owns finding engines of a scope where the engine's own multicast does not reach: by mDNS.

An engine announces where it is, under a hash of its scope's id; others look out for such
announcements and tell their engines. What is found is only an address: whether an engine of the
scope is there, the scope's key decides.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

from transport.config import KNOWN_PEERS_MAX, Peer
from transport.mdns import Announced, Announcement, Lookout, collect
from transport.scopes import ANNOUNCED_VERSION, Scope, scope_label

SERVICE = "_live-objects._udp.local."
FIND_S = 1.0


async def announce_engine(scope: Scope, peer: Peer) -> Announcement:
    """Tells the network where this engine is, until closed."""
    # One place has one name, also after a restart, and the name tells nothing else.
    place = f"{scope_label(scope)} {peer.address} {peer.port}".encode()
    name = blake2b(place, digest_size=8).hexdigest()
    texts = {"scope": scope_label(scope), "version": ANNOUNCED_VERSION}
    return await Announcement.start(SERVICE, name, peer, texts)


def look_out(
    scope: Scope,
    interface_address: str,
    on_peer: Callable[[Peer], None],
    on_gone: Callable[[Peer], None] | None = None,
) -> Lookout:
    """Calls `on_peer` for each engine of the scope that is announced, and `on_gone` for each whose
    announcement ends, until closed."""
    label = scope_label(scope)
    found: dict[str, Peer] = {}

    def on_announced(announced: Announced) -> None:
        if announced.texts.get("scope") == label:
            found[announced.name] = announced.peer
            on_peer(announced.peer)

    def on_ended(name: str) -> None:
        peer = found.pop(name, None)
        if peer is not None and on_gone is not None:
            on_gone(peer)

    return Lookout(SERVICE, interface_address, on_announced, on_ended)


async def find_peers(
    scope: Scope,
    interface_address: str,
    *,
    find_s: float = FIND_S,
    enough: int = KNOWN_PEERS_MAX,
) -> tuple[Peer, ...]:
    """Engines of the scope that announce themselves; waits until there are enough, or for
    `find_s`."""
    return await collect(
        lambda on_peer: look_out(scope, interface_address, on_peer), find_s, enough
    )


async def find_all(interface_address: str, *, find_s: float = FIND_S) -> tuple[Announced, ...]:
    """Engines of any scope that announce themselves."""
    found: dict[str, Announced] = {}

    def look_out_for_all(on_found: Callable[[str], None]) -> Lookout:
        def on_announced(announced: Announced) -> None:
            found[announced.name] = announced
            on_found(announced.name)

        return Lookout(SERVICE, interface_address, on_announced)

    await collect(look_out_for_all, find_s, enough=1000)
    return tuple(found.values())
