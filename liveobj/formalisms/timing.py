"""Owns the formalism of time: how often an event follows another within a bound."""

from __future__ import annotations

import re
from collections.abc import Hashable
from decimal import Decimal
from typing import cast

from liveobj.types import NotAConstraint, Structure

_UNITS_US = {"us": 1, "µs": 1, "ms": 1000, "s": 1_000_000, "min": 60_000_000}
_NAME = r"([A-Za-z_][\w-]*)"
_BOUND = re.compile(
    rf"(\d{{1,3}}(?:\.\d{{1,6}})?) ?% of {_NAME} within (\d{{1,9}}(?:\.\d{{1,6}})?) ?"
    rf"({'|'.join(_UNITS_US)})(?: of {_NAME})?"
)

# (event, after which event or "", least share in millionths, bound in microseconds)
Bound = tuple[str, str, int, int]
Predicate = frozenset[Bound]


class TimingFormalism:
    """For example: "99% of receive within 50 ms of send". Without "of …", the window in which all
    instances of the endpoint see the event."""

    id = "live-objects:timing"
    title = "timing"

    def parse(self, text: str, structure: Structure) -> Hashable:
        return frozenset(self._read(part.strip(), structure) for part in text.split(","))

    def _read(self, part: str, structure: Structure) -> Bound:
        found = _BOUND.fullmatch(" ".join(part.split()))
        if found is None:
            raise NotAConstraint(
                f"'{part}' is not a bound in time; say '99% of receive within 50 ms of send'."
            )
        share, event, amount, unit, after = found.groups(default="")
        for name in filter(None, (event, after)):
            if structure.events and name not in structure.events:
                raise NotAConstraint(f"'{part}' speaks of '{name}', which is no event here.")
        millionths = int(Decimal(share) * 10_000)
        if not 0 < millionths <= 1_000_000:
            raise NotAConstraint(f"{share}% is not a share.")
        return (event, after, millionths, int(Decimal(amount) * _UNITS_US[unit]))

    def implies(self, stronger: Hashable, weaker: Hashable) -> bool:
        return not self._unmet(stronger, weaker)

    def explain(self, stronger: Hashable, weaker: Hashable) -> str:
        return " and ".join(
            f"it is not said that {share / 10_000:g}% of '{event}' come within {bound / 1000:g} ms"
            for event, _after, share, bound in self._unmet(stronger, weaker)
        )

    def _unmet(self, stronger: Hashable, weaker: Hashable) -> list[Bound]:
        given = cast(Predicate, stronger)
        return [
            (event, after, share, bound)
            for event, after, share, bound in sorted(cast(Predicate, weaker))
            if not any(
                (event, after) == (e, a) and s >= share and b <= bound for e, a, s, b in given
            )
        ]

    def both(self, first: Hashable, second: Hashable) -> Hashable:
        return cast(Predicate, first) | cast(Predicate, second)
