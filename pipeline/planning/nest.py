"""Puts clusters whose groups have equal members into hierarchies, where nodes are in too many.

A hierarchy parts nodes by which of its groups they are in: nothing is received in vain, a node is
in one region for all of them, and a message to an outer group needs a datagram for each part. A
cluster whose groups differ in their members is left alone: each difference would be a part.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.planning.interest import Interest
from pipeline.planning.merge import Cluster, Limits


@dataclass(slots=True)
class Nest:
    """Clusters that are one hierarchy; `parts` are its regions."""

    clusters: list[Cluster]
    nodes: int
    parts: list[int]
    datagrams: float


def nest_clusters(
    interest: Interest, clusters: list[Cluster], limits: Limits
) -> tuple[list[Cluster], list[list[int]]]:
    """What stays as clusters, and hierarchies as lists of groups."""
    clean = [each for each in clusters if _is_clean(interest, each)]
    everyone = 0
    for cluster in clusters:
        everyone |= cluster.region
    excess = sum(each.region.bit_count() for each in clusters) - limits.regions * (
        everyone.bit_count()
    )
    left = (limits.datagrams - 1) * sum(interest.traffic)
    nests = [_nest([each]) for each in sorted(clean, key=lambda each: each.region.bit_count())]
    place = 0
    while excess > 0 and place < len(nests):
        inner = nests[place]
        outer = _smallest_around(nests, place)
        joined = _nest(inner.clusters + nests[outer].clusters) if outer is not None else None
        if outer is not None and joined is not None:
            extra = joined.datagrams - inner.datagrams - nests[outer].datagrams
            small = min(part.bit_count() for part in joined.parts) < limits.size_min
            if extra <= left and not small:
                left -= extra
                excess -= inner.nodes.bit_count()
                nests[outer] = joined
                del nests[place]
                continue
        place += 1
    nested = [nest for nest in nests if len(nest.clusters) > 1]
    inside = {id(cluster) for nest in nested for cluster in nest.clusters}
    apart = [cluster for cluster in clusters if id(cluster) not in inside]
    return apart, [[g for cluster in nest.clusters for g in cluster.groups] for nest in nested]


def _is_clean(interest: Interest, cluster: Cluster) -> bool:
    return all(interest.members[group] == cluster.region for group in cluster.groups)


def _nest(clusters: list[Cluster]) -> Nest:
    nodes = 0
    for cluster in clusters:
        nodes |= cluster.region
    parts = [nodes]
    for cluster in clusters:
        cut = [(part & cluster.region, part & ~cluster.region) for part in parts]
        parts = [part for pair in cut for part in pair if part]
    datagrams = sum(
        cluster.traffic * sum(1 for part in parts if part & cluster.region) for cluster in clusters
    )
    return Nest(clusters, nodes, parts, datagrams)


def _smallest_around(nests: list[Nest], place: int) -> int | None:
    inner = nests[place].nodes
    around = [
        (nest.nodes.bit_count(), number)
        for number, nest in enumerate(nests)
        if number != place and nest.nodes & inner == inner
    ]
    return min(around)[1] if around else None
