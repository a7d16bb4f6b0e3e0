"""What `live-objects doctor` does: looks for the reason why another computer is not seen, names
the fix.

Each check gives findings, which are data; text and JSON are made of them. Checks that only look at
values are pure functions; the one that tries multicast opens two sockets of its own, for a moment.
"""

from __future__ import annotations

import asyncio
import math
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from transport.commands import Snapshot, counted, listed
from transport.config import Peer
from transport.errors import TransportError
from transport.identities import Identity
from transport.links import Kind, Link, best_link
from transport.scopes import ANNOUNCED_VERSION, Scope, scope_label

PROBE_GROUP = "239.195.255.254"
PROBE_S = 0.5
# The beginning of 2026: nobody had this program before.
_CLOCK_S_MIN = 1_767_225_600


class Verdict(StrEnum):
    GOOD = "good"
    ODD = "odd"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `fix` is what to do, empty when nothing is wrong."""

    subject: str
    verdict: Verdict
    sentence: str
    fix: str = ""


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
                _bad("interface", f"There is no interface {wanted}.", f"Choose one of: {names}.")
            ]
        return [_bad("interface", "No interface is connected.", "Connect a cable or Wi-Fi.")]
    return [_usable(link), *_peculiarities(link, links)]


def _usable(link: Link) -> Finding:
    if not link.up:
        return _bad("interface", f"{link.name} is switched off.", "Switch it on.")
    if not link.running:
        return _bad("interface", f"{link.name} has no connection.", "Plug the cable in.")
    if not link.address:
        return _bad("interface", f"{link.name} has no address.", "Check DHCP or set an address.")
    return Finding("interface", Verdict.GOOD, f"{link.name} ({link.address}) is connected.")


def _peculiarities(link: Link, links: Sequence[Link]) -> list[Finding]:
    found = []
    if link.kind is Kind.LOOPBACK:
        found.append(
            _odd(
                "interface",
                "Only this computer itself can be reached (loopback).",
                "Choose another interface to reach others.",
            )
        )
    elif not link.multicast:
        found.append(
            _bad("multicast", f"{link.name} cannot multicast.", "Choose another interface.")
        )
    if link.kind is Kind.WIRELESS:
        found.append(
            _odd(
                "wireless",
                f"{link.name} is wireless; access points often keep their clients apart.",
                "If others are not seen, switch off client isolation at the access point.",
            )
        )
    vpns = [each for each in links if each.kind is Kind.VPN and each.usable]
    if link.kind is Kind.VPN:
        found.append(
            _odd("vpn", f"{link.name} is a VPN; most carry no multicast.", "Type an address.")
        )
    elif vpns:
        names = ", ".join(each.name for each in vpns)
        found.append(
            _odd("vpn", f"A VPN is up ({names}) and may take the traffic.", "Try without it.")
        )
    return found


async def check_multicast(
    address: str, group: str = PROBE_GROUP, wait_s: float = PROBE_S
) -> Finding:
    """Sends a datagram to a group on the interface of that address, and waits to hear it."""
    try:
        heard = await _probe(address, group, wait_s)
    except OSError as problem:
        return _bad(
            "multicast",
            f"Multicast is refused on {address}: {problem.strerror}.",
            "Allow multicast for this program, or add a route for 224.0.0.0/4.",
        )
    if heard:
        return Finding("multicast", Verdict.GOOD, f"Multicast on {address} works both ways here.")
    return _bad(
        "multicast",
        f"A multicast sent from {address} was not heard on it.",
        "Let UDP in and out at the firewall; port 17474 and the program itself.",
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
    scope: Scope, address: str, announced: Sequence[Peer], snapshot: Snapshot | None = None
) -> Finding:
    """Whether engines of the scope, other than this one, are announced on the interface of that
    address.

    They may be announced and yet not be members together: then something between them stops the
    engine's packets, which is what a firewall and a wireless network that isolates do.
    """
    if not announced and snapshot is not None and len(snapshot.nodes) > 1:
        return Finding(
            "mdns", Verdict.GOOD, f"Nobody is announced by mDNS on {address}; others are here."
        )
    if not announced:
        return _odd(
            "mdns",
            f"Nobody else of the scope {scope.name} is announced by mDNS on {address}.",
            "Start the program on the other computer, in the same scope; if it runs, the network"
            " keeps the two apart (client isolation, another segment, a firewall).",
        )
    listed = ", ".join(sorted(f"{peer.address}:{peer.port}" for peer in announced)[:4])
    if snapshot is not None and len(snapshot.nodes) < 2:
        return _odd(
            "mdns",
            f"Announced are {listed}, but nobody shares an object with this computer.",
            "If the same object is open there: let UDP in at both firewalls.",
        )
    return Finding("mdns", Verdict.GOOD, f"Announced by mDNS: {listed}.")


def mdns_refused(problem: TransportError) -> Finding:
    """What to say where nothing can be searched by mDNS."""
    return _odd("mdns", str(problem), "Let UDP port 5353 in and out at the firewall.")


def check_clock(now_s: float) -> Finding:
    """Whether the time of day is possible. The engine needs none; keys, files and people do."""
    if now_s < _CLOCK_S_MIN:
        return _odd("clock", "This computer's clock is years slow.", "Set its date and time.")
    return Finding("clock", Verdict.GOOD, "The clock is plausible; the network does not need it.")


def check_neighbours(
    scope: Scope, others: Sequence[Mapping[str, str]], snapshot: Snapshot | None = None
) -> Finding:
    """Whether those who are announced by mDNS are of this scope and of a version that fits;
    `others` are the texts of their announcements."""
    mine = [each for each in others if each.get("scope") == scope_label(scope)]
    strangers = len(others) - len(mine)
    versions = {each.get("version", "?") for each in mine} - {ANNOUNCED_VERSION}
    if versions:
        return _odd(
            "version",
            f"Others in the scope {scope.name} speak version {', '.join(sorted(versions))} of the"
            f" network's language, this one {ANNOUNCED_VERSION}.",
            "Update the older ones.",
        )
    alone = snapshot is None or len(snapshot.nodes) < 2
    if strangers and not mine and alone:
        return _odd(
            "key",
            f"Announced: {counted(strangers, 'computer')} in other scopes than {scope.name}.",
            "Compare with live-objects scope on both computers, and join the same one.",
        )
    return Finding("key", Verdict.GOOD, f"{len(mine)} announced in the scope {scope.name}.")


def check_identity(file: Path) -> Finding:
    """Whether the user's identity is there, and theirs alone."""
    try:
        identity = Identity.load(file) if file.exists() else None
    except TransportError as problem:
        return _bad(
            "identity",
            str(problem),
            "Until then you cannot sign in; somebody else who could read it may pose as you.",
        )
    if identity is None:
        return Finding("identity", Verdict.GOOD, "Your identity is made at the first start.")
    return Finding(
        "identity",
        Verdict.GOOD,
        f"You are {identity.fingerprint}; the key to that is in {file}, for you alone to read.",
    )


