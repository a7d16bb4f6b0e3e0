"""Owns how a snapshot of an engine is written for a terminal: what `live-objects net` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from transport.sentences import worded, worded_n
from transport.snapshots import GroupState, Rates, RegionState, Snapshot, rates


def as_table(snapshot: Snapshot, before: Snapshot | None = None) -> str:
    """The snapshot for a terminal; with an earlier one also rates."""
    parts = [_head(snapshot, rates(before, snapshot) if before else None)]
    if snapshot.nodes:
        parts.append(_who_table(snapshot))
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
    if snapshot.announced:
        lines.append(worded("announced: {others}", others=listed(snapshot.announced)))
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


def _who_table(snapshot: Snapshot) -> str:
    """People by name, this computer first; computers that have not said theirs after them."""
    titles = [worded("who"), worded("node"), worded("groups")]
    rows = []
    for node in snapshot.nodes:
        here = node == snapshot.node
        name = _clean(snapshot.people.get(node, ""))
        shown = worded("{name} (here)", name=name).strip() if here else name or "-"
        rows.append((not here, not name, [shown, node, str(snapshot.shared_with(node))]))
    return columns(titles, [row for _, _, row in sorted(rows)])


def _clean(text: str) -> str:
    """Somebody's word, without what would draw elsewhere in the terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text).strip()


def _group_table(groups: Sequence[GroupState]) -> str:
    titles = [worded("group"), worded("view"), worded("members"), worded("unacknowledged")]
    rows = [
        [
            f"{group.group}  {_clean(group.title)}".strip(),
            str(group.view),
            str(len(group.members)),
            str(group.unacknowledged),
        ]
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
