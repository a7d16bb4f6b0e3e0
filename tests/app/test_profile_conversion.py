"""Profiles of earlier versions, which knew objects by the paths of their files."""

from __future__ import annotations

import json
import os
from pathlib import Path

from app.paths import Paths, find_paths
from app.search_index import Entry, SearchIndex
from liveobj.capabilities import view_only
from liveobj.objects.text_note import new_note
from liveobj.references import Reference, fingerprint, write_reference_file
from tests.app.conftest import MakePlace
from tests.disk_faults import all_files

MADE, RECEIVED, LOST = (new_note(title, os.urandom) for title in ("Made", "Received", "Lost"))


def identity(reference: Reference) -> str:
    return str(fingerprint(reference))


def old_profile(folder: Path) -> Paths:
    """As version 0.1 left it: one object made here, one received, one whose file was moved."""
    paths = find_paths({}, folder / "Jun")
    paths.make()
    made = paths.references / "Made.liveobject"
    received, lost = folder / "Received.liveobject", folder / "Lost.liveobject"
    write_reference_file(MADE, made)
    write_reference_file(RECEIVED, received)
    entries = [
        {"key": str(file), "title": file.stem, "where": str(file), "kind": "note"}
        for file in (made, received, lost)
    ]
    paths.recent.write_text(json.dumps(entries))
    paths.pinned.write_text(json.dumps(entries[1:2]))
    files = [str(made), str(received), str(lost)]
    paths.open_now.write_text(json.dumps({"files": files, "front": files[1], "tries": 0}))
    (paths.objects / f"{identity(LOST)}.db").write_bytes(b"")
    index = SearchIndex(paths.search)
    index.put(Entry(identity(LOST), str(lost), "note", "Lost", "bread"))
    index.close()
    return paths


def test_what_was_open_listed_and_pinned_is_so_after_the_first_start(
    make_place: MakePlace, tmp_path: Path
) -> None:
    paths = old_profile(tmp_path)
    place = make_place("Jun")
    place.desk.restoring.begin(restore=True)
    assert [page.title for page in place.window.object_pages()] == ["Made", "Received"]
    assert place.window.front is place.window.object_pages()[1]
    assert sorted(all_files(paths.references)) == sorted(
        f"{identity(each)}.liveobject" for each in (MADE, RECEIVED)
    )
    assert [entry.key for entry in place.session.pinned.entries] == [identity(RECEIVED)]
    assert {entry.key for entry in place.session.recent.entries} == {
        identity(each) for each in (MADE, RECEIVED, LOST)
    }
    where = {entry.title: entry.where for entry in place.session.recent.entries}
    assert where["Received"] == str(tmp_path / "Received.liveobject")
    assert where["Made"] == ""


def test_object_whose_file_is_lost_is_told_and_comes_back_with_its_file(
    make_place: MakePlace, tmp_path: Path
) -> None:
    paths = old_profile(tmp_path)
    (paths.objects / f"{identity(LOST)}.db").unlink()
    place = make_place("Jun")
    place.desk.restoring.begin(restore=True)
    (failure,) = place.desk.describe()["failures"]
    assert failure.startswith("Lost cannot be opened")
    assert "not on this PC any more" in failure
    assert [found.title for found in place.desk.searching("bread")] == ["Lost"]
    moved = tmp_path / "moved.liveobject"
    write_reference_file(LOST, moved)
    assert place.desk.objects.receive_file(moved)
    assert place.session.kept.find(identity(LOST)) == LOST
    titles = [entry.title for entry in place.session.recent.entries]
    assert titles.count("Lost") == 1


def test_second_start_changes_nothing(make_place: MakePlace, tmp_path: Path) -> None:
    paths = old_profile(tmp_path)
    place = make_place("Jun")
    place.session.close_all()
    before = [path.read_bytes() for path in (paths.recent, paths.pinned, paths.open_now)]
    make_place("Jun")
    assert [path.read_bytes() for path in (paths.recent, paths.pinned, paths.open_now)] == before


def test_file_that_cannot_be_kept_stays_where_it_is(make_place: MakePlace, tmp_path: Path) -> None:
    paths = find_paths({}, tmp_path / "Jun")
    paths.make()
    broken, viewed = (paths.references / f"{name}.liveobject" for name in ("broken", "viewed"))
    broken.write_bytes(b"not one")
    write_reference_file(view_only(MADE), viewed)
    write_reference_file(MADE, paths.references / "edited.liveobject")
    place = make_place("Jun")
    assert sorted(all_files(paths.references)) == sorted(
        ["broken.liveobject", f"{identity(MADE)}.liveobject"]
    )
    assert place.session.kept.find(identity(MADE)) == MADE
