"""What `live-objects net` shows: a snapshot of an engine, as data, as JSON, and as a table.

Pure functions over plain values: whoever has an engine takes a snapshot, whoever has two of them
gets rates, whoever has one prints it. The program that runs and the one that prints may be two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from transport.binding import Address
from transport.engine import Engine
from transport.errors import BadArgument
from transport.node import Node
from transport.sentences import worded, worded_n


@dataclass(frozen=True, slots=True)
class GroupState:
    """One joined group; `view` is 0 before the first. Ids are hexadecimal."""

    group: str
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
    # Where those are whose multicast should be heard here and is not.
    unheard: tuple[str, ...]
    # The multicast address of a region that is not heard here, and when it is tried again.
    missed: str
    missed_rests_s: float
    counters: dict[str, int]

    @property
    def nodes(self) -> tuple[str, ...]:
        """Who is here: every node in a view of a group that this one is in."""
        return tuple(sorted({member for group in self.groups for member in group.members}))

    @property
    def by_unicast(self) -> tuple[RegionState, ...]:
        """Regions shared with others that multicast does not reach all of."""
        return tuple(
            region
            for region in self.regions
            if region.here and region.unicast and not region.closing and region.alive > 1
        )


def take_snapshot(node: Node, scope: str, now_s: float) -> Snapshot:
    """What an engine says of itself. The system's counters come under names with `udp_`."""
    counters = dict(node.counters())
    interface = address = multicast = ""
    if isinstance(node, Engine):
        info = node.info()
        interface = info.interface
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
        groups=_groups(node),
        regions=_regions(node),
        unheard=tuple(sorted(_place(address) for address in node.unheard())),
        missed=missed.address.text if missed is not None else "",
        missed_rests_s=missed.rests_s if missed is not None else 0.0,
        counters=counters,
    )


def _groups(node: Node) -> tuple[GroupState, ...]:
    return tuple(
        GroupState(
            group=group.group_id.hex(),
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
        unheard = tuple(plain.pop("unheard"))
        return Snapshot(groups=groups, regions=regions, unheard=unheard, **plain)
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


# The table


def as_table(snapshot: Snapshot, before: Snapshot | None = None) -> str:
    """The snapshot for a terminal; with an earlier one also rates."""
    parts = [_head(snapshot, rates(before, snapshot) if before else None)]
    if snapshot.groups:
        parts.append(_group_table(snapshot.groups))
    if snapshot.regions:
        parts.append(_region_table(snapshot.regions))
    trouble = _trouble(snapshot.counters)
    if trouble:
        parts.append(columns([worded("trouble"), worded("count")], trouble))
    return "\n\n".join(parts) + "\n"


def listed(places: Sequence[str], count_max: int = 6) -> str:
    """The first of them, and how many more there are."""
    more = len(places) - count_max
    first = ", ".join(places[:count_max])
    return worded("{first} and {more} more", first=first, more=f"{more:,}") if more > 0 else first


def _head(snapshot: Snapshot, rate: Rates | None) -> str:
    place = f"{snapshot.interface} {snapshot.address}".strip() or worded("simulated")
    by = (
        worded("multicast {group}", group=snapshot.multicast)
        if snapshot.multicast
        else worded("unicast only")
    )
    counts = (
        worded_n("{count} node", "{count} nodes", len(snapshot.nodes)),
        worded_n("{count} group", "{count} groups", len(snapshot.groups)),
        worded_n("{count} region", "{count} regions", len(snapshot.regions)),
    )
    who = worded("scope {scope}   node {node}", scope=snapshot.scope, node=snapshot.node)
    lines = [f"{who}   {_health(snapshot.health)}", f"{place}   {by}", ", ".join(counts)]
    if snapshot.unheard:
        lines.append(worded("multicast not heard of {others}", others=listed(snapshot.unheard)))
    if snapshot.missed:
        lines.append(
            worded(
                "multicast to {address} not heard, tried again in {time}",
                address=snapshot.missed,
                time=in_time(snapshot.missed_rests_s),
            )
        )
    if rate is not None:
        lines.append(
            worded(
                "in {messages_in} messages/s, {bytes_in}/s   out {messages_out} messages/s,"
                " {bytes_out}/s   lost {lost}   tokens {tokens}/s",
                messages_in=f"{rate.messages_in:,.0f}",
                bytes_in=in_bytes(rate.bytes_in),
                messages_out=f"{rate.messages_out:,.0f}",
                bytes_out=in_bytes(rate.bytes_out),
                lost=f"{rate.lost:.2%}",
                tokens=f"{rate.tokens:.1f}",
            )
        )
    return "\n".join(lines)


def _health(health: str) -> str:
    words = {
        "searching": worded("searching"),
        "joining": worded("joining"),
        "member": worded("member"),
        "host": worded("host"),
        "suspended": worded("suspended"),
        "closed": worded("closed"),
    }
    return words.get(health, health)


def _group_table(groups: Sequence[GroupState]) -> str:
    titles = [worded("group"), worded("view"), worded("members"), worded("unacknowledged")]
    rows = [
        [group.group, str(group.view), str(len(group.members)), str(group.unacknowledged)]
        for group in sorted(groups, key=lambda group: group.group)
    ]
    return columns(titles, rows)


def _region_table(regions: Sequence[RegionState]) -> str:
    titles = [worded("region"), worded("alive"), worded("senders"), worded("levels")]
    titles += [worded("rate"), worded("acknowledged"), worded("token"), worded("sent by")]
    closing, outside = " " + worded("closing"), " " + worded("outside")
    rows = [
        [
            region.region + (closing if region.closing else "" if region.here else outside),
            f"{region.alive}/{region.members}",
            str(region.senders),
            str(region.ring_levels),
            in_bytes(region.rate_bytes_per_s) + "/s",
            in_time(region.acknowledgement_s),
            in_time(region.token_round_s),
            worded("unicast") if region.unicast else region.address,
        ]
        for region in sorted(regions, key=lambda region: region.region)
    ]
    return columns(titles, rows)


# Counters that stay at 0 where all is well.
_TROUBLE = (
    *("dropped_", "udp_kernel_drops", "udp_send_errors", "packets_lost", "messages_forged"),
    *("messages_refused", "tokens_skipped", "rate_decreases", "links_broken", "evicted"),
    *("suspensions", "orphan_packets_lost", "data_receive_full", "unheard_now"),
    *("addresses_unheard", "addresses_renewed"),
)


def _trouble(counters: Mapping[str, int]) -> list[list[str]]:
    return [
        [name, f"{value:,}"]
        for name, value in counters.items()
        if value and name.startswith(_TROUBLE)
    ]


def columns(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table: the first column to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        first = cells[0].ljust(widths[0])
        rest = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        return "  ".join([first, *rest]).rstrip()

    return "\n".join([line(titles), *map(line, rows)])


def in_bytes(amount: float) -> str:
    """A number of bytes with a unit that leaves at most four digits."""
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def in_time(seconds: float) -> str:
    """A short time with its unit; a dash when it is not known."""
    if seconds <= 0:
        return "-"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"
