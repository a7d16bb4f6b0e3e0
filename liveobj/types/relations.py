"""Owns the relations between types: matching and subtyping, as in thesis 2.1.2, formula by formula.

Each relation is a pure function that gives all reasons against, and whose verdicts are cached:
types are immutable, and a composition asks about the same few pairs over and over.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from liveobj.types.constraints import Constraints
from liveobj.types.named import Named
from liveobj.types.objects import EndpointType, Events, ObjectType
from liveobj.types.values import why_not_value_subtype
from liveobj.types.verdicts import (
    InEndpoint,
    MissingConstraint,
    MissingEndpoint,
    MissingEvent,
    Reason,
    Verdict,
    WeakConstraint,
    WrongEvent,
    verdict,
)

CACHED_PAIRS = 16_384


@lru_cache(CACHED_PAIRS)
def matches(t1: EndpointType, t2: EndpointType) -> Verdict:
    """τ1 ∝ τ2  ⇔  O1 ⊑ I2  ∧  O2 ⊑ I1  ∧  C1 ⇒* C2′  ∧  C2 ⇒* C1′        (2.1)"""
    return verdict(
        [
            *_understood(t1.outgoing, t2.incoming, swapped=False),
            *_understood(t2.outgoing, t1.incoming, swapped=True),
            *_no_weaker(t1.provided, t2.required, swapped=False),
            *_no_weaker(t2.provided, t1.required, swapped=True),
        ]
    )


def _understood(events: Events, wanted: Events, *, swapped: bool) -> Iterator[Reason]:
    """E ⊑ E′  ⇔  ∀ (n,ε) ∈ E  ∃ (n,ε′) ∈ E′ :  ε ◁ ε′        (2.2)"""
    for name, event in events.items():
        counterpart = wanted.get(name)
        if counterpart is None:
            yield MissingEvent(swapped, name)
            continue
        problem = why_not_value_subtype(event, counterpart)
        if problem is not None:
            yield WrongEvent(swapped, name, problem)


def _no_weaker(given: Constraints, wanted: Constraints, *, swapped: bool) -> Iterator[Reason]:
    """C ⇒* C′  ⇔  ∀ (a,φ′) ∈ C′  ∃ (a,φ) ∈ C :  φ ⇒(a) φ′        (2.3)"""
    for formalism, weaker in wanted.items():
        stronger = given.get(formalism)
        if stronger is None:
            yield MissingConstraint(swapped, weaker.formalism.title, weaker.text)
        elif not stronger.implies(weaker):
            because = stronger.explain(weaker)
            yield WeakConstraint(
                swapped, weaker.formalism.title, stronger.text, weaker.text, because
            )


@lru_cache(CACHED_PAIRS)
def is_subtype(t1: EndpointType, t2: EndpointType) -> Verdict:
    """τ1 ◁ τ2  ⇔  O1 ⊑ O2  ∧  I2 ⊑ I1  ∧  C1 ⇒* C2  ∧  C2′ ⇒* C1′        (2.4)"""
    return verdict(
        [
            *_understood(t1.outgoing, t2.outgoing, swapped=False),
            *_understood(t2.incoming, t1.incoming, swapped=True),
            *_no_weaker(t1.provided, t2.provided, swapped=False),
            *_no_weaker(t2.required, t1.required, swapped=True),
        ]
    )


@lru_cache(CACHED_PAIRS)
def is_object_subtype(o1: ObjectType, o2: ObjectType) -> Verdict:
    """Θ1 ◁ Θ2  ⇔  E1 ⊑* E2  ∧  C1 ⇒* C2  ∧  C2′ ⇒* C1′        (2.5)"""
    return verdict(
        [
            *_has_endpoints(o1.endpoints, o2.endpoints),
            *_no_weaker(o1.provided, o2.provided, swapped=False),
            *_no_weaker(o2.required, o1.required, swapped=True),
        ]
    )


def _has_endpoints(given: Named[EndpointType], wanted: Named[EndpointType]) -> Iterator[Reason]:
    """E ⊑* E′  ⇔  ∀ (n,τ′) ∈ E′  ∃ (n,τ) ∈ E :  τ ◁ τ′        (2.6)"""
    for name, endpoint in wanted.items():
        ours = given.get(name)
        if ours is None:
            yield MissingEndpoint(False, name)
            continue
        for reason in is_subtype(ours, endpoint).reasons:
            yield InEndpoint(False, name, reason)


def forget_verdicts() -> None:
    """Empties the caches; for those who measure."""
    for relation in (matches, is_subtype, is_object_subtype):
        relation.cache_clear()
