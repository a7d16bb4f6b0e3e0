"""Who may edit: keys, forms of references, and viewers who pass on what they cannot change."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from liveobj.capabilities import EditSeal, can_edit, new_object_keys, view_only
from liveobj.channels.messages import Update, encode
from liveobj.documents import Document, Version
from liveobj.objects.text_note import TextNote, new_note, open_note
from liveobj.references import (
    Composite,
    External,
    NamedType,
    Parameterized,
    Primitive,
    fingerprint,
    group_id_of,
)
from tests.liveobj.support import LocalOffice

KEYS = new_object_keys(random.Random(1).randbytes)
NOTE = new_note("Plan", random.Random(2).randbytes)
VIEW = view_only(NOTE)


def test_a_signature_holds_for_its_bytes_and_its_object() -> None:
    seal = EditSeal(KEYS.verify, KEYS.signing)
    other = new_object_keys(random.Random(3).randbytes)
    signature = seal.sign(b"update")
    assert seal.verify(b"update", signature)
    assert EditSeal(KEYS.verify, None).verify(b"update", signature)
    assert not seal.verify(b"updatE", signature)
    assert not EditSeal(other.verify, None).verify(b"update", signature)
    for bad in (b"", b"x", bytes(64), signature[:-1], signature + b"x"):
        assert not seal.verify(b"update", bad)


def test_keys_that_do_not_belong_together_are_refused() -> None:
    other = new_object_keys(random.Random(3).randbytes)
    with pytest.raises(ValueError, match="another object"):
        EditSeal(KEYS.verify, other.signing)
    with pytest.raises(ValueError, match="32 bytes"):
        EditSeal(b"short", None)
    with pytest.raises(PermissionError):
        EditSeal(KEYS.verify, None).sign(b"x")


def test_the_can_view_form_is_the_same_object_without_the_key() -> None:
    assert can_edit(NOTE)
    assert not can_edit(VIEW)
    assert fingerprint(VIEW) == fingerprint(NOTE)
    assert VIEW.secrets.keys["group"] == NOTE.secrets.keys["group"]


def test_no_key_that_signs_is_left_anywhere_inside() -> None:
    deep = Composite(
        {
            "a": Parameterized(Primitive("a:b"), {"x": NOTE}),
            "b": External("n", NOTE, as_type=NamedType("a:b")),
        }
    )
    key = NOTE.secrets.keys["signing"]
    assert key.hex() in repr_of(deep)
    assert key.hex() not in repr_of(view_only(deep))
    assert fingerprint(view_only(deep)) == fingerprint(deep)


def repr_of(reference: Composite) -> str:
    from liveobj.references import write_reference

    return write_reference(reference).decode()


def an_office(folder: Path) -> LocalOffice[TextNote]:
    return LocalOffice(folder, NOTE, open_note)


def test_viewers_pass_on_what_editors_signed_also_after_a_restart(tmp_path: Path) -> None:
    office = an_office(tmp_path)
    editor, viewer = office.open(1, NOTE), office.open(2, VIEW)
    office.settle()
    for word in ("one ", "two ", "three "):
        editor.text.insert(editor.text.length, word)
        office.settle()
    editor.close()
    office.settle()
    second = office.open(3, VIEW)
    office.settle()
    assert str(second.text) == "one two three "
    viewer.close()
    second.close()
    again = office.open(2, VIEW)
    assert str(again.text) == "one two three "
    third = office.open(4, NOTE)
    office.settle()
    assert str(third.text) == "one two three "
    assert third.channel.counters.refused == 0
    third.text.insert(0, "zero ")
    office.settle()
    assert str(again.text) == "zero one two three "
    again.close()
    third.close()


def test_an_editor_who_was_offline_is_not_refused(tmp_path: Path) -> None:
    office = an_office(tmp_path)
    editor = office.open(1, NOTE)
    editor.text.insert(0, "offline")
    editor.close()
    viewer = office.open(2, VIEW)
    again = office.open(1, NOTE)
    office.settle()
    assert str(viewer.text) == "offline"
    viewer.close()
    again.close()


def test_a_forged_update_is_neither_applied_nor_stored_nor_passed_on(tmp_path: Path) -> None:
    office = an_office(tmp_path)
    editor, viewer = office.open(1, NOTE), office.open(2, VIEW)
    office.settle()
    forger = office.network.node(9).join(group_id_of(fingerprint(NOTE)), b"")
    document = Document(99)
    document.text("text").insert(0, "forged")
    data = document.export_since(Version())
    stolen = EditSeal(KEYS.verify, KEYS.signing).sign(data)
    for signature in (b"", bytes(64), stolen):
        forger.send(encode(Update(data, signature)))
    office.settle()
    late = office.open(3, VIEW)
    office.settle()
    for note in (editor, viewer, late):
        assert str(note.text) == ""
        assert note.state.saved
    assert editor.channel.counters.refused == viewer.channel.counters.refused == 3
    for note in (editor, viewer, late):
        note.close()
    assert str(office.open(1, NOTE).text) == ""


def test_keys_that_are_damaged_are_told(tmp_path: Path) -> None:
    wrong = replace(NOTE, secrets=replace(NOTE.secrets, keys={"group": b"x" * 32, "signing": b"y"}))
    with pytest.raises(Exception, match="keys of this text note are damaged"):
        an_office(tmp_path).open(1, wrong)
