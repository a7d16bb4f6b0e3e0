"""References as files: written, read, recognised, and refused in sentences with lines."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from liveobj.objects.text_note import new_note
from liveobj.references import (
    Parameterized,
    Primitive,
    ReferenceProblem,
    Secrets,
    Value,
    canonical_form,
    fingerprint,
    group_id_of,
    read_reference,
    read_reference_file,
    write_reference,
    write_reference_file,
)
from tests.disk_faults import FAULTS, all_files, refusing

NOTE = new_note("Shopping & more <5>", random.Random(1).randbytes)


def test_a_reference_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "note.liveobject"
    write_reference_file(NOTE, path)
    assert read_reference_file(path) == NOTE
    assert [p.name for p in tmp_path.iterdir()] == ["note.liveobject"]


def test_all_kinds_of_values_survive() -> None:
    reference = Parameterized(
        Primitive("example.com:thing"),
        {
            "text": Value(' two\nlines\r & "quotes" 😀 '),
            "empty": Value(""),
            "integer": Value(-(2**70)),
            "number": Value(0.1),
            "yes": Value(True),
            "no": Value(False),
            "bytes": Value(b"\0\xff"),
            "object": NOTE,
        },
    )
    assert read_reference(write_reference(reference)) == reference


def test_secrets_are_no_part_of_who_an_object_is() -> None:
    public = Parameterized(NOTE.template, NOTE.arguments, secrets=Secrets())
    assert fingerprint(public) == fingerprint(NOTE)
    assert NOTE.secrets.keys["group"].hex() not in canonical_form(NOTE).decode()
    assert len(group_id_of(fingerprint(NOTE))) == 16


def test_two_notes_of_one_title_are_two_objects() -> None:
    other = new_note("Shopping & more <5>", random.Random(2).randbytes)
    assert fingerprint(other) != fingerprint(NOTE)


def test_spelling_does_not_matter() -> None:
    spelled = write_reference(NOTE).replace(b"\n", b"\n\n").replace(b"<template>", b"<template  >")
    spelled = spelled.replace(b"<parameterized>", b"<!-- hi --><parameterized>")
    assert fingerprint(read_reference(spelled)) == fingerprint(NOTE)


def test_the_fingerprint_never_changes() -> None:
    """A change here would make every file in the world another object."""
    reference = Parameterized(Primitive("live-objects:text-note"), {"title": Value("fixed")})
    assert canonical_form(reference) == (
        b'<liveobject xmlns="urn:live-objects:reference"><parameterized><template>'
        b'<primitive id="live-objects:text-note"/></template><parameter name="title">'
        b"<text>fixed</text></parameter></parameterized></liveobject>"
    )
    assert str(fingerprint(reference)) == FIXED_FINGERPRINT


FIXED_FINGERPRINT = "7063bb9445c5ebbafedf248335bf97d7f012d7aba19505c8bf817c4066e4b14b"


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ReferenceProblem, match=r"no-such\.liveobject: The file cannot be read"):
        read_reference_file(Path("no-such.liveobject"))


def test_an_error_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.liveobject"
    path.write_bytes(write_reference(NOTE).replace(b"live-objects:text-note", b"no id"))
    with pytest.raises(ReferenceProblem, match=r"bad.liveobject, line 5: 'no id' is no identifier"):
        read_reference_file(path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ReferenceProblem, match="This is not a file"):
            read_reference_file(path)


def test_file_with_keys_is_its_users_alone_and_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: (synced.append(number), fsync(number))[1])
    mask = os.umask(0o022)
    try:
        write_reference_file(new_note("Plan", os.urandom), tmp_path / "plan.liveobject")
    finally:
        os.umask(mask)
    assert (tmp_path / "plan.liveobject").stat().st_mode & 0o777 == 0o600
    assert len(synced) == 2, "the file and its folder"


@pytest.mark.parametrize(("call", "code"), FAULTS)
def test_disk_that_refuses_a_file_with_keys_leaves_the_old_one(
    tmp_path: Path, call: str, code: int
) -> None:
    file = tmp_path / "plan.liveobject"
    write_reference_file(new_note("Plan", os.urandom), file)
    before = all_files(tmp_path)
    with refusing(call, code), pytest.raises(ReferenceProblem, match="cannot be written"):
        write_reference_file(new_note("Other", os.urandom), file)
    assert all_files(tmp_path) == before
