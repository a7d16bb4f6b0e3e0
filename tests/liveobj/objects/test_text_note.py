"""The text note: several people, offline work, viewers, restarts."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from liveobj.documents import ReadOnly
from liveobj.objects.text_note import TextNote, describe_note, new_note, open_note
from liveobj.references import (
    Parameterized,
    Primitive,
    ReferenceProblem,
    Secrets,
    Value,
    fingerprint,
    group_id_of,
)
from tests.liveobj.support import LocalOffice, make_host

NOTE = new_note("Plan", random.Random(5).randbytes)


Office = LocalOffice[TextNote]


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return LocalOffice(tmp_path, NOTE, open_note)


def test_two_people_see_the_same(office: Office) -> None:
    ada, bob = office.open(1), office.open(2)
    ada.text.insert(0, "milk, ")
    bob.text.insert(0, "eggs, ")
    office.network.run()
    office.clock.advance(1)
    assert str(ada.text) == str(bob.text)
    assert sorted(str(ada.text).split()) == ["eggs,", "milk,"]
    assert ada.state.people == 2
    assert ada.state.saved
    assert ada.state.unsent == 0
    ada.close()
    bob.close()


def test_the_state_is_told_as_it_changes(office: Office) -> None:
    note = office.open(1)
    seen: list[bool] = []
    note.observe(lambda state: seen.append(state.saved))
    note.text.insert(0, "x")
    office.clock.advance(1)
    assert seen[0] is False
    assert seen[-1] is True
    note.close()


def test_a_caret_is_seen_where_it_is(office: Office) -> None:
    ada, bob = office.open(1), office.open(2)
    ada.text.insert(0, "some words")
    ada.set_caret(4, anchor=0)
    office.network.run()
    entry = bob.presence.others[1]
    assert entry.caret is not None
    assert bob.text.position_of(entry.caret.head) == 4
    assert bob.text.position_of(entry.caret.anchor) == 0
    ada.set_caret(None)
    office.network.run()
    assert bob.presence.others[1].caret is None
    ada.close()
    bob.close()


def test_a_note_is_there_after_a_restart_and_offline_work_merges(office: Office) -> None:
    ada = office.open(1)
    ada.text.insert(0, "from before. ")
    ada.close()
    ada.close()
    again, bob = office.open(1), office.open(2)
    assert str(again.text) == "from before. "
    bob.text.insert(0, "bob. ")
    office.network.run()
    assert str(again.text) == str(bob.text)
    again.close()
    bob.close()


def test_one_who_may_only_look_cannot_edit(office: Office) -> None:
    view = replace(NOTE, secrets=NOTE.secrets.without("signing"))
    assert fingerprint(view) == fingerprint(NOTE)
    editor, viewer = office.open(1), office.open(2, view)
    editor.text.insert(0, "look")
    office.network.run()
    assert str(viewer.text) == "look"
    assert not viewer.state.can_edit
    with pytest.raises(ReadOnly):
        viewer.text.insert(0, "!")
    editor.close()
    viewer.close()


def test_the_group_is_joined_with_the_key_of_the_reference(office: Office) -> None:
    host = make_host(office.network, 1, office.folder, office.clock)
    note = open_note(NOTE, host)
    group = group_id_of(note.fingerprint)
    assert host.network.keys[group] == NOTE.secrets.keys["group"]  # type: ignore[attr-defined]
    note.close()


def test_what_is_local_stays_here(office: Office) -> None:
    note = office.open(1)
    assert note.local("scroll") is None
    note.set_local("scroll", b"42")
    note.close()
    again, other = office.open(1), office.open(2)
    office.network.run()
    assert again.local("scroll") == b"42"
    assert other.local("scroll") is None
    again.close()
    other.close()


@pytest.mark.parametrize(
    "reference",
    [
        Primitive("live-objects:text-note"),
        replace(NOTE, secrets=Secrets()),
        replace(NOTE, secrets=Secrets({"group": b"short"})),
        replace(NOTE, secrets=Secrets({"group": b"k" * 32, "signing": b"x" * 32})),
        replace(NOTE, arguments={"title": Value("no key")}),
        replace(NOTE, arguments={**NOTE.arguments, "title": Value(5)}),
        replace(NOTE, arguments={**NOTE.arguments, "verify_key": Value(b"short")}),
        replace(NOTE, template=Primitive("live-objects:chart")),
    ],
)
def test_what_is_not_a_note_is_refused_before_anything_starts(
    office: Office, reference: Parameterized
) -> None:
    with pytest.raises(ReferenceProblem):
        describe_note(reference)
    with pytest.raises(ReferenceProblem):
        office.open(1, reference)
    assert list(office.folder.iterdir()) == []
    assert office.network.groups == {}
