"""What `live-objects doctor` does: looks for the reason why another computer is not seen, names
the fix.

Each check gives findings. Checks that only look at values are pure functions; the one that tries
multicast opens two sockets of its own, for a moment.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from transport.config import Peer
from transport.engine_check import check_engine
from transport.errors import TransportError
from transport.findings import Finding, bad, good, odd
from transport.identities import Identity
from transport.links import Kind, Link, best_link
from transport.scopes import ANNOUNCED_VERSION, Scope, scope_label
from transport.sentences import worded, worded_n
from transport.snapshots import Snapshot

PROBE_GROUP = "239.195.255.254"
PROBE_S = 0.5
# The beginning of 2026: nobody had this program before.
_CLOCK_S_MIN = 1_767_225_600


def check_links(links: Sequence[Link], wanted: str = "") -> list[Finding]:
    """Which interface is used, and whether it is fit for others to be seen."""
    if not links:
        return []
    chosen = next((link for link in links if wanted in {link.name, link.address}), None)
    link = chosen if wanted else best_link(links)
    if link is None:
        if wanted:
            names = ", ".join(each.name for each in links)
            return [
                bad(
                    "interface",
                    worded("There is no interface {wanted}.", wanted=wanted),
                    worded("Choose one of: {names}.", names=names),
                )
            ]
        return [
            bad(
                "interface",
                worded("No interface is connected."),
                worded("Connect a cable or Wi-Fi."),
            )
        ]
    return [_usable(link), *_peculiarities(link, links)]


def _usable(link: Link) -> Finding:
    if not link.up:
        return bad(
            "interface", worded("{link} is switched off.", link=link.name), worded("Switch it on.")
        )
    if not link.running:
        return bad(
            "interface",
            worded("{link} has no connection.", link=link.name),
            worded("Plug the cable in."),
        )
    if not link.address:
        return bad(
            "interface",
            worded("{link} has no address.", link=link.name),
            worded("Check DHCP or set an address."),
        )
    return good(
        "interface",
        worded("{link} ({address}) is connected.", link=link.name, address=link.address),
    )


def _peculiarities(link: Link, links: Sequence[Link]) -> list[Finding]:
    found = []
    if link.kind is Kind.LOOPBACK:
        found.append(
            odd(
                "interface",
                worded("Only this computer itself can be reached (loopback)."),
                worded("Choose another interface to reach others."),
            )
        )
    elif not link.multicast:
        found.append(
            odd(
                "multicast",
                worded("{link} carries no multicast: everything goes by unicast.", link=link.name),
                worded(
                    "Whoever is not found: type their address (--peer), or choose another"
                    " interface."
                ),
            )
        )
    if link.kind is Kind.WIRELESS:
        found.append(
            odd(
                "wireless",
                worded(
                    "{link} is wireless; access points often keep their clients apart.",
                    link=link.name,
                ),
                worded("If others are not seen, switch off client isolation at the access point."),
            )
        )
    vpns = [each for each in links if each.kind is Kind.VPN and each.usable]
    if link.kind is Kind.VPN:
        found.append(
            odd(
                "vpn",
                worded("{link} is a VPN; most carry no multicast.", link=link.name),
                worded("Type an address."),
            )
        )
    elif vpns:
        names = ", ".join(each.name for each in vpns)
        found.append(
            odd(
                "vpn",
                worded("A VPN is up ({names}) and may take the traffic.", names=names),
                worded("Try without it."),
            )
        )
    return found


async def check_multicast(
    address: str, group: str = PROBE_GROUP, wait_s: float = PROBE_S
) -> Finding:
    """Sends a datagram to a group on the interface of that address, and waits to hear it."""
    try:
        heard = await _probe(address, group, wait_s)
    except OSError as problem:
        return bad(
            "multicast",
            worded(
                "Multicast is refused on {address}: {reason}.",
                address=address,
                reason=problem.strerror,
            ),
            worded("Allow multicast for this program, or add a route for 224.0.0.0/4."),
        )
    if heard:
        return good(
            "multicast", worded("Multicast on {address} works both ways here.", address=address)
        )
    return bad(
        "multicast",
        worded("A multicast sent from {address} was not heard on it.", address=address),
        worded("Let UDP in and out at the firewall; port 17474 and the program itself."),
    )


async def _probe(address: str, group: str, wait_s: float) -> bool:
    word = os.urandom(16)
    interface = socket.inet_aton(address)
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ear,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mouth,
    ):
        ear.setblocking(False)
        ear.bind(("", 0))
        membership = socket.inet_aton(group) + interface
        ear.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
        mouth.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, interface)
        mouth.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 1)
        mouth.sendto(word, (group, ear.getsockname()[1]))
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(wait_s):
                while await loop.sock_recv(ear, 64) != word:
                    pass
        except TimeoutError:
            return False
    return True


def check_mdns(
    scope: Scope,
    address: str,
    announced: Sequence[Peer],
    snapshot: Snapshot | None = None,
    reached: int = 0,
) -> Finding:
    """Whether engines of the scope, other than this one, are announced on the interface of that
    address.

    They may be announced and yet neither be reached nor be members together: then something between
    them stops the engine's packets, which is what a firewall and a wireless network that isolates
    do.
    """
    if not announced and snapshot is not None and len(snapshot.nodes) > 1:
        return good(
            "mdns",
            worded("Nobody is announced by mDNS on {address}; others are here.", address=address),
        )
    if not announced:
        return odd(
            "mdns",
            worded(
                "Nobody else of the scope {scope} is announced by mDNS on {address}.",
                scope=scope.name,
                address=address,
            ),
            worded(
                "Start the program on the other computer, in the same scope; if it runs,"
                " the network keeps the two apart (client isolation, another segment, a"
                " firewall)."
            ),
        )
    listed = ", ".join(sorted(f"{peer.address}:{peer.port}" for peer in announced)[:4])
    if snapshot is not None and len(snapshot.nodes) < 2 and not reached:
        return odd(
            "mdns",
            worded(
                "Announced are {listed}, but nobody shares an object with this computer.",
                listed=listed,
            ),
            worded("If the same object is open there: let UDP in at both firewalls."),
        )
    return good("mdns", worded("Announced by mDNS: {listed}.", listed=listed))


def mdns_refused(problem: TransportError) -> Finding:
    """What to say where nothing can be searched by mDNS."""
    return odd("mdns", str(problem), worded("Let UDP port 5353 in and out at the firewall."))


def check_clock(now_s: float) -> Finding:
    """Whether the time of day is possible. The engine needs none; keys, files and people do."""
    if now_s < _CLOCK_S_MIN:
        return odd(
            "clock",
            worded("This computer's clock is years slow."),
            worded("Set its date and time."),
        )
    return good("clock", worded("The clock is plausible; the network does not need it."))


def check_neighbours(
    scope: Scope, others: Sequence[Mapping[str, str]], snapshot: Snapshot | None = None
) -> Finding:
    """Whether those who are announced by mDNS are of this scope and of a version that fits;
    `others` are the texts of their announcements."""
    mine = [each for each in others if each.get("scope") == scope_label(scope)]
    strangers = len(others) - len(mine)
    versions = {each.get("version", "?") for each in mine} - {ANNOUNCED_VERSION}
    if versions:
        return odd(
            "version",
            worded(
                "Others in the scope {scope} speak version {versions} of the network's"
                " language, this one {own}.",
                scope=scope.name,
                versions=", ".join(sorted(versions)),
                own=ANNOUNCED_VERSION,
            ),
            worded("Update the older ones."),
        )
    alone = snapshot is None or len(snapshot.nodes) < 2
    if strangers and not mine and alone:
        return odd(
            "key",
            worded_n(
                "Announced: {count} computer in other scopes than {scope}.",
                "Announced: {count} computers in other scopes than {scope}.",
                strangers,
                scope=scope.name,
            ),
            worded("Compare with live-objects scope on both computers, and join the same one."),
        )
    return good(
        "key", worded("{count} announced in the scope {scope}.", count=len(mine), scope=scope.name)
    )


def check_identity(file: Path) -> Finding:
    """Whether the user's identity is there, and theirs alone."""
    try:
        identity = Identity.load(file) if file.exists() else None
    except TransportError as problem:
        return bad(
            "identity",
            str(problem),
            worded(
                "Until then you cannot sign in; somebody else who could read it may pose as you."
            ),
        )
    if identity is None:
        return good("identity", worded("Your identity is made at the first start."))
    return good(
        "identity",
        worded(
            "You are {fingerprint}; the key to that is in {file}, for you alone to read.",
            fingerprint=identity.fingerprint,
            file=file,
        ),
    )


def check_version(running: str, installed: str) -> Finding:
    """Whether the program that runs is the one that is installed."""
    if running != installed:
        return odd(
            "version",
            worded(
                "Version {running} runs, but {installed} is installed.",
                running=running,
                installed=installed,
            ),
            worded("End the program and start it again."),
        )
    return good("version", worded("Version {running} runs.", running=running))


async def examine(
    links: Sequence[Link], wanted: str = "", snapshot: Snapshot | None = None, reached: int = 0
) -> list[Finding]:
    """All checks that can be made with what is given; `reached` others let this computer in."""
    found = check_links(links, wanted)
    chosen = next((link for link in links if wanted in {link.name, link.address}), None)
    link = chosen if wanted else best_link(links)
    if link is not None and link.usable and (link.multicast or link.kind is Kind.LOOPBACK):
        found.append(await check_multicast(link.address))
    if snapshot is not None:
        found += check_engine(snapshot, reached)
    return found
