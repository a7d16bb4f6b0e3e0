"""Owns constraints: predicates in pluggable formalisms, and what a formalism has to provide.

A formalism is the `a` and a predicate the φ of thesis 2.1.2. The runtime knows nothing of what
predicates mean; it asks the formalism whether one implies another.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from liveobj.types.named import Named


class NotAConstraint(Exception):
    """A text that its formalism does not understand; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Structure:
    """What a constraint can talk about: the events of an endpoint; or the endpoints of an object,
    with the events of each."""

    incoming: frozenset[str] = frozenset()
    outgoing: frozenset[str] = frozenset()
    endpoints: frozenset[str] = frozenset()
    # Of an object: events at all its endpoints, each as `endpoint.event`.
    inner_events: frozenset[str] = frozenset()

    @property
    def events(self) -> frozenset[str]:
        return self.incoming | self.outgoing

    @classmethod
    def of_object(cls, endpoints: Mapping[str, Iterable[str]]) -> Structure:
        """That of an object whose endpoints have these events."""
        inner = {f"{name}.{event}" for name, events in endpoints.items() for event in events}
        return cls(endpoints=frozenset(endpoints), inner_events=frozenset(inner))


class Formalism(Protocol):
    """A language of predicates. Implementations are stateless and found by entry point."""

    @property
    def id(self) -> str:
        """Permanent; what references and annotations name it by."""

    @property
    def title(self) -> str:
        """For sentences: "promises nothing about {title}"."""

    def parse(self, text: str, structure: Structure) -> Hashable:
        """The predicate that `text` stands for; raises NotAConstraint."""

    def implies(self, stronger: Hashable, weaker: Hashable) -> bool:
        """Whether whatever satisfies `stronger` satisfies `weaker`. Reflexive and transitive."""

    def explain(self, stronger: Hashable, weaker: Hashable) -> str:
        """Why `implies` said no; continues a sentence, without a full stop."""

    def both(self, first: Hashable, second: Hashable) -> Hashable:
        """The predicate that holds when both hold."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A predicate with its formalism. `text` is what the author wrote; constraints are equal when
    their predicates are."""

    formalism_id: str
    predicate: Hashable
    text: str = field(compare=False)
    formalism: Formalism = field(compare=False, repr=False)

    def implies(self, weaker: Constraint) -> bool:
        return self.formalism.implies(self.predicate, weaker.predicate)

    def explain(self, weaker: Constraint) -> str:
        return self.formalism.explain(self.predicate, weaker.predicate)


Constraints = Named[Constraint]

NO_CONSTRAINTS: Constraints = Named()


def constraints(items: Iterable[Constraint]) -> Constraints:
    """C as a finite function from formalisms to predicates: several in one formalism are joined."""
    result: dict[str, Constraint] = {}
    for item in items:
        known = result.get(item.formalism_id)
        if known is not None:
            predicate = item.formalism.both(known.predicate, item.predicate)
            text = f"{known.text}; {item.text}"
            item = Constraint(item.formalism_id, predicate, text, item.formalism)  # noqa: PLW2901
        result[item.formalism_id] = item
    return Named(result)
