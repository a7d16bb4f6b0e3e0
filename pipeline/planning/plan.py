"""Makes a plan from interest: alike groups, cheap joins, hierarchies, and no needless move.

The last plan is kept, with new groups added to it, unless a new one is clearly better: every region
that changes costs its nodes a reconfiguration, which is the very thing that plans are to spare.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pipeline.planning.alike import LIKENESS, alike_sets
from pipeline.planning.cost import Cost, Region, cost_of, parted_regions
from pipeline.planning.interest import Interest
from pipeline.planning.merge import Cluster, Limits, cluster_of, join_clusters, pull_out
from pipeline.planning.nest import nest_clusters
from pipeline.planning.plan_file import GROUPS_MAX, PlannedSet, name_of

# By how much nodes must be in fewer regions for a new plan to be worth its moves.
BETTER = 0.15
# A new plan leaves a part of the budget, so that it can be kept when interest changes a little.
SPENT = 0.9


@dataclass(frozen=True, slots=True)
class Plan:
    """The sets with what they cost; `moves` counts memberships of regions that come or go."""

    sets: list[PlannedSet]
    cost: Cost
    kept: bool
    moves: int
    left_out: int

    def facts(self) -> dict[str, Any]:
        return {
            **self.cost.as_dict(),
            "sets": len(self.sets),
            "groups": sum(len(planned.groups) for planned in self.sets),
            "kept_last_plan": self.kept,
            "moves": self.moves,
            "groups_left_out": self.left_out,
        }


def make_plan(
    interest: Interest,
    limits: Limits,
    last: list[PlannedSet] | None = None,
    likeness: float = LIKENESS,
    tell: Callable[[str], None] = lambda _: None,
) -> Plan:
    """The plan for this interest, near the last one."""
    interest, left_out = _within_limit(interest)
    spent = replace(limits, waste=SPENT * limits.waste)
    tell("groups with nearly the same members")
    alike = [cluster_of(interest, groups) for groups in alike_sets(interest, likeness)]
    alike = pull_out(interest, alike, spent)
    tell("joins within the budget")
    fresh = _finish(interest, join_clusters(interest, alike, spent), limits)
    if not last:
        return Plan(fresh, _cost(interest, fresh), kept=False, moves=0, left_out=left_out)
    tell("the last plan")
    before = _known_part(interest, last)
    kept = _extend(interest, before, alike, limits)
    kept_cost, fresh_cost = _cost(interest, kept), _cost(interest, fresh)
    is_kept = (
        kept_cost.waste <= max(limits.waste, fresh_cost.waste)
        and kept_cost.regions_mean <= (1 + BETTER) * fresh_cost.regions_mean
        and kept_cost.datagrams <= (1 + BETTER) * fresh_cost.datagrams
    )
    chosen = kept if is_kept else _with_old_names(fresh, before)
    cost = kept_cost if is_kept else fresh_cost
    return Plan(chosen, cost, is_kept, moves_between(interest, before, chosen), left_out)


def _within_limit(interest: Interest) -> tuple[Interest, int]:
    """Without the groups for which a plan has no room: those that carry least."""
    excess = len(interest.groups) - GROUPS_MAX
    if excess <= 0:
        return interest, 0
    weights = [
        traffic * members.bit_count()
        for traffic, members in zip(interest.traffic, interest.members, strict=True)
    ]
    heavy = sorted(range(len(weights)), key=lambda group: -weights[group])[:GROUPS_MAX]
    heavy.sort()
    return replace(
        interest,
        groups=[interest.groups[group] for group in heavy],
        members=[interest.members[group] for group in heavy],
        traffic=[interest.traffic[group] for group in heavy],
    ), excess


def _finish(interest: Interest, clusters: list[Cluster], limits: Limits) -> list[PlannedSet]:
    apart, hierarchies = nest_clusters(interest, clusters, limits)
    sets = [_named(interest, "cluster", cluster.groups) for cluster in apart]
    return sets + [_named(interest, "hierarchy", groups) for groups in hierarchies]


def _named(interest: Interest, kind: Any, groups: list[int]) -> PlannedSet:
    ids = tuple(sorted(interest.groups[group] for group in groups))
    return PlannedSet(kind, name_of(kind, ids), ids)


def regions_of(interest: Interest, sets: list[PlannedSet]) -> list[Region]:
    """The regions that the membership service would make of a plan."""
    place = {group: number for number, group in enumerate(interest.groups)}
    regions = []
    named: set[int] = set()
    for planned in sets:
        groups = [place[group] for group in planned.groups if group in place]
        named.update(groups)
        if planned.kind == "cluster":
            regions.append(Region(cluster_of(interest, groups).region, groups))
        else:
            regions += parted_regions(interest, groups)
    rest = [number for number in place.values() if number not in named]
    return regions + parted_regions(interest, rest)


def _cost(interest: Interest, sets: list[PlannedSet]) -> Cost:
    return cost_of(interest, regions_of(interest, sets))


# The last plan


def _known_part(interest: Interest, last: list[PlannedSet]) -> list[PlannedSet]:
    present = set(interest.groups)
    parts = [
        replace(planned, groups=tuple(group for group in planned.groups if group in present))
        for planned in last
    ]
    return [planned for planned in parts if planned.groups]


def _extend(
    interest: Interest, before: list[PlannedSet], alike: list[Cluster], limits: Limits
) -> list[PlannedSet]:
    """The last plan with the groups that are new: each goes with those that are alike to it, or
    joins where it is cheapest."""
    place = {group: number for number, group in enumerate(interest.groups)}
    clusters = {
        planned.name: [place[group] for group in planned.groups]
        for planned in before
        if planned.kind == "cluster"
    }
    settled = {group for planned in before for group in planned.groups}
    home = {group: name for name, groups in clusters.items() for group in groups}
    strangers: list[Cluster] = []
    for cluster in alike:
        new = [group for group in cluster.groups if interest.groups[group] not in settled]
        names = [home[group] for group in cluster.groups if group in home]
        if new and names:
            clusters[max(set(names), key=lambda name: (names.count(name), name))] += new
        elif new:
            strangers.append(cluster_of(interest, new))
    old = [cluster_of(interest, groups) for groups in clusters.values()]
    joined = join_clusters(interest, old + strangers, limits) if strangers else old
    names_of = {group: name for name, groups in clusters.items() for group in groups}
    sets = []
    for cluster in joined:
        planned = _named(interest, "cluster", cluster.groups)
        names = [names_of[group] for group in cluster.groups if group in names_of]
        sets.append(replace(planned, name=names[0]) if names else planned)
    return sets + [planned for planned in before if planned.kind == "hierarchy"]


def _with_old_names(fresh: list[PlannedSet], before: list[PlannedSet]) -> list[PlannedSet]:
    """A set that has most groups of an old one takes its name."""
    home = {group: planned.name for planned in before for group in planned.groups}
    taken: set[str] = set()
    named = []
    for planned in sorted(fresh, key=lambda planned: -len(planned.groups)):
        names = [home[group] for group in planned.groups if group in home]
        best = max(set(names), key=lambda name: (names.count(name), name), default=planned.name)
        name = best if best not in taken else planned.name
        while name in taken:
            name += "x"
        taken.add(name)
        named.append(replace(planned, name=name))
    return named


def moves_between(interest: Interest, before: list[PlannedSet], after: list[PlannedSet]) -> int:
    """Memberships of regions that end or begin when one plan follows the other."""
    old = {region.nodes for region in regions_of(interest, before)}
    new = {region.nodes for region in regions_of(interest, after)}
    return sum(nodes.bit_count() for nodes in old ^ new)
