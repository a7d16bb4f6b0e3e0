"""What a plan would cost, from the same traffic that it was made from; and what doing without does.

For every region: its nodes, and which groups are sent to it. From that follow regions of a node,
datagrams for a message, bytes in vain, and how much of a node's traffic its largest regions carry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pipeline.planning.interest import Interest, as_numbers


@dataclass(frozen=True, slots=True)
class Region:
    """A set of nodes as bits, and the groups whose messages are sent to it."""

    nodes: int
    groups: Sequence[int]


@dataclass(frozen=True, slots=True)
class Cost:
    """Means are over nodes that are in any group; shares are parts of 1.

    `datagrams` is how many each message needs, by traffic; `waste` bytes in vain by bytes wanted;
    `top_one` and `top_two` how much of a node's traffic comes through its largest regions.
    """

    regions: int
    regions_mean: float
    regions_max: int
    datagrams: float
    waste: float
    top_one: float
    top_two: float
    smallest: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def cost_of(interest: Interest, regions: Iterable[Region]) -> Cost:
    """The cost of regions in which every group reaches all of its members."""
    count = interest.node_count
    in_regions = np.zeros(count, dtype=np.int64)
    total, largest, second = np.zeros(count), np.zeros(count), np.zeros(count)
    received = sent = all_regions = 0.0
    smallest = 0
    for region in regions:
        numbers = as_numbers(region.nodes, count)
        if not len(numbers):
            continue
        traffic = sum(interest.traffic[group] for group in region.groups)
        in_regions[numbers] += 1
        total[numbers] += traffic
        second[numbers] = np.maximum(second[numbers], np.minimum(largest[numbers], traffic))
        largest[numbers] = np.maximum(largest[numbers], traffic)
        received += traffic * len(numbers)
        sent += traffic
        all_regions += 1
        smallest = len(numbers) if smallest == 0 else min(smallest, len(numbers))
    present = in_regions > 0
    flowing = total > 0
    wanted = interest.wanted
    of_one = largest[flowing] / total[flowing]
    of_two = (largest[flowing] + second[flowing]) / total[flowing]
    traffic_of_all = sum(interest.traffic)
    return Cost(
        regions=int(all_regions),
        regions_mean=float(in_regions[present].mean()) if present.any() else 0.0,
        regions_max=int(in_regions.max(initial=0)),
        datagrams=sent / traffic_of_all if traffic_of_all else 0.0,
        waste=(received - wanted) / wanted if wanted else 0.0,
        top_one=float(of_one.mean()) if len(of_one) else 0.0,
        top_two=float(of_two.mean()) if len(of_two) else 0.0,
        smallest=smallest,
    )


def exact_cost(interest: Interest) -> Cost:
    """What the exact policy would cost: a region for each distinct set of groups.

    Sets are told apart by the sum of random numbers, one for each group; the service itself
    compares them for certain.
    """
    count = interest.node_count
    source = np.random.default_rng(20_062)
    signatures = np.zeros(count, dtype=np.uint64)
    members = [as_numbers(bits, count) for bits in interest.members]
    for numbers in members:
        signatures[numbers] += source.integers(1, 1 << 63, dtype=np.uint64)
    present = signatures[signatures > 0]
    _, sizes = np.unique(present, return_counts=True)
    total = sum(interest.traffic)
    sent = sum(
        traffic * len(np.unique(signatures[numbers]))
        for traffic, numbers in zip(interest.traffic, members, strict=True)
    )
    return Cost(
        regions=len(sizes),
        regions_mean=1.0 if len(sizes) else 0.0,
        regions_max=1 if len(sizes) else 0,
        datagrams=sent / total if total else 0.0,
        waste=0.0,
        top_one=1.0,
        top_two=1.0,
        smallest=int(sizes.min()) if len(sizes) else 0,
    )


def parted_regions(interest: Interest, groups: Sequence[int]) -> list[Region]:
    """Nodes parted by which of these groups they are in: what the exact policy does with all."""
    everyone = 0
    for group in groups:
        everyone |= interest.members[group]
    parts: list[tuple[int, list[int]]] = [(everyone, [])] if everyone else []
    for group in groups:
        members = interest.members[group]
        split = []
        for nodes, listed in parts:
            inside = nodes & members
            if inside:
                split.append((inside, [*listed, group]))
            if nodes != inside:
                split.append((nodes & ~members, listed))
        parts = split
    return [Region(nodes, listed) for nodes, listed in parts]
