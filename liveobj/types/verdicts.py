"""Owns the answer to a question about types: yes, or no with every reason, in sentences.

A verdict is about types, which have no names, and is cached; so a reason keeps the places for the
names of both ends open, and they are filled in by whoever knows what is being connected.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LEFT, RIGHT = "the first", "the second"


@dataclass(frozen=True, slots=True)
class Reason:
    """One way in which two types do not fit. Each subclass is one way; `swapped` is true when it is
    the right end that gives and the left end that takes."""

    swapped: bool

    def sentence(self, left: str = LEFT, right: str = RIGHT) -> str:
        """In words; `left` and `right` name the two ends."""
        return self._words(right, left) if self.swapped else self._words(left, right)

    def _words(self, giver: str, taker: str) -> str:
        raise NotImplementedError

    def __str__(self) -> str:
        return self.sentence()


@dataclass(frozen=True, slots=True)
class MissingEvent(Reason):
    """An event is given that the other side does not take."""

    event: str

    def _words(self, giver: str, taker: str) -> str:
        return f"{_capital(giver)} sends '{self.event}', which {taker} does not accept."


@dataclass(frozen=True, slots=True)
class WrongEvent(Reason):
    """Both sides know the event, but it does not carry what is expected."""

    event: str
    because: str

    def _words(self, giver: str, taker: str) -> str:
        return (
            f"{_capital(giver)} sends '{self.event}' in a form that {taker} does not accept: "
            f"{self.because}."
        )


@dataclass(frozen=True, slots=True)
class MissingConstraint(Reason):
    """Something is required of which the other side says nothing at all."""

    formalism: str
    required: str

    def _words(self, giver: str, taker: str) -> str:
        return (
            f"{_capital(taker)} requires '{self.required}', "
            f"and {giver} promises nothing about {self.formalism}."
        )


@dataclass(frozen=True, slots=True)
class WeakConstraint(Reason):
    """Something is promised, but less than what is required."""

    formalism: str
    provided: str
    required: str
    because: str

    def _words(self, giver: str, taker: str) -> str:
        return (
            f"{_capital(taker)} requires '{self.required}', but {giver} promises only "
            f"'{self.provided}': {self.because}."
        )


@dataclass(frozen=True, slots=True)
class MissingEndpoint(Reason):
    """An object lacks an endpoint that one of the wanted type has."""

    endpoint: str

    def _words(self, giver: str, taker: str) -> str:
        return f"{_capital(giver)} has no endpoint '{self.endpoint}', which {taker} has."


@dataclass(frozen=True, slots=True)
class InEndpoint(Reason):
    """Both objects have the endpoint, but the one cannot stand for the other."""

    endpoint: str
    reason: Reason

    def _words(self, giver: str, taker: str) -> str:
        return self.reason.sentence(
            f"endpoint '{self.endpoint}' of {giver}", f"endpoint '{self.endpoint}' of {taker}"
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """True if there are no reasons against."""

    reasons: tuple[Reason, ...] = ()

    def __bool__(self) -> bool:
        return not self.reasons

    def sentences(self, left: str = LEFT, right: str = RIGHT) -> list[str]:
        """Every reason; `left` and `right` are the names of the two ends."""
        return [reason.sentence(left, right) for reason in self.reasons]

    def __str__(self) -> str:
        return "yes" if self else " ".join(self.sentences())


def verdict(reasons: Iterable[Reason]) -> Verdict:
    return Verdict(tuple(reasons))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
