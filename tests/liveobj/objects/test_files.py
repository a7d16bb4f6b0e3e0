"""Shared files: harmless names, contents that come by themselves, versions, junk."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liveobj.capabilities import view_only
from liveobj.contents.exchange import RETRY_S
from liveobj.documents import DocumentError
from liveobj.objects.file_names import NAME_CHARACTERS_MAX, could_run, safe_name
from liveobj.objects.files import (
    BY_ITSELF_BYTES_MAX,
    FILE_BYTES_MAX,
    SharedFiles,
    new_files,
    open_files,
    read_version,
)
from tests.liveobj.support import LocalOffice

FILES = new_files("Plans", random.Random(8).randbytes)


Office = LocalOffice[SharedFiles]


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return LocalOffice(tmp_path, FILES, open_files)


def put(files: SharedFiles, name: str, data: bytes) -> str:
    return files.put(name, files.exchange.store.add_bytes(data), len(data))


def content(files: SharedFiles, name: str) -> bytes | None:
    file = next((each for each in files.files() if each.name == name), None)
    path = None if file is None else files.exchange.find(file.newest.content)
    return None if path is None else path.read_bytes()


def test_a_file_comes_to_everybody_and_to_who_comes_later(office: Office) -> None:
    ada, jun = office.open(1), office.open(2)
    office.settle()
    data = random.Random(1).randbytes(400_000)
    put(ada, "plan.pdf", data)
    office.settle()
    assert content(jun, "plan.pdf") == data
    ada.close()
    late = office.open(3, view_only(FILES))
    office.settle()
    assert content(late, "plan.pdf") == data, "from the one who had fetched it"
    newest = late.files()[0].newest
    assert (newest.size, newest.author) == (400_000, "person 1")


def test_replacing_keeps_older_versions_which_can_be_brought_back(office: Office) -> None:
    ada, jun = office.open(1), office.open(2)
    office.settle()
    identity = put(ada, "plan.txt", b"one")
    office.settle()
    assert put(jun, "plan.txt", b"two") == identity
    office.settle()
    file = ada.files()[0]
    assert len(file.versions) == 2
    assert content(ada, "plan.txt") == b"two"
    ada.bring_back(identity, file.versions[1])
    office.settle()
    assert content(jun, "plan.txt") == b"one"
    assert len(jun.files()[0].versions) == 3
    assert ada.document.undo()
    assert content(ada, "plan.txt") == b"two"


def test_two_who_replace_at_once_both_stay(office: Office) -> None:
    ada, jun = office.open(1), office.open(2)
    put(ada, "plan.txt", b"one")
    office.settle()
    office.network.partition({1}, {2})
    put(ada, "plan.txt", b"from ada")
    put(jun, "plan.txt", b"from jun")
    office.network.heal()
    office.settle(RETRY_S + 5)
    assert len(ada.files()[0].versions) == 3
    assert content(ada, "plan.txt") == content(jun, "plan.txt")


def test_large_files_wait_until_they_are_asked_for(office: Office) -> None:
    ada = office.open(1)
    name = "0" * 64
    ada.put("film.mkv", name, BY_ITSELF_BYTES_MAX + 1)
    assert ada.exchange.arrival(name) is None
    ada.exchange.want(name, BY_ITSELF_BYTES_MAX + 1)
    assert ada.exchange.arrival(name) is not None


def test_rename_and_remove(office: Office) -> None:
    ada = office.open(1)
    one, two = put(ada, "a.txt", b"1"), put(ada, "b.txt", b"2")
    ada.rename_file(one, "../c.txt")
    assert [file.name for file in ada.files()] == ["b.txt", "c.txt"]
    for name in ("", "b.txt"):
        with pytest.raises(DocumentError):
            ada.rename_file(one, name)
    ada.remove([one, two])
    assert ada.files() == []
    with pytest.raises(DocumentError):
        ada.rename_file(one, "x")
    ada.document.undo()
    assert len(ada.files()) == 2


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("plan.pdf", "plan.pdf"),
        ("../../etc/passwd", "passwd"),
        ("/etc/passwd", "passwd"),
        ("..\\..\\windows\\system32\\x.dll", "x.dll"),
        ("C:\\x.txt", "x.txt"),
        ("..", "file"),
        (".", "file"),
        ("", "file"),
        (" . ", "file"),
        ("con", "file con"),
        ("NUL.txt", "file NUL.txt"),
        ("a\x00b\n.txt", "ab.txt"),
        ('a<b>:"c|?.txt', "a-b---c--.txt"),
        ("gnp\u202etxt.exe", "gnptxt.exe"),
        (".bashrc", "bashrc"),
        ("über.txt", "über.txt"),
        (5, "file"),
        (None, "file"),
    ],
)
def test_names_of_others_are_made_harmless(name: object, safe: str) -> None:
    assert safe_name(name) == safe


@given(st.text(max_size=400) | st.text(alphabet="./\\:\x00 a\u202e", max_size=40))
def test_any_name_is_one_part_of_a_path(name: str) -> None:
    safe = safe_name(name)
    assert safe
    assert safe not in (".", "..")
    assert Path(safe).name == safe
    assert not set(safe) & set('/\\:\x00\n"<>|?*')
    assert len(safe) <= NAME_CHARACTERS_MAX + 5
    assert len(safe.encode()) <= 255
    assert safe_name(safe) == safe


@pytest.mark.parametrize(
    ("name", "data", "runs"),
    [
        ("plan.pdf", b"%PDF", False),
        ("setup.EXE", b"", True),
        ("notes", b"#!/bin/sh", True),
        ("notes", b"\x7fELF", True),
        ("picture.png", b"MZ", True),
        ("x.desktop", b"", True),
        ("README", b"hello", False),
    ],
)
def test_programs_are_recognised(name: str, data: bytes, runs: bool) -> None:
    assert could_run(name, data) is runs


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)
FIELDS = st.sampled_from(["content", "size", "author", "at"])


@given(st.dictionaries(FIELDS, PLAIN | st.just("a" * 64)) | PLAIN)
def test_whatever_is_in_the_document_is_a_sane_version_or_none(value: Any) -> None:
    version = read_version("x/y", value)
    assert version is None or 0 <= version.size <= FILE_BYTES_MAX


def test_junk_in_every_map_is_passed_over(office: Office) -> None:
    ada = office.open(1)
    for key in ("x", "x/y", "/", ""):
        for value in ({"content": "a" * 64, "size": 3}, 5, [1], b"x"):
            ada.names.set(key, value)
            ada.versions.set(key, value)
    ada.files()
    put(ada, "a.txt", b"1")
    assert content(ada, "a.txt") == b"1"
