"""Owns which formalisms there are, and how an author's words become constraints.

The built-in ones are always there; others come from installed packages by the entry point group
`live_objects.formalisms`, each entry an object or a class with the methods of `types.Formalism`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint, entry_points

from liveobj.formalisms.cardinality import CardinalityFormalism
from liveobj.formalisms.delivery import DeliveryFormalism
from liveobj.formalisms.security import SecurityFormalism
from liveobj.formalisms.temporal import TemporalFormalism
from liveobj.formalisms.timing import TimingFormalism
from liveobj.types import Constraint, Formalism, NotAConstraint, Structure, constraints
from liveobj.types.constraints import Constraints

log = logging.getLogger(__name__)

ENTRY_POINT_GROUP = "live_objects.formalisms"

BUILT_IN: tuple[Formalism, ...] = (
    DeliveryFormalism(),
    CardinalityFormalism(),
    TimingFormalism(),
    TemporalFormalism(),
    SecurityFormalism(),
)

# What authors say most, in one word or two.
MACROS = {
    "event channel": "delivery: best effort",
    "fifo channel": "delivery: reliable, exactly once, fifo",
    "state channel": "delivery: reliable, exactly once, fifo, checkpointed",
    "ordered channel": "delivery: atomic, fifo",
    "virtually synchronous channel": "delivery: virtually synchronous",
    "stream": "delivery: newest only, fifo",
    "private": "security: confidential, authenticated",
    "edited by its editors": "security: signed, writers editors",
    "single writer": "cardinality: at most 1 writer",
}


class FormalismRegistry:
    """Formalisms by id."""

    def __init__(self, formalisms: Iterable[Formalism] = BUILT_IN) -> None:
        self._formalisms = {formalism.id: formalism for formalism in formalisms}
        self._installed_read = False

    def register(self, formalism: Formalism) -> None:
        """Adds one; an id that is taken is an error of its author."""
        if formalism.id in self._formalisms:
            raise ValueError(f"There is a formalism '{formalism.id}' already.")
        self._formalisms[formalism.id] = formalism

    def read_installed(self, found: Iterable[EntryPoint] | None = None) -> None:
        """Adds those of installed packages, once. One that cannot be loaded is logged and left out:
        whatever needs it will say that it is not known."""
        if self._installed_read:
            return
        self._installed_read = True
        for entry in entry_points(group=ENTRY_POINT_GROUP) if found is None else found:
            try:
                loaded = entry.load()
                formalism: Formalism = loaded() if isinstance(loaded, type) else loaded
                if formalism.id not in self._formalisms:
                    self._formalisms[formalism.id] = formalism
            except Exception:
                log.exception("the formalism '%s' cannot be loaded", entry.name)

    def find(self, name: str) -> Formalism:
        """By id, or by the last part of the id of a built-in one; raises NotAConstraint."""
        self.read_installed()
        for key in (name, f"live-objects:{name}"):
            if key in self._formalisms:
                return self._formalisms[key]
        known = ", ".join(sorted(self._formalisms))
        raise NotAConstraint(f"The formalism '{name}' is not installed; known are {known}.")

    def __iter__(self) -> Iterator[Formalism]:
        self.read_installed()
        return iter(self._formalisms.values())


FORMALISMS = FormalismRegistry()


def parse_constraint(
    formalism: str,
    text: str,
    structure: Structure | None = None,
    registry: FormalismRegistry = FORMALISMS,
) -> Constraint:
    """One constraint in a named formalism; raises NotAConstraint."""
    found = registry.find(formalism)
    predicate = found.parse(text, structure or Structure())
    return Constraint(found.id, predicate, " ".join(text.split()), found)


def parse_constraints(
    text: str, structure: Structure | None = None, registry: FormalismRegistry = FORMALISMS
) -> Constraints:
    """What an author wrote: clauses separated by semicolons, each a macro, or `formalism: text`, or
    a text that exactly one formalism understands. Raises NotAConstraint."""
    found: list[Constraint] = []
    for clause in text.split(";"):
        words = " ".join(clause.split())
        if words:
            found.extend(_clause(words, structure or Structure(), registry))
    return constraints(found)


def _clause(words: str, structure: Structure, registry: FormalismRegistry) -> list[Constraint]:
    macro = MACROS.get(words.lower())
    if macro is not None:
        return list(parse_constraints(macro, structure, registry).values())
    name, colon, rest = words.rpartition(": ")
    if colon:
        return [parse_constraint(name.strip(), rest, structure, registry)]
    readings: list[Constraint] = []
    for formalism in registry:
        try:
            readings.append(parse_constraint(formalism.id, words, structure, registry))
        except NotAConstraint:
            continue
    if len(readings) == 1:
        return readings
    if not readings:
        raise NotAConstraint(
            f"No formalism understands '{words}'. Name one, as in 'delivery: reliable, fifo', to "
            "learn what it makes of it."
        )
    ids = " or ".join(reading.formalism_id for reading in readings)
    raise NotAConstraint(f"'{words}' could be meant in {ids}; say which, as in 'delivery: …'.")
