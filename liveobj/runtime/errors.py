"""Owns the errors of the run time, one class for each way things can be wrong, and the notices that
tell a person what has happened to an object."""

from __future__ import annotations

from dataclasses import dataclass

from liveobj.errors import Problem


class RuntimeProblem(Problem):
    """Something that an object or its user did cannot be; the message is made of sentences."""


class WrongMoment(RuntimeProblem):
    """Asked of a proxy that is not in the state for it."""


class CannotConnect(RuntimeProblem):
    """Two endpoints that do not match, or that are connected already."""


class CannotDereference(RuntimeProblem):
    """A reference from which no proxy can be made here."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that a person should know about an object; `serious` if it has stopped."""

    object_name: str
    sentence: str
    serious: bool