def check_version(running: str, installed: str) -> Finding:
    """Whether the program that runs is the one that is installed."""
    if running != installed:
        return _odd(
            "version",
            f"Version {running} runs, but {installed} is installed.",
            "End the program and start it again.",
        )
    return Finding("version", Verdict.GOOD, f"Version {running} runs.")


# Counters of the engine that tell a story, with the sentence and the fix.
_STORIES: tuple[tuple[str, Verdict, str, str], ...] = (
    (
        "dropped_not_authentic",
        Verdict.ODD,
        "{count} packets came with another scope's key or from another version.",
        "Compare scope and version with the other computer.",
    ),
    (
        "udp_kernel_drops",
        Verdict.ODD,
        "The system threw {count} datagrams away because they were not fetched in time.",
        "Close what keeps this computer busy, or raise net.core.rmem_max.",
    ),
    (
        "udp_send_errors",
        Verdict.BAD,
        "The system refused to send {count} datagrams.",
        "Let UDP out at the firewall, and check that the interface is up.",
    ),
    (
        "messages_forged",
        Verdict.BAD,
        "{count} messages were not sealed with their object's key.",
        "Somebody has an older or a false reference; exchange it again.",
    ),
    (
        "evicted",
        Verdict.ODD,
        "The others have put this computer out {count} times.",
        "It was too slow or out of reach: look at its load and its connection.",
    ),
)


