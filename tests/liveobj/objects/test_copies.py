"""Copies of objects in plain files, for when the disk of the profile refuses."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from liveobj.objects.chat import Chat, new_chat, open_chat
from liveobj.objects.copies import can_copy, write_copy
from liveobj.objects.desktop import new_desktop, open_desktop
from liveobj.objects.rich_document import RichDocument, new_document, open_document
from liveobj.objects.shared_document import SharedDocument
from liveobj.objects.table import Table, new_table, open_table
from liveobj.objects.text_note import TextNote, new_note, open_note
from liveobj.richtext.errors import FileProblem
from liveobj.richtext.files import read_file
from liveobj.richtext.model import Paragraph, Run, plain_text
from tests.liveobj.support import LocalOffice

RANDOM = random.Random(4).randbytes


def write_note(shared: SharedDocument) -> None:
    assert isinstance(shared, TextNote)
    shared.text.insert(0, "my only copy 😀")


def write_chat(shared: SharedDocument) -> None:
    assert isinstance(shared, Chat)
    shared.say("my only copy 😀")


def write_table(shared: SharedDocument) -> None:
    assert isinstance(shared, Table)
    shared.grow(1, 2)
    row, columns = shared.content.rows[0], shared.content.columns
    shared.write({(row, columns[0]): "my only copy 😀", (row, columns[1]): "=1+2"}, "write")


def write_document(shared: SharedDocument) -> None:
    assert isinstance(shared, RichDocument)
    shared.body.insert(0, [Paragraph((Run("my only copy 😀"),))])


KINDS = {
    "note": (new_note, open_note, write_note, ".txt"),
    "chat": (new_chat, open_chat, write_chat, ".txt"),
    "table": (new_table, open_table, write_table, ".csv"),
    "document": (new_document, open_document, write_document, ".odt"),
}


@pytest.mark.parametrize("word", KINDS)
def test_a_copy_holds_what_was_written_and_replaces_no_file(word: str, tmp_path: Path) -> None:
    new, opener, write, ending = KINDS[word]
    open_it: Callable[..., SharedDocument] = opener
    office = LocalOffice(tmp_path / "objects", new("A / plan", RANDOM), open_it)
    shared = office.open(1)
    write(shared)
    assert can_copy(shared)
    first, second = write_copy(shared, tmp_path), write_copy(shared, tmp_path)
    assert (first.name, second.name) == (f"A - plan{ending}", f"A - plan (2){ending}")
    found = plain_text(read_file(first)) if ending == ".odt" else first.read_text("utf-8")
    assert "my only copy 😀" in found
    if word == "table":
        assert "=1+2" in found


def test_a_place_that_refuses_is_told(tmp_path: Path) -> None:
    office = LocalOffice(tmp_path / "objects", new_note("Plan", RANDOM), open_note)
    with pytest.raises(FileProblem, match=r"Plan\.txt cannot be written"):
        write_copy(office.open(1), tmp_path / "nowhere")


def test_what_only_arranges_others_has_no_copy(tmp_path: Path) -> None:
    office = LocalOffice(tmp_path / "objects", new_desktop("Desk", RANDOM), open_desktop)
    assert not can_copy(office.open(1))
