"""Folders: names that stay apart, what is removed comes back, and junk is named."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from liveobj.documents import DocumentError
from liveobj.objects.shared_folder import Folder, new_folder, open_folder
from liveobj.objects.text_note import new_note
from tests.liveobj.support import Clock, LocalNetwork, make_host

FOLDER = new_folder("Lunch", random.Random(4).randbytes)
NOTE = new_note("Menu", random.Random(5).randbytes)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return open_folder(FOLDER, make_host(LocalNetwork(), 1, tmp_path, Clock()))


def names(folder: Folder) -> list[str]:
    return [entry.name for entry in folder.entries()]


def test_what_is_put_in_gets_a_free_name_and_is_read_back(folder: Folder) -> None:
    assert folder.put(" Menu ", NOTE) == "Menu"
    assert folder.put("Menu", NOTE) == "Menu (2)"
    assert names(folder) == ["Menu", "Menu (2)"]
    assert folder.entries()[0].reference == NOTE


def test_renaming_and_removing_are_undone_one_by_one(folder: Folder) -> None:
    folder.put("a", NOTE)
    folder.put("b", NOTE)
    folder.rename_entry("a", "c")
    folder.remove(["b", "c"])
    assert names(folder) == []
    assert folder.document.undo()
    assert names(folder) == ["b", "c"]
    assert folder.document.undo()
    assert names(folder) == ["a", "b"]


@pytest.mark.parametrize(("old", "new"), [("a", ""), ("a", "x" * 201), ("a", "b"), ("z", "y")])
def test_names_that_cannot_be_are_refused(folder: Folder, old: str, new: str) -> None:
    folder.put("a", NOTE)
    folder.put("b", NOTE)
    with pytest.raises(DocumentError):
        folder.rename_entry(old, new)
    assert names(folder) == ["a", "b"]


def test_junk_is_an_entry_with_a_problem(folder: Folder) -> None:
    for number, value in enumerate([None, 5, "text", b"", b"<x/>", b"\xff" * 99, [1], {"a": 1}]):
        folder.content.set(f"junk{number}", value)
    entries = folder.entries()
    assert len(entries) >= 7
    assert all(entry.reference is None and entry.problem for entry in entries)
