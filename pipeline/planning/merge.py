"""Joins clusters of groups where that saves memberships of regions for little unwanted traffic.

A cluster is one region: all nodes that are in any of its groups. To join two saves a membership
for each node that is in both, and costs what their groups send to nodes of the other one. The
cheapest joins come first, by bytes in vain for a membership saved, until the budget is spent or
nodes are in few enough regions. Near-equal groups are the cheapest of all, so the same rule that
cleans up noise also decides, with measured traffic, what is too dear.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass

from pipeline.planning.interest import Interest, as_numbers

# A cluster pairs with those that share a node with it. A node in very many clusters would pair them
# all, so only those with most traffic (which others join) and with least (which join cheaply) are
# looked at; when these have been joined, the next ones are.
CLUSTERS_OF_NODE_MAX = 64
BUSIEST_OF_NODE = 16
ROUNDS_MAX = 8


@dataclass(slots=True)
class Cluster:
    """Groups that share a region."""

    groups: list[int]
    region: int
    traffic: float


@dataclass(frozen=True, slots=True)
class Limits:
    """What a plan may cost and how far it should go.

    `waste` is unwanted bytes as a part of wanted ones, `regions` the mean number of regions of a
    node at which joining ends, `size_min` the number of nodes below which a region should be
    joined with another one even then, `datagrams` how many a message may need on average.
    """

    waste: float = 0.045
    regions: float = 8.0
    size_min: int = 3
    datagrams: float = 1.5


def cluster_of(interest: Interest, groups: list[int]) -> Cluster:
    region = 0
    for group in groups:
        region |= interest.members[group]
    return Cluster(list(groups), region, sum(interest.traffic[group] for group in groups))


def waste_of(interest: Interest, clusters: list[Cluster]) -> float:
    """Bytes that nodes receive without having asked for them."""
    return sum(
        interest.traffic[group] * (cluster.region.bit_count() - interest.members[group].bit_count())
        for cluster in clusters
        for group in cluster.groups
    )


# Part of the budget that noise may use up; the rest is for joins.
NOISE_SHARE = 0.8


def pull_out(interest: Interest, clusters: list[Cluster], limits: Limits) -> list[Cluster]:
    """Gives groups a region of their own where alike ones together cost more than the budget.

    Those go first that waste most for each membership of a region that they save: a few that
    carry much, while all others stay together.
    """
    over = waste_of(interest, clusters) - NOISE_SHARE * limits.waste * interest.wanted
    wasted: list[tuple[float, float, int, int]] = []
    for place, cluster in enumerate(clusters):
        size = cluster.region.bit_count()
        for group in cluster.groups if len(cluster.groups) > 1 else ():
            own = interest.members[group].bit_count()
            waste = interest.traffic[group] * (size - own)
            wasted.append((-waste / max(1, own), waste, place, group))
    alone: list[int] = []
    for _, waste, place, group in sorted(wasted):
        if over <= 0:
            break
        if waste > 0 and len(clusters[place].groups) > 1:
            clusters[place].groups.remove(group)
            alone.append(group)
            over -= waste
    kept = [cluster_of(interest, cluster.groups) for cluster in clusters]
    return kept + [cluster_of(interest, [group]) for group in alone]


def join_clusters(interest: Interest, clusters: list[Cluster], limits: Limits) -> list[Cluster]:
    """Clusters within the limits, as far as joining can bring them there."""
    for _ in range(ROUNDS_MAX):
        joined = _Joining(interest, clusters, limits).run()
        if len(joined) == len(clusters):
            break
        clusters = joined
    return clusters


class _Joining:
    """One run: a heap of joins, of which the old ones are weighed again when they come up."""

    def __init__(self, interest: Interest, clusters: list[Cluster], limits: Limits) -> None:
        self._interest = interest
        self._limits = limits
        self._clusters: list[Cluster | None] = list(clusters)
        self._roots = list(range(len(clusters)))
        self._sizes = [cluster.region.bit_count() for cluster in clusters]
        self._left = limits.waste * interest.wanted - waste_of(interest, clusters)
        self._memberships = sum(self._sizes)
        everyone = 0
        for cluster in clusters:
            everyone |= cluster.region
        self._nodes = max(1, everyone.bit_count())

    def run(self) -> list[Cluster]:
        heap: list[tuple[float, int, int, int]] = []
        for a, b in self._pairs():
            price = self._price(a, b)
            if price is not None:
                heap.append((*price, a, b))
        heapq.heapify(heap)
        while heap and self._left > 0:
            *before, a, b = heapq.heappop(heap)
            a, b = self._root(a), self._root(b)
            if a == b or not self._is_wanted(a, b):
                continue
            now = self._price(a, b)
            if now is None or now[0] * -now[1] > self._left:
                continue
            if now > tuple(before) and heap and now > heap[0][:2]:
                heapq.heappush(heap, (*now, a, b))
                continue
            self._join(a, b, now)
        return [cluster for cluster in self._clusters if cluster is not None]

    def _is_wanted(self, a: int, b: int) -> bool:
        if self._memberships > self._limits.regions * self._nodes:
            return True
        return min(self._sizes[a], self._sizes[b]) < self._limits.size_min

    def _pairs(self) -> set[tuple[int, int]]:
        of_node: dict[int, list[int]] = defaultdict(list)
        traffic = [cluster.traffic if cluster else 0.0 for cluster in self._clusters]
        for number in sorted(range(len(traffic)), key=lambda each: -traffic[each]):
            cluster = self._clusters[number]
            assert cluster is not None
            for node in as_numbers(cluster.region, self._interest.node_count).tolist():
                of_node[node].append(number)
        pairs: set[tuple[int, int]] = set()
        for lists in {tuple(sorted(_looked_at(each))) for each in of_node.values()}:
            pairs.update((a, b) for place, a in enumerate(lists) for b in lists[place + 1 :])
        return pairs

    def _price(self, a: int, b: int) -> tuple[float, int] | None:
        """Bytes in vain for each membership saved, and (negative) how many are saved."""
        one, other = self._clusters[a], self._clusters[b]
        assert one is not None
        assert other is not None
        common = (one.region & other.region).bit_count()
        if common == 0:
            return None
        waste = one.traffic * (self._sizes[b] - common) + other.traffic * (self._sizes[a] - common)
        return waste / common, -common

    def _join(self, a: int, b: int, price: tuple[float, int]) -> None:
        one, other = self._clusters[a], self._clusters[b]
        assert one is not None
        assert other is not None
        self._left -= price[0] * -price[1]
        self._memberships += price[1]
        self._clusters[a] = Cluster(
            one.groups + other.groups, one.region | other.region, one.traffic + other.traffic
        )
        self._sizes[a] += self._sizes[b] + price[1]
        self._clusters[b] = None
        self._roots[b] = a

    def _root(self, number: int) -> int:
        while self._roots[number] != number:
            self._roots[number] = self._roots[self._roots[number]]
            number = self._roots[number]
        return number


def _looked_at(numbers: list[int]) -> list[int]:
    """Of a node's clusters, the busiest first, those that are worth a comparison."""
    if len(numbers) <= CLUSTERS_OF_NODE_MAX:
        return numbers
    return numbers[:BUSIEST_OF_NODE] + numbers[BUSIEST_OF_NODE - CLUSTERS_OF_NODE_MAX :]
