"""What two references to one object allow together, and when they contradict each other."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from liveobj.capabilities import can_edit, view_only
from liveobj.capabilities.joining import KeysDiffer, joined
from liveobj.objects.text_note import new_note
from liveobj.references import (
    Composite,
    External,
    NamedType,
    Parameterized,
    Primitive,
    Reference,
    Secrets,
    fingerprint,
)
from liveobj.references.makers import maker_of, signed_by
from transport.identities import Identity

NOTE = new_note("Plan", os.urandom)


def with_key(reference: Parameterized, name: str, key: bytes) -> Parameterized:
    return replace(reference, secrets=Secrets({**reference.secrets.keys, name: key}))


def test_can_edit_form_makes_a_can_view_form_editable() -> None:
    assert joined(view_only(NOTE), NOTE) == NOTE
    assert joined(NOTE, NOTE) == NOTE


def test_can_view_form_takes_no_right_away() -> None:
    assert joined(NOTE, view_only(NOTE)) == NOTE


def test_other_group_key_is_refused_in_both_forms() -> None:
    forged = with_key(NOTE, "group", os.urandom(32))
    assert fingerprint(forged) == fingerprint(NOTE), "who the object is does not tell them apart"
    for given in (forged, view_only(forged)):
        with pytest.raises(KeysDiffer, match="other keys"):
            joined(NOTE, given)


@pytest.mark.parametrize("key", [os.urandom(32), b"", b"short"])
def test_signing_key_of_another_object_is_refused(key: bytes) -> None:
    with pytest.raises(KeysDiffer):
        joined(view_only(NOTE), with_key(view_only(NOTE), "signing", key))


def wrapped(inner: Reference) -> list[Reference]:
    """The note inside each kind of reference that has parts."""
    return [
        Parameterized(Primitive("example.com:thing"), {"source": inner}),
        External(name="x", folder=inner, as_type=NamedType("example.com:type")),
        Composite({"part": inner}),
    ]


def test_keys_of_inner_parts_are_joined_and_compared_too() -> None:
    forged = wrapped(with_key(NOTE, "group", os.urandom(32)))
    for whole, viewed, other in zip(wrapped(NOTE), wrapped(view_only(NOTE)), forged, strict=True):
        assert not can_edit(whole), "the key is inside"
        assert joined(viewed, whole) == whole
        assert joined(whole, viewed) == whole
        with pytest.raises(KeysDiffer):
            joined(whole, other)


def test_signature_of_its_maker_is_taken_over_where_there_was_none() -> None:
    ada, eve = Identity(os.urandom(32)), Identity(os.urandom(32))
    signed = signed_by(NOTE, ada, "Ada")
    by_ada = maker_of(signed)
    assert by_ada is not None
    assert maker_of(joined(view_only(NOTE), signed)) == by_ada
    assert maker_of(joined(signed, NOTE)) == by_ada
    assert maker_of(joined(signed, signed_by(NOTE, eve, "Eve"))) == by_ada
