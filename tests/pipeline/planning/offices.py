"""Interest for tests of plans: from offices, and from sets written out."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from pipeline.generator.office import OfficePlan, make_office
from pipeline.planning.interest import Interest, as_bits

NODES = 12


def of_office(plan: OfficePlan, seed: int = 1) -> Interest:
    office = make_office(seed, plan)
    bits = [as_bits(members, plan.people) for members in office.members]
    return Interest(plan.people, office.ids, bits, (office.rates * 1e9).tolist())


def of_sets(*sets: Sequence[int], traffic: Sequence[float] | None = None) -> Interest:
    ids = [f"{number:032x}" for number in range(len(sets))]
    bits = [as_bits(list(each), NODES) for each in sets]
    return Interest(NODES, ids, bits, list(traffic or [1.0] * len(sets)))


@st.composite
def interests(draw: st.DrawFn) -> Interest:
    """Small interest of any shape."""
    nodes = st.sets(st.integers(0, NODES - 1), min_size=1)
    sets = draw(st.lists(nodes, min_size=1, max_size=10))
    traffic = draw(st.lists(st.floats(0.1, 100), min_size=len(sets), max_size=len(sets)))
    return of_sets(*[sorted(each) for each in sets], traffic=traffic)
