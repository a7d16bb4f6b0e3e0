"""The commands new, inspect and check."""

from __future__ import annotations

import random
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from liveobj import commands
from liveobj.objects.text_note import new_note
from liveobj.references import (
    Composite,
    Connection,
    External,
    NamedType,
    Port,
    Primitive,
    Reference,
    read_reference_file,
    write_reference_file,
)
from liveobj.references.makers import maker_of, signed_by
from transport.identities import SEED_BYTES, Identity

NOTE = new_note("Plan", random.Random(4).randbytes)


class Run:
    def __init__(self) -> None:
        self.out, self.err = StringIO(), StringIO()

    @property
    def text(self) -> str:
        return self.out.getvalue()

    @property
    def errors(self) -> str:
        return self.err.getvalue()


def as_it_is(reference: Reference) -> Reference:
    """For makers who sign nothing."""
    return reference


def write(folder: Path, reference: Reference) -> Path:
    path = folder / "x.liveobject"
    write_reference_file(reference, path)
    return path


def test_new_makes_a_file_and_never_writes_over_one(tmp_path: Path) -> None:
    path, run = tmp_path / "Shopping.liveobject", Run()
    make = random.Random(1).randbytes
    assert commands.new("note", path, "", make, run.out, run.err, as_it_is) == commands.DONE
    before = path.read_bytes()
    assert commands.new("note", path, "", make, run.out, run.err, as_it_is) == commands.UNREADABLE
    assert "exists already" in run.errors
    assert path.read_bytes() == before
    assert "Shopping" in path.read_text()
    assert commands.check_files([path], run.out, run.err) == commands.DONE
    assert read_reference_file(path).secrets.keys.keys() == {"group", "signing"}


def test_new_writes_what_its_maker_has_signed(tmp_path: Path) -> None:
    path, run = tmp_path / "Signed.liveobject", Run()
    ada = Identity(random.Random(3).randbytes(SEED_BYTES))

    def signed(reference: Reference) -> Reference:
        return signed_by(reference, ada, "Ada")

    make = random.Random(1).randbytes
    assert commands.new("table", path, "", make, run.out, run.err, signed) == commands.DONE
    maker = maker_of(read_reference_file(path))
    assert maker is not None
    assert (maker.public, maker.name) == (ada.public, "Ada")


def test_new_refuses_what_it_does_not_know_or_cannot_write(tmp_path: Path) -> None:
    run = Run()
    make = random.Random(1).randbytes
    assert commands.new("toaster", tmp_path / "x", "", make, run.out, run.err, as_it_is) == 2
    assert "'toaster' is not a kind of object" in run.errors
    assert commands.new("note", tmp_path / "no" / "x", "", make, run.out, run.err, as_it_is) == 2
    assert "cannot be written" in run.errors


def test_inspect_shows_the_tree_the_type_and_the_verdict(tmp_path: Path) -> None:
    run = Run()
    assert commands.inspect_files([write(tmp_path, NOTE)], run.out, run.err) == commands.DONE
    for words in (
        "identity  ",
        "joins     group ",
        "rights    can edit",
        "object: parameterized 'Text note' (live-objects:text-note)",
        "title = 'Plan'",
        "verify_key = 32 bytes",
        "endpoint 'text'",
        "receives insert(position: integer, text: text)",
        "promises reliable, exactly once, fifo, checkpointed",
        "verdict   it can be run here.",
    ):
        assert words in run.text
    assert NOTE.secrets.keys["group"].hex() not in run.text
    run = Run()
    viewer = replace(NOTE, secrets=NOTE.secrets.without("signing"))
    commands.inspect_files([write(tmp_path, viewer)], run.out, run.err)
    assert "rights    can view" in run.text


def test_inspect_and_check_tell_everything_that_is_wrong(tmp_path: Path) -> None:
    wrong = Composite(
        {
            "one": NOTE,
            "two": NOTE,
            "three": Primitive("example.com:unheard-of"),
            "four": External("x", NOTE, as_type=NamedType("live-objects:text")),
        },
        (Connection(Port("one", "text"), Port("two", "text")),),
    )
    path, run = write(tmp_path, wrong), Run()
    assert commands.check_files([path], run.out, run.err) == commands.WRONG
    lines = run.errors.splitlines()
    assert len(lines) == 6
    assert all(line.startswith(f"{path}, line ") for line in lines)
    assert "'example.com:unheard-of' is not known here" in run.errors
    assert "Endpoint 'text' of 'one' sends 'changed', which" in run.errors
    assert "What 'x' is asked from has no endpoint 'folder'" in run.errors
    run = Run()
    assert commands.inspect_files([path], run.out, run.err) == commands.WRONG
    assert "external 'x', asked for when it is opened" in run.text
    assert "verdict   it cannot be run:" in run.text


@pytest.mark.parametrize("command", [commands.check_files, commands.inspect_files])
def test_a_file_that_cannot_be_read_is_told_and_the_next_is_done(
    tmp_path: Path, command: object
) -> None:
    run = Run()
    paths = [tmp_path / "missing", write(tmp_path, NOTE)]
    assert callable(command)
    assert command(paths, run.out, run.err) == commands.UNREADABLE
    assert "The file cannot be read" in run.errors
    assert "x.liveobject" in run.text