def check_engine(snapshot: Snapshot) -> list[Finding]:
    """What a running engine says of itself."""
    found = [_membership(snapshot)]
    if not snapshot.multicast:
        found.append(
            _odd(
                "multicast",
                "The engine sends by unicast only.",
                "That works, with more traffic; choose an interface with multicast for less.",
            )
        )
    elif snapshot.by_unicast:
        found.append(_fallen_back(snapshot))
    for name, verdict, sentence, fix in _STORIES:
        count = snapshot.counters.get(name, 0)
        if count:
            found.append(Finding(name, verdict, sentence.format(count=count), fix))
    return found


def _fallen_back(snapshot: Snapshot) -> Finding:
    """Multicast works here, and not between all who share something."""
    regions = f"By unicast: {counted(len(snapshot.by_unicast), 'region')}"
    if snapshot.missed and not snapshot.unheard:
        minutes = math.ceil(snapshot.missed_rests_s / 60)
        return _odd(
            "unicast",
            f"{regions}, since what is sent to the multicast address {snapshot.missed} does not"
            f" arrive here; it is tried again in {minutes} minutes.",
            "The switch carries some multicast addresses and not others: look at IGMP snooping"
            " there, and have a querier in the network or snooping switched off. It works, with"
            " more traffic.",
        )
    if not snapshot.unheard:
        return _odd(
            "unicast",
            f"{regions}, since multicast does not reach all members; that of all others is heard"
            " here.",
            "Run live-objects doctor on the other computers: one of them does not hear multicast."
            " It works, with more traffic.",
        )
    return _odd(
        "unicast",
        f"{regions}, since multicast of {listed(snapshot.unheard)} is not heard here.",
        "Look at the firewall here (UDP port 17474), at IGMP snooping without a querier at the"
        " switches between, and at multicast filtering or client isolation at wireless access"
        " points. It works, with more traffic.",
    )


def _membership(snapshot: Snapshot) -> Finding:
    others = max(0, len(snapshot.nodes) - 1)
    if snapshot.health in {"searching", "joining"}:
        return _bad(
            "membership",
            f"Nobody of the scope {snapshot.scope} has answered yet.",
            "Wait a moment; then compare the scope, and try the other findings.",
        )
    if snapshot.health in {"suspended", "closed"}:
        return _bad(
            "membership",
            f"This computer is {snapshot.health} in the scope {snapshot.scope}.",
            "Check the connection; it comes back by itself.",
        )
    if not others:
        return _odd(
            "membership",
            f"This computer is alone in its objects, in the scope {snapshot.scope}.",
            "Open the same object on the other computer, in the same scope.",
        )
    return Finding(
        "membership", Verdict.GOOD, f"Connected with {counted(others, 'other computer')}."
    )


def _bad(subject: str, sentence: str, fix: str) -> Finding:
    return Finding(subject, Verdict.BAD, sentence, fix)


def _odd(subject: str, sentence: str, fix: str) -> Finding:
    return Finding(subject, Verdict.ODD, sentence, fix)


async def examine(
    links: Sequence[Link], wanted: str = "", snapshot: Snapshot | None = None
) -> list[Finding]:
    """All checks that can be made with what is given."""
    found = check_links(links, wanted)
    chosen = next((link for link in links if wanted in {link.name, link.address}), None)
    link = chosen if wanted else best_link(links)
    if link is not None and link.usable:
        found.append(await check_multicast(link.address))
    if snapshot is not None:
        found += check_engine(snapshot)
    return found


def as_text(findings: Sequence[Finding]) -> str:
    """The findings for a terminal, the worst first."""
    order = [Verdict.BAD, Verdict.ODD, Verdict.GOOD]
    lines = []
    for finding in sorted(findings, key=lambda finding: order.index(finding.verdict)):
        lines.append(f"{finding.verdict:<5}{finding.subject}: {finding.sentence}")
        if finding.fix:
            lines.append(f"     -> {finding.fix}")
    return "\n".join(lines) + "\n" if lines else "Nothing could be looked at on this system.\n"


def as_json(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    return [asdict(finding) for finding in findings]
