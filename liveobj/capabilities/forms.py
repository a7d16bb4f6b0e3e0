"""Owns the two forms of a reference: one that lets its holder edit, and one that lets them look."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from liveobj.references import Composite, External, Parameterized, Reference

SIGNING = "signing"

AnyReference = TypeVar("AnyReference", bound=Reference)


def can_edit(reference: Reference) -> bool:
    """Whether this reference holds the key that signs edits."""
    return SIGNING in reference.secrets.keys


def view_only(reference: AnyReference) -> AnyReference:
    """The can-view form: the same object, without the keys that sign, here and in every part."""
    bare = replace(reference, secrets=reference.secrets.without(SIGNING))
    match bare:
        case Parameterized():
            arguments = {
                name: view_only(argument) if isinstance(argument, Reference) else argument
                for name, argument in bare.arguments.items()
            }
            return replace(bare, template=view_only(bare.template), arguments=arguments)
        case External():
            return replace(bare, folder=view_only(bare.folder))
        case Composite():
            parts = {name: view_only(part) for name, part in bare.components.items()}
            return replace(bare, components=parts)
    return bare
