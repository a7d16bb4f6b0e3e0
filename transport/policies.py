"""Owns the region policies as Python names them; names and numbers are those that the engine was
compiled with (`QSM_POLICIES` in qsm.h).

A type checker cannot know them, so a policy is found by its name, `Policy["PLAN"]`; a name that the
engine does not have raises KeyError. This is a file of its own because `config.py` is imported by
programs that must start, and say so, where the engine has not been built.
"""

from __future__ import annotations

from enum import IntEnum

from transport.binding import enumeration

_PREFIX = "QSM_POLICY_"


class Policy(IntEnum):
    """How the membership service cuts the network into regions."""

    vars().update(
        {name.removeprefix(_PREFIX): number for name, number in enumeration("qsm_policy").items()}
    )
