"""Who is trusted: objects, authors and folders, in a file that may hold anything."""

from __future__ import annotations

import os
from pathlib import Path

from app.trust_book import TrustBook
from liveobj.capabilities import view_only
from liveobj.objects.text_note import new_note


def test_an_object_is_known_in_both_its_forms(tmp_path: Path) -> None:
    book = TrustBook(tmp_path / "trusted")
    note, other = new_note("One", os.urandom), new_note("Two", os.urandom)
    assert not book.trusts(note, None)
    book.remember_object(note)
    again = TrustBook(tmp_path / "trusted")
    assert again.trusts(note, None)
    assert again.trusts(view_only(note), None)
    assert not again.trusts(other, None)


def test_a_folder_stands_for_what_is_in_it_and_below(tmp_path: Path) -> None:
    book = TrustBook(tmp_path / "trusted")
    note = new_note("One", os.urandom)
    book.remember_folder(tmp_path / "from Jun")
    assert book.trusts(note, tmp_path / "from Jun" / "deep" / "x.liveobject")
    assert not book.trusts(note, tmp_path / "from Juno" / "x.liveobject")
    assert not book.trusts(note, None)


def test_an_author_stands_for_what_they_signed(tmp_path: Path) -> None:
    book = TrustBook(tmp_path / "trusted")
    note = new_note("One", os.urandom)
    book.remember_author(note)
    assert TrustBook(tmp_path / "trusted").trusts(note, None)


def test_a_broken_file_trusts_nobody_and_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "trusted"
    file.write_bytes(b"\xff\xfe\nobject\nlater 5\n\n")
    book = TrustBook(file)
    note = new_note("One", os.urandom)
    assert not book.trusts(note, tmp_path)
    book.remember_object(note)
    assert file.read_bytes().startswith(b"\xff\xfe\nobject\nlater 5\n")
    assert not TrustBook(tmp_path).trusts(note, None)
