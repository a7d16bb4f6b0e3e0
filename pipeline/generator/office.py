"""The office that generated logs are about: who works where, which objects there are, who has them.

A company has departments, a department has teams. Most objects belong to a team, some to a
department or to all; a tenth are shared by people from anywhere. A person lacks a small part of
what the others of the unit have, at random: this noise is what makes exact rules brittle.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipeline.errors import PipelineProblem

Rates = Literal["popular", "independent", "even"]

PEOPLE_MAX = 1_000_000
OBJECTS_MAX = 1_000_000


@dataclass(frozen=True, slots=True)
class OfficePlan:
    """The measures of an office.

    `shares` are the parts of the objects that belong to all, to a department, to a team; the rest
    is mixed.
    """

    people: int = 2000
    objects: int = 10_000
    department: int = 200
    team: int = 20
    absences: float = 0.02
    zipf: float = 1.5
    rates: Rates = "popular"
    shares: tuple[float, float, float] = (0.05, 0.15, 0.70)

    def __post_init__(self) -> None:
        if not 2 <= self.people <= PEOPLE_MAX or not 1 <= self.objects <= OBJECTS_MAX:
            raise PipelineProblem(
                f"An office has 2 to {PEOPLE_MAX} people and 1 to {OBJECTS_MAX} objects."
            )
        if not 1 <= self.team <= self.department:
            raise PipelineProblem("A team has at least one person, a department at least a team.")
        if not 0 <= self.absences < 1:
            raise PipelineProblem("The part of absences is from 0 to 1.")


@dataclass(frozen=True)
class Office:
    """People are 0, 1, …; `members[g]` has who shares object g, `rates[g]` its part of messages."""

    plan: OfficePlan
    ids: list[str]
    levels: NDArray[np.int8]
    members: list[NDArray[np.int32]]
    rates: NDArray[np.float64]

    @property
    def memberships(self) -> int:
        return sum(map(len, self.members))

    @cached_property
    def words(self) -> Any:
        """The ids as a list that columns point into."""
        return pa.array(self.ids)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many share each object."""
        return np.array([len(each) for each in self.members])

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where in `flat` the members of each object begin."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])

    @cached_property
    def flat(self) -> NDArray[np.int32]:
        """The members of all objects, one object after the other."""
        return np.concatenate(self.members)


def node_of(person: int) -> int:
    """The id of a person's node, as columns have it: signed, and well mixed."""
    digest = hashlib.blake2b(b"node %d" % person, digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def make_office(seed: int, plan: OfficePlan) -> Office:
    """The same office for the same seed."""
    source = np.random.default_rng([seed, 1])
    levels = source.choice(4, size=plan.objects, p=[*plan.shares, 1 - sum(plan.shares)])
    members = [_members(source, plan, int(level)) for level in levels]
    ids = [
        hashlib.blake2b(b"object %d %d" % (seed, number), digest_size=16).hexdigest()
        for number in range(plan.objects)
    ]
    return Office(plan, ids, levels.astype(np.int8), members, _rates(source, plan, members))


def _members(source: np.random.Generator, plan: OfficePlan, level: int) -> NDArray[np.int32]:
    if level == 3:
        size = int(source.integers(2, 2 * plan.team))
        return np.sort(source.choice(plan.people, min(size, plan.people), replace=False)).astype(
            np.int32
        )
    unit = (plan.people, plan.department, plan.team)[level]
    units = max(1, plan.people // unit)
    first = int(source.integers(units)) * unit
    everyone = np.arange(first, min(first + unit, plan.people), dtype=np.int32)
    present = everyone[source.random(len(everyone)) >= plan.absences]
    return present if len(present) else everyone[:1]


def _rates(
    source: np.random.Generator, plan: OfficePlan, members: list[NDArray[np.int32]]
) -> NDArray[np.float64]:
    count = len(members)
    if plan.rates == "even":
        return np.full(count, 1 / count)
    # The more people have an object the more is written in it, give or take a factor of two.
    popularity = np.array([len(each) for each in members]) * np.exp(0.7 * source.normal(size=count))
    order = np.argsort(-popularity) if plan.rates == "popular" else source.permutation(count)
    ranks = np.empty(count)
    ranks[order] = np.arange(1, count + 1)
    weights = ranks**-plan.zipf
    rates: NDArray[np.float64] = weights / weights.sum()
    return rates
