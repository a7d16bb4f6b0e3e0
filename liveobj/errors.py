"""Owns the common base of all errors whose text is made of sentences for a person."""

from __future__ import annotations


class Problem(Exception):
    """Whatever went wrong and can be told: what happened, and what to do about it."""


def told(problem: BaseException) -> str:
    """What to tell a person: the sentences of ours, and for others at least the kind."""
    return str(problem) if isinstance(problem, Problem) else f"{type(problem).__name__}: {problem}"
