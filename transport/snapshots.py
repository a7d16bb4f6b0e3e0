"""What `live-objects net` shows: a snapshot of an engine, as data and as JSON.

Pure functions over plain values: whoever has an engine takes a snapshot, whoever has two of them
gets rates. The program that runs and the one that prints (`snapshot_table.py`) may be two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from transport.binding import Address
from transport.config import Peer
from transport.engine import Engine
from transport.errors import BadArgument
from transport.node import Node

# Bytes of the headers of IP and UDP in each datagram.
_IPV4_HEADERS = 28
_IPV6_HEADERS = 48


@dataclass(frozen=True, slots=True)
class GroupState:
    """One joined group; `view` is 0 before the first. Ids are hexadecimal; `title` is what its
    object is called, if the program that runs knows."""

    group: str
    title: str
    view: int
    members: tuple[str, ...]
    unacknowledged: int


@dataclass(frozen=True, slots=True)
class RegionState:
    """One region as this engine knows it."""

    region: str
    address: str
    members: int
    alive: int
    senders: int
    ring_levels: int
    unacknowledged_packets: int
    rate_bytes_per_s: int
    acknowledgement_s: float
    token_round_s: float
    here: bool
    closing: bool
    unicast: bool


@dataclass(frozen=True, slots=True)
class PathState:
    """A path to another computer that carries less than the interface says: `bytes` with the
    headers of IP, as interfaces count."""

    address: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Known:
    """What a program knows beside its engine: names of people by node, titles of objects by
    group, and who is announced by mDNS."""

    people: Mapping[int, str] = field(default_factory=dict)
    titles: Mapping[bytes, str] = field(default_factory=dict)
    announced: Sequence[Peer] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An engine at one moment; `taken_s` is of a monotonic clock."""

    taken_s: float
    node: str
    scope: str
    health: str
    interface: str
    address: str
    multicast: str
    groups: tuple[GroupState, ...]
    regions: tuple[RegionState, ...]
    # Who has said their name, by node; and where others of the scope are announced by mDNS.
    people: dict[str, str]
    announced: tuple[str, ...]
    # Multicast is a burden on this one's line.
    prefers_unicast: bool
    # Where those are whose multicast should be heard here and is not.
    unheard: tuple[str, ...]
    # The multicast address of a region that is not heard here, and when it is tried again.
    missed: str
    missed_rests_s: float
    # What the interface says it carries, headers of IP included; and the paths that carry less.
    interface_bytes: int
    short_paths: tuple[PathState, ...]
    counters: dict[str, int]

    @property
    def nodes(self) -> tuple[str, ...]:
        """Who is here: every node in a view of a group that this one is in."""
        return tuple(sorted({member for group in self.groups for member in group.members}))

    def shared_with(self, node: str) -> int:
        """How many of this one's groups that node is in."""
        return sum(node in group.members for group in self.groups)

    @property
    def by_unicast(self) -> tuple[RegionState, ...]:
        """Regions shared with others that multicast does not reach all of."""
        return tuple(
            region
            for region in self.regions
            if region.here and region.unicast and not region.closing and region.alive > 1
        )


def take_snapshot(node: Node, scope: str, now_s: float, known: Known | None = None) -> Snapshot:
    """What an engine says of itself. The system's counters come under names with `udp_`."""
    known = known or Known()
    counters = dict(node.counters())
    interface = address = multicast = ""
    interface_bytes = 0
    if isinstance(node, Engine):
        info = node.info()
        interface, interface_bytes = info.interface, info.mtu_bytes
        address = _place(info.address)
        if info.multicast:
            multicast = _place(info.rendezvous)
        counters |= {
            "udp_datagrams_in": info.datagrams_in,
            "udp_datagrams_out": info.datagrams_out,
            "udp_kernel_drops": info.kernel_drops,
            "udp_send_errors": info.send_errors,
        }
    missed = node.missed_address()
    return Snapshot(
        taken_s=now_s,
        node=_hex(node.node),
        scope=scope,
        health=node.health.name.lower(),
        interface=interface,
        address=address,
        multicast=multicast,
        groups=_groups(node, known),
        regions=_regions(node),
        people={_hex(one): name for one, name in known.people.items()},
        announced=tuple(f"{peer.address}:{peer.port}" for peer in known.announced),
        prefers_unicast=node.prefers_unicast,
        unheard=tuple(sorted(_place(address) for address in node.unheard())),
        missed=missed.address.text if missed is not None else "",
        missed_rests_s=missed.rests_s if missed is not None else 0.0,
        interface_bytes=interface_bytes,
        short_paths=_short_paths(node),
        counters=counters,
    )


