"""What comes from somewhere else is looked at first, and goes live when the person says so."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication

from app.plain_page import PlainPage
from liveobj.objects.shared_folder import new_folder
from liveobj.objects.text_note import new_note
from liveobj.references import (
    External,
    Parameterized,
    Primitive,
    Value,
    write_reference,
    write_reference_file,
)
from liveobj.references.compact import compact_text
from liveobj.references.makers import signed_by
from liveobj.references.type_expressions import NamedType
from tests.app.conftest import MakePlace, Place
from transport.identities import Identity
from widgets.preview import Preview

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture
def place(make_place: MakePlace) -> Place:
    place = make_place("Ada")
    place.session.trust._facts.clear()  # a stranger's folder, as far as this program knows
    return place


def preview(place: Place) -> Preview:
    page = place.window.front_page
    assert isinstance(page, Preview)
    return page


def test_a_foreign_note_is_inert_until_the_person_goes_live(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "Budget.liveobject"
    write_reference_file(new_note("Budget", os.urandom), file)
    assert place.desk.answer({"do": "open", "files": [str(file)]}) == {"opened": 1}
    assert list(place.paths.objects.iterdir()) == []
    assert place.desk.describe()["previews"] == ["Preview of Budget"]
    preview(place).live_button.click()
    assert place.window.windowTitle() == "Budget – Live Objects"
    assert place.window.tabs.count() == 1
    place.run("object.close")
    assert place.desk.answer({"do": "open", "files": [str(file)]}) == {"opened": 1}
    assert place.window.front is not None


def test_a_folder_can_be_trusted_from_then_on(place: Place, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.liveobject" for number in range(2)]
    for file in files:
        write_reference_file(new_note(file.stem, os.urandom), file)
    place.desk.objects.receive_file(files[0])
    page = preview(place)
    page.same_folder.setChecked(True)
    page.live_button.click()
    place.desk.objects.receive_file(files[1])
    assert len(place.window.object_pages()) == 2


def shown(identity: Identity) -> str:
    return identity.fingerprint.replace("-", "\N{NON-BREAKING HYPHEN}")


def test_an_author_can_be_trusted_from_then_on(place: Place) -> None:
    jun, eve = Identity(os.urandom(32)), Identity(os.urandom(32))
    first, second = (signed_by(new_note(title, os.urandom), jun, "Jun") for title in "ab")
    place.desk.objects.receive(first)
    page = preview(place)
    assert f"Made by: Jun, signed with the key {shown(jun)}" in page.accessibleDescription()
    page.same_author.setChecked(True)
    page.live_button.click()
    place.desk.objects.receive(second)
    assert len(place.window.object_pages()) == 2
    place.desk.objects.receive(signed_by(new_note("c", os.urandom), eve, "Jun"))
    assert shown(eve) in preview(place).accessibleDescription()


def test_a_signature_of_something_else_is_of_an_unknown_author(place: Place) -> None:
    signed = signed_by(new_note("a", os.urandom), Identity(os.urandom(32)), "Jun")
    place.desk.objects.receive(replace(new_note("b", os.urandom), beside=signed.beside))
    page = preview(place)
    assert "Unknown author" in page.accessibleDescription()
    assert "Jun" not in page.accessibleDescription()
    assert not page.same_author.isVisibleTo(page)


def test_what_was_made_here_opens_at_once(place: Place) -> None:
    place.run("note.new")
    page = place.window.front
    assert page is not None
    place.run("object.close")
    place.desk.objects.receive_file(page.file)
    assert place.window.front is not None


def test_a_file_given_as_live_is_not_asked_about(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "Trusted.liveobject"
    write_reference_file(new_note("Trusted", os.urandom), file)
    place.desk.answer({"do": "open", "files": [str(file)], "live": True})
    assert place.window.front is not None


def test_what_lies_in_a_live_object_opens_at_once_unless_it_brings_code(place: Place) -> None:
    place.desk.show_reference(new_note("Inside", os.urandom))
    assert place.window.windowTitle() == "Inside – Live Objects"
    place.desk.show_reference(Parameterized(Primitive("example.com:clock"), {}))
    assert not preview(place).live_button.isEnabled()


def test_what_cannot_run_says_why_and_cannot_go_live(place: Place) -> None:
    strange = Parameterized(Primitive("example.com:clock"), {"title": Value("<b>Clock</b>")})
    place.desk.objects.receive(strange)
    page = preview(place)
    assert not page.live_button.isEnabled()
    assert "example.com:clock" in page.accessibleDescription()
    page.dismissed.emit()
    assert place.window.at_home


@pytest.mark.parametrize("form", ["xml", "compact"])
def test_a_pasted_reference_is_looked_at_first(place: Place, form: str) -> None:
    note = new_note("Pasted", os.urandom)
    text = write_reference(note).decode() if form == "xml" else compact_text(note)
    QGuiApplication.clipboard().setText(text)
    place.run("object.paste")
    preview(place).live_button.click()
    assert place.window.windowTitle() == "Pasted – Live Objects"


def test_a_pasted_nothing_is_told(place: Place) -> None:
    QGuiApplication.clipboard().setText("LIVEOBJECT:nothing")
    place.run("object.paste")
    assert place.window.front is None
    assert place.window.tabs.tabText(0) == "Not opened"


def test_what_has_to_be_asked_for_shows_a_skeleton_and_then_its_view(
    place: Place, qtbot: Any
) -> None:
    folder = new_folder("Cabinet", os.urandom)
    note = new_note("Inside", os.urandom)
    wanted = External("minutes", folder, as_type=NamedType("live-objects:text"))
    with place.session.runtime.dereference(folder) as held:
        held.instance.content.set("minutes", write_reference(note))
        assert place.desk.objects._go_live(wanted, None)
        page = place.window.front_page
        if isinstance(page, PlainPage):
            assert page.card._skeleton.isVisibleTo(page.card)
        qtbot.waitUntil(lambda: place.window.front is not None)
    assert place.window.windowTitle() == "Inside – Live Objects"
    assert place.window.tabs.count() == 1


def test_what_is_not_in_the_folder_ends_with_a_sentence(place: Place, qtbot: Any) -> None:
    folder = new_folder("Cabinet", os.urandom)
    wanted = External("nothing", folder, as_type=NamedType("live-objects:text"))
    assert place.desk.objects._go_live(wanted, None)

    def told() -> bool:
        page = place.window.front_page
        return isinstance(page, PlainPage) and "There is no" in page.card.accessibleName()

    qtbot.waitUntil(told)
