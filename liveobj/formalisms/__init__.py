"""Formalisms: the languages in which types promise and require things."""

from liveobj.formalisms.registry import (
    FORMALISMS,
    FormalismRegistry,
    parse_constraint,
    parse_constraints,
)

__all__ = ["FORMALISMS", "FormalismRegistry", "parse_constraint", "parse_constraints"]
