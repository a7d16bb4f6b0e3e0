"""Owns the formalism of order: a small language about the order of events, at an endpoint or at all
endpoints of an object.

Phrases, where E and F are events of the endpoint, or `connect` and `disconnect`; in constraints of
an object they are named with their endpoint, `channel.send` or `channel.connect`, and a history is
what happens at all endpoints, one event at a time:

    E precedes F            F does not happen before the first E
    E never precedes F      E does not happen before the first F
    never E
    E at most once
    E is followed by F      after every E there is an F, in the end
    no E after F
    E alternates with F     E first, then F, and so on
    E starts                the first event, if there is one, is E

and for what they cannot say, formulas of `always`, `eventually`, `next`, `until`, `unless`, `and`,
`or`, `not`, `implies`, with parentheses, over events. A comma between phrases means "and".
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import cast

from liveobj.formalisms import temporal_logic as logic
from liveobj.formalisms.temporal_logic import Formula, TooComplex
from liveobj.types import NotAConstraint, Structure

ALWAYS_THERE = frozenset({"connect", "disconnect"})
DEPTH_MAX = 24
_NAME = r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)?"
_TOKEN = re.compile(rf"\s*({_NAME}|[()])")
_UNARY = {"always": logic.always, "eventually": logic.eventually, "next": logic.following}
_BINARY = {
    "until": logic.until,
    "unless": logic.unless,
    "implies": logic.implication,
}
_RESERVED = {*_UNARY, *_BINARY, "not", "and", "or", "true", "false", "(", ")"}


def _never(e: Formula) -> Formula:
    return logic.always(logic.negate(e))


def _precedes(e: Formula, f: Formula) -> Formula:
    return logic.unless(logic.negate(f), e)


def _at_most_once(e: Formula) -> Formula:
    return logic.always(logic.implication(e, logic.negate(logic.following(logic.eventually(e)))))


def _followed(e: Formula, f: Formula) -> Formula:
    return logic.always(logic.implication(e, logic.following(logic.eventually(f))))


def _none_after(e: Formula, f: Formula) -> Formula:
    return logic.always(logic.implication(f, logic.following(_never(e))))


def _alternates(e: Formula, f: Formula) -> Formula:
    def wait(first: Formula, second: Formula) -> Formula:
        rest = logic.following(logic.unless(logic.negate(first), second))
        return logic.always(logic.implication(first, rest))

    return logic.both(_precedes(e, f), wait(e, f), wait(f, e))


def _starts(e: Formula) -> Formula:
    # "not empty" is: the next history exists
    return logic.either(e, logic.negate(logic.following(logic.TRUE)))


_E, _F = rf"(?P<e>{_NAME})", rf"(?P<f>{_NAME})"
_PHRASES = (
    (re.compile(rf"{_E} never precedes {_F}"), lambda e, f: _precedes(f, e)),
    (re.compile(rf"{_E} precedes {_F}"), _precedes),
    (re.compile(rf"{_E} is followed by {_F}"), _followed),
    (re.compile(rf"{_E} alternates with {_F}"), _alternates),
    (re.compile(rf"no {_E} after {_F}"), _none_after),
    (re.compile(rf"{_E} at most once"), _at_most_once),
    (re.compile(rf"never {_E}"), _never),
    (re.compile(rf"{_E} starts"), _starts),
)


class TemporalFormalism:
    """See the top of this file."""

    id = "live-objects:order"
    title = "the order of events"

    def parse(self, text: str, structure: Structure) -> Hashable:
        phrases = [self._phrase(part.strip(), structure) for part in text.split(",")]
        return phrases[0] if len(phrases) == 1 else logic.both(*phrases)

    def _phrase(self, text: str, structure: Structure) -> Formula:
        plain = re.sub(r"^event | event ", " ", f" {text} ")
        plain = " ".join(plain.removeprefix(" event ").split())
        for pattern, build in _PHRASES:
            found = pattern.fullmatch(plain)
            if found and not _RESERVED & set(found.groups()):
                arguments = [_event(name, structure) for name in found.groups()]
                return build(*arguments)
        return _Parser(plain, structure).parse()

    def implies(self, stronger: Hashable, weaker: Hashable) -> bool:
        try:
            return logic.counterexample(_formula(stronger), _formula(weaker)) is None
        except TooComplex:
            return False  # what cannot be decided is not relied upon

    def explain(self, stronger: Hashable, weaker: Hashable) -> str:
        try:
            history = logic.counterexample(_formula(stronger), _formula(weaker))
        except TooComplex:
            return "the formulas are too complex to compare"
        shown = ", ".join(history) if history else "nothing at all"
        return f"it would allow, for example, {shown}"

    def both(self, first: Hashable, second: Hashable) -> Hashable:
        return logic.both(_formula(first), _formula(second))


def _formula(predicate: Hashable) -> Formula:
    return cast(Formula, predicate)


def _events(structure: Structure) -> frozenset[str]:
    """The events that can happen there."""
    if not structure.endpoints:
        return structure.events | ALWAYS_THERE
    always = {f"{endpoint}.{word}" for endpoint in structure.endpoints for word in ALWAYS_THERE}
    return structure.inner_events | always


def _event(name: str, structure: Structure) -> Formula:
    allowed = _events(structure)
    if name not in allowed:
        known = ", ".join(sorted(allowed))
        raise NotAConstraint(f"'{name}' is not an event here; those are {known}.")
    return logic.event(name)


class _Parser:
    """Recursive descent; `implies` binds weakest, then `or`, `and`, `until` and `unless`, then the
    rest."""

    def __init__(self, text: str, structure: Structure) -> None:
        self._text = text
        self._structure = structure
        self._tokens = self._split(text)
        self._at = 0
        self._depth = 0

    def _split(self, text: str) -> list[str]:
        tokens: list[str] = []
        at = 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise NotAConstraint(f"'{text[at:].strip()}' cannot be read.")
            tokens.append(found[1])
            at = found.end()
        return tokens

    def parse(self) -> Formula:
        formula = self._implies()
        if self._at < len(self._tokens):
            raise self._unexpected()
        return formula

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, *wanted: str) -> str:
        token = self._peek()
        if token and token in wanted:
            self._at += 1
            return token
        return ""

    def _unexpected(self) -> NotAConstraint:
        token = self._peek()
        what = f"'{token}' was not expected" if token else "something is missing at the end"
        return NotAConstraint(f"In '{self._text}', {what}.")

    def _implies(self) -> Formula:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise NotAConstraint("The formula is nested too deeply.")
        left = self._or()
        if self._take("implies"):
            left = logic.implication(left, self._implies())
        self._depth -= 1
        return left

    def _or(self) -> Formula:
        parts = [self._and()]
        while self._take("or"):
            parts.append(self._and())
        return parts[0] if len(parts) == 1 else logic.either(*parts)

    def _and(self) -> Formula:
        parts = [self._until()]
        while self._take("and"):
            parts.append(self._until())
        return parts[0] if len(parts) == 1 else logic.both(*parts)

    def _until(self) -> Formula:
        left = self._unary()
        word = self._take("until", "unless")
        return _BINARY[word](left, self._unary()) if word else left

    def _unary(self) -> Formula:
        prefixes: list[str] = []
        while word := self._take("not", *_UNARY):
            prefixes.append(word)
            if len(prefixes) > DEPTH_MAX:
                raise NotAConstraint("The formula is nested too deeply.")
        formula = self._atom()
        for word in reversed(prefixes):
            formula = logic.negate(formula) if word == "not" else _UNARY[word](formula)
        return formula

    def _atom(self) -> Formula:
        if self._take("("):
            formula = self._implies()
            if not self._take(")"):
                raise self._unexpected()
            return formula
        if word := self._take("true", "false"):
            return logic.TRUE if word == "true" else logic.FALSE
        token = self._peek()
        if not token or token in _RESERVED:
            raise self._unexpected()
        self._at += 1
        return _event(token, self._structure)
