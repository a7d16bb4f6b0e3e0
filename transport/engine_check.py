"""What a running engine's own account of itself tells a doctor."""

from __future__ import annotations

import math

from transport.findings import Finding, Verdict, bad, good, odd
from transport.sentences import worded, worded_n
from transport.snapshot_table import listed
from transport.snapshots import PathState, Snapshot


def check_engine(snapshot: Snapshot, reached: int = 0) -> list[Finding]:
    """What a running engine says of itself; `reached` others of its scope let this computer in."""
    found = [_membership(snapshot, reached)]
    if not snapshot.multicast:
        found.append(
            odd(
                "multicast",
                worded("The engine sends by unicast only."),
                worded(
                    "That works, with more traffic; choose an interface with multicast for less."
                ),
            )
        )
    elif snapshot.by_unicast:
        found.append(_fallen_back(snapshot))
    found += [_short_path(snapshot, path) for path in snapshot.short_paths]
    return found + [story for story in _stories(snapshot) if story is not None]


def _stories(snapshot: Snapshot) -> list[Finding | None]:
    """Counters of the engine that tell a story."""

    def told(
        name: str, verdict: Verdict, sentence: str, fix: str, least: int = 1
    ) -> Finding | None:
        count = snapshot.counters.get(name, 0)
        return Finding(name, verdict, sentence.format(count=count), fix) if count >= least else None

    return [
        told(
            "dropped_not_authentic",
            Verdict.ODD,
            worded("{count} packets came with another scope's key or from another version."),
            worded("Compare scope and version with the other computer."),
            # A doctor on another computer knocks; engines of another scope never stop.
            least=10,
        ),
        told(
            "udp_kernel_drops",
            Verdict.ODD,
            worded(
                "The system threw {count} datagrams away because they were not fetched in time."
            ),
            worded("Close what keeps this computer busy, or raise net.core.rmem_max."),
        ),
        told(
            "udp_send_errors",
            Verdict.BAD,
            worded("The system refused to send {count} datagrams."),
            worded("Let UDP out at the firewall, and check that the interface is up."),
        ),
        told(
            "messages_forged",
            Verdict.BAD,
            worded("{count} messages were not sealed with their object's key."),
            worded("Somebody has an older or a false reference; exchange it again."),
        ),
        told(
            "evicted",
            Verdict.ODD,
            worded("The others have put this computer out {count} times."),
            worded("It was too slow or out of reach: look at its load and its connection."),
        ),
    ]


def _short_path(snapshot: Snapshot, path: PathState) -> Finding:
    """Large packets are lost on the way to another computer, and nobody is told."""
    return odd(
        "path",
        worded(
            "The path to {where} carries only {bytes} bytes although the interface {interface}"
            " says {interface_bytes}.",
            where=path.address,
            bytes=path.bytes,
            interface=snapshot.interface,
            interface_bytes=snapshot.interface_bytes,
        ),
        worded(
            "A VPN, a tunnel or a mesh between the two carries less. It works, with shorter"
            " packets; set the MTU of {interface} to {bytes} if other programs have trouble, too.",
            interface=snapshot.interface,
            bytes=path.bytes,
        ),
    )


def _fallen_back(snapshot: Snapshot) -> Finding:
    """Multicast works here, and not between all who share something."""
    count = len(snapshot.by_unicast)
    regions = worded_n("By unicast: {count} region", "By unicast: {count} regions", count)
    if snapshot.unheard:
        return odd(
            "unicast",
            worded(
                "{regions}, since multicast of {others} is not heard here.",
                regions=regions,
                others=listed(snapshot.unheard),
            ),
            worded(
                "Look at the firewall here (UDP port 17474), at IGMP snooping without a querier at"
                " the switches between, and at multicast filtering or client isolation at wireless"
                " access points. It works, with more traffic."
            ),
        )
    if snapshot.missed:
        minutes = max(1, math.ceil(snapshot.missed_rests_s / 60))
        again = worded_n("in {count} minute", "in {count} minutes", minutes)
        return odd(
            "unicast",
            worded(
                "{regions}, since what is sent to the multicast address {missed} does not arrive"
                " here; multicast is tried again {again}.",
                regions=regions,
                missed=snapshot.missed,
                again=again,
            ),
            worded(
                "The switch carries some multicast addresses and not others: look at IGMP snooping"
                " there, and have a querier in the network or snooping switched off. It works, with"
                " more traffic."
            ),
        )
    if snapshot.prefers_unicast:
        return good(
            "unicast",
            worded(
                "{regions}, since this computer is on Wi-Fi, where multicast is slow.",
                regions=regions,
            ),
        )
    return odd(
        "unicast",
        worded(
            "{regions}, since multicast does not reach all members, or one of them is on Wi-Fi;"
            " that of all others is heard here.",
            regions=regions,
        ),
        worded(
            "Run live-objects doctor on the other computers: one of them does not hear multicast,"
            " or has no cable. It works, with more traffic."
        ),
    )


def _membership(snapshot: Snapshot, reached: int) -> Finding:
    others = max(0, len(snapshot.nodes) - 1)
    if snapshot.health in {"searching", "joining"}:
        return bad(
            "membership",
            worded("Nobody of the scope {scope} has answered yet.", scope=snapshot.scope),
            worded("Wait a moment; then compare the scope, and try the other findings."),
        )
    if snapshot.health in {"suspended", "closed"}:
        return bad(
            "membership",
            worded(
                "Nobody of the scope {scope} answers this computer any more.", scope=snapshot.scope
            ),
            worded("Check the connection; it comes back by itself."),
        )
    if not others and reached:
        return good(
            "membership",
            worded_n(
                "Connected; {count} other computer is reached, and shares no object with this one.",
                "Connected; {count} other computers are reached, and share no object with this"
                " one.",
                reached,
            ),
        )
    if not others:
        return odd(
            "membership",
            worded(
                "This computer is alone in its objects, in the scope {scope}.", scope=snapshot.scope
            ),
            worded("Open the same object on the other computer, in the same scope."),
        )
    return good(
        "membership",
        worded_n(
            "Connected with {count} other computer.",
            "Connected with {count} other computers.",
            others,
        ),
    )
