"""Owns how an invitation to pair is found on the network: by mDNS, under its maker's name.

Neither the scope's name nor its label is in the announcement, so it tells nobody who is in what.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

from transport.config import Peer
from transport.errors import PeerViolation
from transport.mdns import Announced, Announcement, Lookout, collect
from transport.pairing import read_name

SERVICE = "_live-objects-in._tcp.local."
FIND_S = 3.0


@dataclass(frozen=True, slots=True)
class Invited:
    """Somebody invites; `name` is what they call themselves, which anybody can claim. `place` is
    the same for the same invitation, for lists that change."""

    place: str
    name: str
    peer: Peer


async def announce_invitation(name: str, peer: Peer) -> Announcement:
    """Tells the network that somebody invites at `peer`, until closed."""
    place = blake2b(f"{peer.address} {peer.port}".encode(), digest_size=8).hexdigest()
    return await Announcement.start(SERVICE, place, peer, {"name": name, "version": "1"})


def look_out_for_invitations(
    interface_address: str,
    on_invited: Callable[[Invited], None],
    on_gone: Callable[[str], None] | None = None,
) -> Lookout:
    """Calls `on_invited` for each invitation, and `on_gone` with its place when it has ended."""

    def on_announced(announced: Announced) -> None:
        try:
            name = read_name(announced.texts.get("name", "").encode())
        except PeerViolation:
            return
        on_invited(Invited(announced.name, name, announced.peer))

    return Lookout(SERVICE, interface_address, on_announced, on_gone)


async def find_invitations(
    interface_address: str, *, name: str = "", find_s: float = FIND_S, enough: int = 16
) -> tuple[Invited, ...]:
    """Those who invite now, or those of them who call themselves `name`; waits until there are
    enough, or for `find_s`."""

    def look_out(on_invited: Callable[[Invited], None]) -> Lookout:
        def on_any(invited: Invited) -> None:
            if name in {"", invited.name}:
                on_invited(invited)

        return look_out_for_invitations(interface_address, on_any)

    return await collect(look_out, find_s, enough)
