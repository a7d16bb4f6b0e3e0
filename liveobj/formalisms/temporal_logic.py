"""Owns temporal formulas over the events of an endpoint, and the decision whether one implies
another.

A history is the finite sequence of events at one endpoint, from when it is made until it is gone;
one event happens at a time. Formulas are those of linear temporal logic on finite histories, which
may be empty. A formula is turned into a deterministic automaton while it is walked: the state is
what is still demanded of the rest of the history. φ implies ψ exactly if φ ∧ ¬ψ has no history,
which is a search for an accepting state; the path to one is a history that φ allows and ψ forbids,
and a good explanation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

# More states than this, and a formula is too entangled to be a contract that people can read.
STATES_MAX = 20_000


class TooComplex(Exception):
    """The decision would take too long."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in negation normal form. `op` is one of the names in the comments below; `event` is
    set for the first two, `parts` for the rest."""

    op: str
    parts: tuple[Formula, ...] = ()
    event: str = ""

    def __str__(self) -> str:
        if self.event:
            return self.event if self.op == "is" else f"not {self.event}"
        if not self.parts:
            return self.op
        return f"{self.op}({', '.join(map(str, self.parts))})"


TRUE = Formula("true")
FALSE = Formula("false")


def event(name: str) -> Formula:
    """The first event of the history is `name`."""
    return Formula("is", event=name)


def both(*parts: Formula) -> Formula:
    return Formula("and", parts)


def either(*parts: Formula) -> Formula:
    return Formula("or", parts)


def following(part: Formula) -> Formula:
    """There is a first event, and the history after it satisfies `part`."""
    return Formula("next", (part,))


def until(first: Formula, then: Formula) -> Formula:
    """`then` comes to hold, and `first` holds until then."""
    return Formula("until", (first, then))


def unless(first: Formula, then: Formula) -> Formula:
    """`first` holds until `then` does, or for ever."""
    return either(until(first, then), always(first))


def always(part: Formula) -> Formula:
    return Formula("release", (FALSE, part))


def eventually(part: Formula) -> Formula:
    return until(TRUE, part)


def implication(condition: Formula, consequence: Formula) -> Formula:
    return either(negate(condition), consequence)


_DUALS = {
    "true": "false",
    "is": "is not",
    "and": "or",
    "next": "weak next",  # the history is empty, or what follows its first event satisfies the part
    "until": "release",
}
_DUALS |= {dual: op for op, dual in _DUALS.items()}


@lru_cache(4096)
def negate(formula: Formula) -> Formula:
    parts = tuple(negate(part) for part in formula.parts)
    return Formula(_DUALS[formula.op], parts, formula.event)


def events_of(formula: Formula) -> frozenset[str]:
    own = {formula.event} if formula.event else set()
    return frozenset(own).union(*(events_of(part) for part in formula.parts))


# A state is a positive combination of formulas in its least disjunctive form: a set of
# alternatives, each a set of formulas that must all hold, none containing another. For combinations
# without negation this form is unique, so equal demands are equal states, and there are finitely
# many.

State = frozenset[frozenset[Formula]]

_NOTHING_LEFT: State = frozenset({frozenset()})
_IMPOSSIBLE: State = frozenset()


def _least(alternatives: Iterable[frozenset[Formula]]) -> State:
    kept: list[frozenset[Formula]] = []
    for candidate in sorted(set(alternatives), key=len):
        if not any(smaller <= candidate for smaller in kept):
            kept.append(candidate)
    if len(kept) > STATES_MAX:
        raise TooComplex
    return frozenset(kept)


def _and(left: State, right: State) -> State:
    return _least(a | b for a in left for b in right)


def _or(left: State, right: State) -> State:
    return _least(left | right)


@lru_cache(65_536)
def _after(formula: Formula, letter: str) -> State:
    """What `formula` demands of the rest of a history that begins with `letter`."""
    match formula.op:
        case "true":
            return _NOTHING_LEFT
        case "false":
            return _IMPOSSIBLE
        case "is":
            return _NOTHING_LEFT if formula.event == letter else _IMPOSSIBLE
        case "is not":
            return _IMPOSSIBLE if formula.event == letter else _NOTHING_LEFT
        case "next" | "weak next":
            return frozenset({frozenset(formula.parts)})
        case "and":
            state = _NOTHING_LEFT
            for part in formula.parts:
                state = _and(state, _after(part, letter))
            return state
        case "or":
            state = _IMPOSSIBLE
            for part in formula.parts:
                state = _or(state, _after(part, letter))
            return state
    first, then = (_after(part, letter) for part in formula.parts)
    again: State = frozenset({frozenset({formula})})
    if formula.op == "until":
        return _or(then, _and(first, again))
    return _and(then, _or(first, again))  # release


def _ends_well(formula: Formula) -> bool:
    """Whether the empty history satisfies `formula`."""
    match formula.op:
        case "true" | "is not" | "weak next" | "release":
            return True
        case "and":
            return all(map(_ends_well, formula.parts))
        case "or":
            return any(map(_ends_well, formula.parts))
    return False


def _step(state: State, letter: str) -> State:
    result = _IMPOSSIBLE
    for alternative in state:
        rest = _NOTHING_LEFT
        for formula in alternative:
            rest = _and(rest, _after(formula, letter))
        result = _or(result, rest)
    return result


OTHER = "…"  # stands for every event that no formula names: to formulas they are all alike


def find_history(formula: Formula) -> list[str] | None:
    """A shortest history that satisfies `formula`, or None if there is none; raises TooComplex."""
    letters = [*sorted(events_of(formula)), OTHER]
    start: State = frozenset({frozenset({formula})})
    came_from: dict[State, tuple[State, str] | None] = {start: None}
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        if any(all(map(_ends_well, alternative)) for alternative in state):
            return _path(state, came_from)
        for letter in letters:
            following_state = _step(state, letter)
            if following_state and following_state not in came_from:
                came_from[following_state] = (state, letter)
                waiting.append(following_state)
                if len(came_from) > STATES_MAX:
                    raise TooComplex
    return None


def _path(state: State, came_from: dict[State, tuple[State, str] | None]) -> list[str]:
    letters: list[str] = []
    step = came_from[state]
    while step is not None:
        letters.append(step[1])
        step = came_from[step[0]]
    return letters[::-1]


def satisfies(history: Iterable[str], formula: Formula) -> bool:
    """Whether this one history is allowed; also what a monitor of a running endpoint would ask."""
    state: State = frozenset({frozenset({formula})})
    for letter in history:
        state = _step(state, letter)
    return any(all(map(_ends_well, alternative)) for alternative in state)


@lru_cache(4096)
def counterexample(stronger: Formula, weaker: Formula) -> tuple[str, ...] | None:
    """A history that `stronger` allows and `weaker` forbids, or None if the one implies the
    other."""
    found = find_history(both(stronger, negate(weaker)))
    return None if found is None else tuple(found)
