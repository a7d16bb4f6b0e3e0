"""Owns the formalism of numbers: how many instances of an endpoint may be connected at a time."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import cast

from liveobj.types import NotAConstraint, Structure

_WORDS = {
    word: number
    for number, word in enumerate(
        ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
}
_NUMBER = r"(\d{1,9}|" + "|".join(_WORDS) + ")"
_FORMS = (
    (re.compile(rf"at most {_NUMBER} (.+)"), "most"),
    (re.compile(rf"at least {_NUMBER} (.+)"), "least"),
    (re.compile(rf"exactly {_NUMBER} (.+)"), "exactly"),
    (re.compile(rf"between {_NUMBER} and {_NUMBER} (.+)"), "between"),
)
_SUBJECT = re.compile(r"(?:instances? of |endpoints? )?'?([a-z][a-z0-9 _-]*?)'?(?: connected)?")

# What is counted, the least, and the most (None: no limit).
Range = tuple[int, int | None]
Predicate = frozenset[tuple[str, Range]]


class CardinalityFormalism:
    """For example: "at most one publisher" or "between 3 and 7 replicas, at least one observer"."""

    id = "live-objects:cardinality"
    title = "how many may be connected"

    def parse(self, text: str, structure: Structure) -> Hashable:
        result: Predicate = frozenset()
        for part in text.split(","):
            result = self._join(result, frozenset({self._read(part)}))
        return result

    def _read(self, part: str) -> tuple[str, Range]:
        text = " ".join(part.lower().split())
        for pattern, form in _FORMS:
            found = pattern.fullmatch(text)
            subject = _SUBJECT.fullmatch(found.groups()[-1]) if found else None
            if found is None or subject is None:
                continue
            numbers = [int(_WORDS.get(word, word)) for word in found.groups()[:-1]]
            return _singular(subject[1]), _range(form, numbers, text)
        raise NotAConstraint(
            f"'{part.strip()}' does not say how many; say 'at most 1 publisher', 'at least', "
            "'exactly' or 'between 2 and 5'."
        )

    def implies(self, stronger: Hashable, weaker: Hashable) -> bool:
        return not self._gaps(stronger, weaker)

    def explain(self, stronger: Hashable, weaker: Hashable) -> str:
        return " and ".join(self._gaps(stronger, weaker))

    def _gaps(self, stronger: Hashable, weaker: Hashable) -> list[str]:
        given = dict(cast(Predicate, stronger))
        gaps: list[str] = []
        for subject, (least, most) in sorted(cast(Predicate, weaker), key=lambda item: item[0]):
            given_least, given_most = given.get(subject, (0, None))
            if given_most is not None and given_least > given_most:
                continue  # impossible, hence anything follows
            if given_least < least:
                gaps.append(f"there may be only {given_least} of '{subject}', not {least}")
            if most is not None and (given_most is None or given_most > most):
                many = "any number" if given_most is None else str(given_most)
                gaps.append(f"there may be {many} of '{subject}', not at most {most}")
        return gaps

    def both(self, first: Hashable, second: Hashable) -> Hashable:
        return self._join(cast(Predicate, first), cast(Predicate, second))

    def _join(self, first: Predicate, second: Predicate) -> Predicate:
        ranges = dict(first)
        for subject, (least, most) in second:
            known_least, known_most = ranges.get(subject, (0, None))
            tops = [limit for limit in (most, known_most) if limit is not None]
            ranges[subject] = (max(least, known_least), min(tops) if tops else None)
        return frozenset(ranges.items())


def _range(form: str, numbers: list[int], text: str) -> Range:
    match form, numbers:
        case "most", [n]:
            return (0, n)
        case "least", [n]:
            return (n, None)
        case "exactly", [n]:
            return (n, n)
        case _, [low, high] if low <= high:
            return (low, high)
    raise NotAConstraint(f"'{text}' ends before it begins.")


def _singular(subject: str) -> str:
    plural = len(subject) > 3 and subject.endswith("s") and not subject.endswith("ss")
    return subject[:-1] if plural else subject
