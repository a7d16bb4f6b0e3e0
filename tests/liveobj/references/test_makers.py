"""Who stands for a reference: signed, and neither forged nor moved to another object."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from liveobj.capabilities import view_only
from liveobj.objects.text_note import new_note
from liveobj.references import fingerprint, read_reference, write_reference
from liveobj.references.compact import compact_text, read_compact
from liveobj.references.makers import NAMESPACE, Maker, is_forged, maker_of, signed_by
from liveobj.references.xml_tree import Element
from transport.identities import Identity

RANDOM = random.Random(11).randbytes
ADA, EVE = Identity(RANDOM(32)), Identity(RANDOM(32))
NOTE = new_note("Lunch", RANDOM)
SIGNED = signed_by(NOTE, ADA, "Ada")


def test_the_signature_holds_in_every_form_and_is_no_part_of_who_the_object_is() -> None:
    for form in (SIGNED, view_only(SIGNED), read_compact(compact_text(SIGNED))):
        assert maker_of(read_reference(write_reference(form))) == Maker(ADA.public, "Ada")
    assert fingerprint(SIGNED) == fingerprint(NOTE)
    assert maker_of(NOTE) is None
    assert not is_forged(NOTE)
    assert signed_by(NOTE, None, "Ada") is NOTE


def test_who_signs_again_takes_the_place_of_the_first() -> None:
    assert maker_of(signed_by(SIGNED, EVE, "Eve")) == Maker(EVE.public, "Eve")


def attribute(name: str, value: str) -> tuple[Element, ...]:
    """The signature with one attribute changed."""
    (element,) = SIGNED.beside
    changed = tuple((key, value if key == name else old) for key, old in element.attributes)
    return (replace(element, attributes=changed),)


@pytest.mark.parametrize(
    "beside",
    [
        attribute("name", "Eve"),
        attribute("name", "Ada\u202e"),
        attribute("name", "A" * 5000),
        attribute("key", EVE.public.hex()),
        attribute("key", ""),
        attribute("key", "zz" * 32),
        attribute("key", "00" * 32),
        attribute("signature", "00" * 64),
        attribute("signature", "00" * 63),
        (Element("maker", NAMESPACE),),
        (*SIGNED.beside, *SIGNED.beside),
        (*SIGNED.beside, *signed_by(NOTE, EVE, "Eve").beside),
    ],
)
def test_a_changed_signature_is_nobodys(beside: tuple[Element, ...]) -> None:
    forged = read_reference(write_reference(replace(NOTE, beside=beside)))
    assert maker_of(forged) is None
    assert is_forged(forged)


def test_a_signature_of_another_object_or_purpose_is_nobodys() -> None:
    other = new_note("Lunch", RANDOM)
    assert maker_of(replace(other, beside=SIGNED.beside)) is None
    title = {**NOTE.arguments, "title": other.arguments["verify_key"]}
    assert maker_of(replace(SIGNED, arguments=title)) is None
    wrong = ADA.sign("edits 1", fingerprint(NOTE).digest + b"Ada").hex()
    assert is_forged(replace(NOTE, beside=attribute("signature", wrong)))


def test_a_name_is_one_short_line_of_signs_that_can_be_shown() -> None:
    odd = signed_by(NOTE, ADA, "  Ada\n\u202eevil " + "x" * 500)
    maker = maker_of(odd)
    assert maker is not None
    assert maker.name.startswith("Ada evil")
    assert len(maker.name) <= 80
