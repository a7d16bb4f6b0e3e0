"""What a person is told about a reference before anything of it runs."""

from __future__ import annotations

import random

from liveobj.capabilities import view_only
from liveobj.declare import DECLARATIONS
from liveobj.objects.catalogue import MAKERS
from liveobj.objects.text_note import new_note
from liveobj.references import (
    Composite,
    Parameterized,
    Primitive,
    Reference,
    Value,
    fingerprint,
    group_id_of,
)
from liveobj.references.makers import Maker, signed_by
from liveobj.references.summary import summarize, title_of
from transport.identities import Identity

RANDOM = random.Random(7).randbytes


def test_a_note_says_who_made_it_and_what_it_would_join() -> None:
    note = new_note("Lunch", RANDOM)
    summary = summarize(note, DECLARATIONS)
    assert (summary.title, summary.can_edit, summary.can_run) == ("Lunch", True, True)
    assert (summary.maker, summary.forged) == (None, False)
    ada = Identity(RANDOM(32))
    signed = summarize(view_only(signed_by(note, ada, "Ada")), DECLARATIONS)
    assert signed.maker == Maker(ada.public, "Ada")
    assert summary.groups == (group_id_of(fingerprint(note)).hex(),)
    assert summary.code == summary.unknown == summary.problems == ()
    assert not summarize(view_only(note), DECLARATIONS).can_edit


def test_parts_are_listed_with_their_depth() -> None:
    parts = {"one": new_note("One", RANDOM), "two": MAKERS["sensor"]("Heat", RANDOM)}
    summary = summarize(Composite(parts), DECLARATIONS)
    assert summary.parts[0].depth == 0
    assert "Text note “One”" in {part.what for part in summary.parts}
    assert len(summary.groups) == 2


def test_what_is_not_known_here_is_named_and_cannot_run() -> None:
    strange = Parameterized(Primitive("example.com:clock"), {"title": Value("Clock")})
    summary = summarize(strange, DECLARATIONS)
    assert summary.unknown == ("example.com:clock",)
    assert not summary.can_run
    assert summary.problems


def test_what_is_of_the_wrong_kind_has_no_title() -> None:
    odd: Reference = Parameterized(
        Primitive("example.com:x"), {"title": Value(5), "verify_key": Value("text")}
    )
    assert title_of(odd) == ""
    assert title_of(Primitive("example.com:x")) == ""
