"""Objects are known by who they are: their files may be moved, renamed, deleted, or forged."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.kept_references import KeptReferences, ReferenceLost
from app.object_lists import OpenList
from liveobj.capabilities import can_edit, view_only
from liveobj.capabilities.joining import KeysDiffer
from liveobj.objects.text_note import new_note
from liveobj.references import (
    ReferenceProblem,
    Secrets,
    fingerprint,
    read_reference_file,
    write_reference_file,
)
from tests.app.conftest import MakePlace, Place
from tests.disk_faults import FAULTS, all_files, refusing

NOTE = new_note("Shop", os.urandom)
IDENTITY = str(fingerprint(NOTE))


def received(folder: Path, name: str = "Shop") -> Path:
    """A file that somebody else has saved."""
    folder.mkdir(exist_ok=True)
    write_reference_file(NOTE, folder / f"{name}.liveobject")
    return folder / f"{name}.liveobject"


def start_again(place: Place, make_place: MakePlace) -> Place:
    """The program ends, and starts in the same profile."""
    place.desk.close()
    place.session.close_all()
    again = make_place("Jun")
    again.desk.restoring.begin(restore=True)
    return again


def open_and_write(make_place: MakePlace, qtbot: Any, file: Path) -> Place:
    place = make_place("Jun")
    place.desk.restoring.begin(restore=True)
    assert place.desk.objects.receive_file(file)
    qtbot.keyClicks(place.editor, "bread and butter")
    place.run("object.save")
    return place


@pytest.mark.parametrize("fate", ["renamed", "moved", "deleted", "emptied"])
def test_object_stays_in_tabs_recent_and_search_whatever_becomes_of_its_file(
    make_place: MakePlace, qtbot: Any, tmp_path: Path, fate: str
) -> None:
    file = received(tmp_path / "Downloads")
    place = open_and_write(make_place, qtbot, file)
    place.run("object.pin")
    match fate:
        case "renamed":
            file.rename(file.with_name("Moved.liveobject"))
        case "moved":
            file.rename(tmp_path / "Shop.liveobject")
        case "deleted":
            file.unlink()
        case "emptied":
            file.write_bytes(b"")
    again = start_again(place, make_place)
    assert [page.title for page in again.window.object_pages()] == ["Shop"]
    assert again.editor.toPlainText() == "bread and butter"
    assert [entry.title for entry in again.session.recent.entries] == ["Shop"]
    assert [entry.title for entry in again.session.pinned.entries] == ["Shop"]
    again.desk.searching.flush()
    (found,) = again.desk.searching("bread")
    again.run("object.close")
    again.window.open_asked.emit(found.key)
    assert again.editor.toPlainText() == "bread and butter"
    again.run("object.close")
    again.run("object.reopen")
    assert again.editor.toPlainText() == "bread and butter"


def test_moved_file_joins_the_tab_that_is_open(
    make_place: MakePlace, qtbot: Any, tmp_path: Path
) -> None:
    file = received(tmp_path / "Downloads")
    place = open_and_write(make_place, qtbot, file)
    moved = file.rename(tmp_path / "Moved.liveobject")
    again = start_again(place, make_place)
    assert again.desk.objects.receive_file(moved)
    assert len(again.window.tabs.pages()) == 1
    (entry,) = again.session.recent.entries
    assert (entry.key, entry.where) == (IDENTITY, str(moved))


def test_lists_on_disk_name_objects_by_identity(
    make_place: MakePlace, qtbot: Any, tmp_path: Path
) -> None:
    place = open_and_write(make_place, qtbot, received(tmp_path / "Downloads"))
    assert OpenList(place.paths.open_now).keys == (IDENTITY,)
    assert OpenList(place.paths.open_now).front == IDENTITY
    assert json.loads(place.paths.recent.read_text())[0]["key"] == IDENTITY
    assert [file.name for file in place.paths.references.iterdir()] == [f"{IDENTITY}.liveobject"]


def test_can_edit_file_upgrades_what_could_only_be_viewed_and_never_the_other_way_round(
    make_place: MakePlace, tmp_path: Path
) -> None:
    place = make_place("Jun")
    viewed, edited = tmp_path / "look.liveobject", tmp_path / "edit.liveobject"
    write_reference_file(view_only(NOTE), viewed)
    write_reference_file(NOTE, edited)
    place.desk.objects.receive_file(viewed)
    assert place.window.front is not None
    assert not place.window.front.state.can_edit
    place.desk.objects.receive_file(edited)
    assert len(place.window.tabs.pages()) == 1
    assert "you can edit" in place.window.notice.text
    kept = place.session.kept.find(IDENTITY)
    assert kept is not None
    assert can_edit(kept)
    place.run("object.close")
    place.session.close_all()
    again = make_place("Jun")
    again.desk.objects.receive_file(viewed)
    assert again.window.front is not None
    assert again.window.front.state.can_edit
    kept = again.session.kept.find(IDENTITY)
    assert kept is not None
    assert can_edit(kept)


@pytest.mark.parametrize("is_open", [False, True])
def test_file_with_another_group_key_is_refused_and_the_known_one_stays(
    make_place: MakePlace, qtbot: Any, tmp_path: Path, is_open: bool
) -> None:
    place = open_and_write(make_place, qtbot, received(tmp_path / "Downloads"))
    if not is_open:
        place.run("object.close")
    forged = replace(NOTE, secrets=Secrets({**NOTE.secrets.keys, "group": os.urandom(32)}))
    file = tmp_path / "Forged.liveobject"
    write_reference_file(forged, file)
    assert not place.desk.objects.receive_file(file)
    (failure,) = place.desk.describe()["failures"]
    assert "other keys" in failure
    assert place.session.kept.find(IDENTITY) == NOTE
    assert len(place.window.object_pages()) == is_open
    assert OpenList(place.paths.open_now).keys == ((IDENTITY,) if is_open else ())
    assert not place.session.trusts(forged, None)
    with pytest.raises(KeysDiffer, match="other keys"):
        place.session.open_inside(forged)


def test_titles_of_new_objects_are_numbered_after_a_start_too(make_place: MakePlace) -> None:
    place = make_place("Jun")
    for _ in range(2):
        place.run("note.new")
    place.desk.close()
    place.session.close_all()
    again = make_place("Jun")
    again.run("note.new")
    assert again.window.front is not None
    assert again.window.front.title == "Note 16 November (3)"


@pytest.mark.parametrize(("call", "code"), FAULTS)
def test_disk_that_refuses_the_copy_says_so_and_opens_nothing(
    make_place: MakePlace, tmp_path: Path, call: str, code: int
) -> None:
    place = make_place("Jun")
    file = received(tmp_path / "Downloads")
    with refusing(call, code):
        assert not place.desk.objects.receive_file(file)
    (failure,) = place.desk.describe()["failures"]
    assert "cannot be written" in failure
    assert place.window.object_pages() == []
    assert all_files(place.paths.references) == {}
    assert place.desk.objects.receive_file(file), "when there is room again"


def kept_in(folder: Path) -> KeptReferences:
    return KeptReferences(folder, folder / "objects")


def test_copy_that_is_damaged_or_of_another_object_counts_as_lost(tmp_path: Path) -> None:
    kept = kept_in(tmp_path)
    kept.keep(NOTE)
    assert kept.get(IDENTITY) == NOTE
    for damage in (b"", b"<liveobject", new_note_bytes(tmp_path)):
        kept.file(IDENTITY).write_bytes(damage)
        assert kept.find(IDENTITY) is None
        with pytest.raises(ReferenceLost, match="not on this PC any more"):
            kept.get(IDENTITY)
        kept.keep(NOTE)
        assert kept.get(IDENTITY) == NOTE
    assert kept.find("../../etc/passwd") is None


def new_note_bytes(folder: Path) -> bytes:
    write_reference_file(new_note("Other", os.urandom), folder / "other")
    data = (folder / "other").read_bytes()
    (folder / "other").unlink()
    return data


def test_copy_is_written_once_and_not_at_every_opening(tmp_path: Path) -> None:
    kept = kept_in(tmp_path)
    kept.keep(NOTE)
    with refusing():
        kept.keep(NOTE)
        kept.keep(view_only(NOTE))
        with pytest.raises(ReferenceProblem):
            kept.keep(new_note("Other", os.urandom))
    assert list(kept.identities()) == [IDENTITY]
    assert read_reference_file(kept.file(IDENTITY)) == NOTE
