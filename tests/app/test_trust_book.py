"""Who is trusted: objects, authors and folders, in a file that may hold anything."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from app.trust_book import TrustBook
from liveobj.capabilities import view_only
from liveobj.objects.text_note import new_note
from liveobj.references.makers import maker_of, signed_by
from tests.disk_faults import FAULTS, all_files, refusing
from transport.identities import Identity


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
    ada, eve = Identity(os.urandom(32)), Identity(os.urandom(32))
    one, two = (signed_by(new_note(title, os.urandom), ada, "Ada") for title in "ab")
    maker = maker_of(one)
    assert maker is not None
    book.remember_author(maker)
    again = TrustBook(tmp_path / "trusted")
    assert again.trusts(one, None)
    assert again.trusts(view_only(two), None)
    # The same name is not the same person, and a signature does not move to another object.
    other = new_note("Other", os.urandom)
    assert not again.trusts(signed_by(other, eve, "Ada"), None)
    assert not again.trusts(replace(other, beside=one.beside), None)
    assert not again.trusts(replace(one, beside=()), None)


def test_people_and_folders_can_be_forgotten_and_objects_stay(tmp_path: Path) -> None:
    file = tmp_path / "trusted"
    file.write_bytes(b"\xff later\n")
    book = TrustBook(file)
    known, other = new_note("One", os.urandom), new_note("Two", os.urandom)
    signed = signed_by(other, Identity(os.urandom(32)), "Ada")
    assert not book.trusts_others
    book.remember_object(known)
    book.remember_folder(tmp_path)
    maker = maker_of(signed)
    assert maker is not None
    book.remember_author(maker)
    assert book.trusts_others
    book.forget_others()
    for one in (book, TrustBook(file)):
        assert not one.trusts_others
        assert one.trusts(known, None)
        assert not one.trusts(signed, tmp_path / "x.liveobject")
    assert file.read_bytes().startswith(b"\xff later\n")
    TrustBook(tmp_path / "none").forget_others()


def test_a_broken_file_trusts_nobody_and_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "trusted"
    file.write_bytes(b"\xff\xfe\nobject\nlater 5\n\n")
    book = TrustBook(file)
    note = new_note("One", os.urandom)
    assert not book.trusts(note, tmp_path)
    book.remember_object(note)
    assert file.read_bytes().startswith(b"\xff\xfe\nobject\nlater 5\n")
    assert not TrustBook(tmp_path).trusts(note, None)


def test_book_is_its_users_alone_and_keeps_lines_that_it_does_not_know(tmp_path: Path) -> None:
    file = tmp_path / "trusted"
    file.write_text("colour blue")
    TrustBook(file).remember_folder(tmp_path / "from Jun")
    assert file.read_text() == f"colour blue\nfolder {tmp_path / 'from Jun'}\n"
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(("call", "code"), FAULTS)
def test_disk_that_refuses_leaves_the_book_as_it_was(tmp_path: Path, call: str, code: int) -> None:
    file = tmp_path / "trusted"
    book = TrustBook(file)
    book.remember_folder(tmp_path)
    before = all_files(tmp_path)
    with refusing(call, code):
        book.remember_folder(tmp_path / "other")
        book.forget_others()
    assert all_files(tmp_path) == before