def _short_paths(node: Node) -> tuple[PathState, ...]:
    headers = _IPV6_HEADERS if isinstance(node, Engine) and node.config.ipv6 else _IPV4_HEADERS
    return tuple(
        PathState(path.address.text, path.bytes + headers)
        for path in sorted(node.short_paths(), key=lambda path: path.address.text)
    )


def _groups(node: Node, known: Known) -> tuple[GroupState, ...]:
    return tuple(
        GroupState(
            group=group.group_id.hex(),
            title=known.titles.get(group.group_id, ""),
            view=group.view.number if group.view else 0,
            members=tuple(_hex(member.node) for member in group.view.members) if group.view else (),
            unacknowledged=group.unacknowledged,
        )
        for group in node.groups
    )


def _regions(node: Node) -> tuple[RegionState, ...]:
    return tuple(
        RegionState(
            region=_hex(region.region),
            address=region.address.text,
            members=region.members,
            alive=region.alive,
            senders=region.senders,
            ring_levels=region.ring_levels,
            unacknowledged_packets=region.unacknowledged_packets,
            rate_bytes_per_s=region.rate_bytes_per_s,
            acknowledgement_s=region.acknowledgement_s,
            token_round_s=region.token_round_s,
            here=region.member,
            closing=region.closing,
            unicast=region.unicast,
        )
        for region in node.regions()
    )


def _place(address: Address) -> str:
    return f"{address.text}:{address.port}"


def _hex(number: int) -> str:
    return f"{number:016x}"


def as_json(snapshot: Snapshot) -> dict[str, Any]:
    """Plain values for `json.dumps`."""
    return asdict(snapshot)


def from_json(values: Mapping[str, Any]) -> Snapshot:
    """The snapshot that `as_json` was given; BadArgument when it is not one."""
    try:
        plain = dict(values)
        groups = tuple(
            GroupState(**{**group, "members": tuple(group["members"])})
            for group in plain.pop("groups")
        )
        regions = tuple(RegionState(**region) for region in plain.pop("regions"))
        unheard, announced = tuple(plain.pop("unheard")), tuple(plain.pop("announced"))
        short_paths = tuple(PathState(**path) for path in plain.pop("short_paths"))
        return Snapshot(
            groups=groups,
            regions=regions,
            unheard=unheard,
            announced=announced,
            short_paths=short_paths,
            **plain,
        )
    except (TypeError, KeyError, ValueError, AttributeError) as problem:
        raise BadArgument(
            "That is no snapshot of an engine: both programs must be of one version."
        ) from problem


@dataclass(frozen=True, slots=True)
class Rates:
    """What happened between two snapshots, per second; `lost` is a fraction of what came in."""

    messages_in: float
    messages_out: float
    bytes_in: float
    bytes_out: float
    tokens: float
    lost: float


def rates(before: Snapshot, after: Snapshot) -> Rates:
    """Rates between two snapshots of one engine; all 0 when no time lies between them."""
    passed_s = after.taken_s - before.taken_s
    same = before.node == after.node and passed_s > 0

    def rate(name: str) -> float:
        grown = after.counters.get(name, 0) - before.counters.get(name, 0)
        return max(0.0, grown / passed_s) if same else 0.0

    packets, lost = rate("data_received"), rate("packets_lost")
    return Rates(
        messages_in=rate("messages_delivered"),
        messages_out=rate("messages_sent"),
        bytes_in=rate("bytes_received"),
        bytes_out=rate("bytes_sent"),
        tokens=rate("tokens_launched") + rate("tokens_passed"),
        lost=lost / (packets + lost) if packets + lost else 0.0,
    )
