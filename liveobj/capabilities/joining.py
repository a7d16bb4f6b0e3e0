"""Owns what two references to one object allow together: the keys of both, unless they contradict
each other."""

from __future__ import annotations

from dataclasses import replace

from liveobj.capabilities.forms import SIGNING
from liveobj.capabilities.keys import EditSeal
from liveobj.errors import Problem
from liveobj.references import (
    Argument,
    Composite,
    External,
    Parameterized,
    Reference,
    Secrets,
    Value,
)
from liveobj.references.makers import maker_of
from liveobj.references.model import AnyReference
from transport.sentences import worded


class KeysDiffer(Problem):
    """Two references describe one object and have different keys for it; the text is a sentence."""


def joined(known: AnyReference, given: Reference) -> AnyReference:
    """The known reference, with the keys that only the given one has: a can-edit form makes a
    can-view form editable, never the other way round. Both have the same fingerprint.

    Raises KeysDiffer where both have a key and it is not the same: the fingerprint does not tell
    them apart, but one of them would let strangers in.
    """
    whole = _with_keys_of(known, given)
    if maker_of(known) is None and maker_of(given) is not None:
        whole = replace(whole, beside=given.beside)
    return whole


def _with_keys_of(known: AnyReference, given: Reference) -> AnyReference:
    mine, theirs = known.secrets.keys, given.secrets.keys
    added = theirs.keys() - mine.keys()
    differ = any(mine.get(name, key) != key for name, key in theirs.items())
    if differ or (SIGNING in added and not _fits(known, theirs[SIGNING])):
        raise KeysDiffer(
            worded(
                "It has other keys than the object that you know, and may be a forgery. It was"
                " not opened, and your object is as it was: ask whoever gave it to you."
            )
        )
    if added:
        known = replace(known, secrets=Secrets({**theirs, **mine}))
    match known, given:
        case Parameterized(), Parameterized():
            arguments: dict[str, Argument] = {
                name: _inner(argument, given.arguments.get(name))
                for name, argument in known.arguments.items()
            }
            template = _with_keys_of(known.template, given.template)
            return replace(known, template=template, arguments=arguments)
        case External(), External():
            return replace(known, folder=_with_keys_of(known.folder, given.folder))
        case Composite(), Composite():
            parts = {
                name: _with_keys_of(part, given.components[name])
                for name, part in known.components.items()
            }
            return replace(known, components=parts)
    return known


def _inner(known: Argument, given: Argument | None) -> Argument:
    if isinstance(known, Reference) and isinstance(given, Reference):
        return _with_keys_of(known, given)
    return known


def _fits(known: Reference, signing: bytes) -> bool:
    """Whether edits that are signed with this key would be those of the object."""
    verify = known.arguments.get("verify_key") if isinstance(known, Parameterized) else None
    if not isinstance(verify, Value) or not isinstance(verify.data, bytes):
        return False
    try:
        EditSeal(verify.data, signing)
    except (ValueError, TypeError):
        return False
    return True
