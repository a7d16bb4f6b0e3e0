"""Finds groups with nearly the same members, without comparing each with each.

The smallest of many hashes of a group's members is the same for two groups as often as their
members are: so only those are compared that agree in one band of such hashes (MinHash). What is
found is then compared for certain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.planning.interest import Interest, as_numbers

BANDS = 12
ROWS = 3
LIKENESS = 0.8


def alike_sets(interest: Interest, likeness: float = LIKENESS) -> list[list[int]]:
    """The groups, parted into sets: each is at least so alike to the first of its set.

    Groups that carry more come first, and give their sets their shape.
    """
    weights = [
        traffic * members.bit_count()
        for traffic, members in zip(interest.traffic, interest.members, strict=True)
    ]
    order = sorted(range(len(weights)), key=lambda group: (-weights[group], interest.groups[group]))
    bands = _bands(interest)
    leaders: dict[tuple[int, bytes], list[int]] = {}
    sets: dict[int, list[int]] = {}
    for group in order:
        keys = [(band, bands[group, band].tobytes()) for band in range(BANDS)]
        leader = _nearest(interest, group, keys, leaders, likeness)
        if leader is not None:
            sets[leader].append(group)
            continue
        sets[group] = [group]
        for key in keys:
            leaders.setdefault(key, []).append(group)
    return list(sets.values())


def _nearest(
    interest: Interest,
    group: int,
    keys: list[tuple[int, bytes]],
    leaders: dict[tuple[int, bytes], list[int]],
    likeness: float,
) -> int | None:
    members = interest.members[group]
    best, best_likeness = None, likeness
    for leader in dict.fromkeys(each for key in keys for each in leaders.get(key, ())):
        other = interest.members[leader]
        either = (members | other).bit_count()
        alike = (members & other).bit_count() / either if either else 1.0
        if alike >= best_likeness and (best is None or alike > best_likeness):
            best, best_likeness = leader, alike
    return best


def _bands(interest: Interest) -> NDArray[np.uint64]:
    """For each group and band the smallest hashes, as bytes to compare."""
    source = np.random.default_rng(20_061)
    hashes = source.integers(
        0, 1 << 63, size=(BANDS * ROWS, max(1, interest.node_count)), dtype=np.uint64
    )
    smallest = np.zeros((len(interest.groups), BANDS * ROWS), dtype=np.uint64)
    for group, members in enumerate(interest.members):
        numbers = as_numbers(members, interest.node_count)
        if len(numbers):
            smallest[group] = hashes[:, numbers].min(axis=1)
    return smallest.reshape(len(interest.groups), BANDS, ROWS)
