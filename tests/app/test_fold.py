"""`live-objects fold`: what the pipeline advises, or what is named, in a profile that rests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.commands import fold
from app.main import main
from app.paths import Paths, find_paths
from liveobj.documents import Document
from liveobj.references import fingerprint, group_id_of, read_reference_file
from liveobj.storage import ObjectStore


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    made = find_paths({}, tmp_path / "profile")
    made.make()
    return made


def make_note(paths: Paths, title: str, edits: int) -> Path:
    file = paths.references / f"{title}.liveobject"
    assert main(["new", "--title", title, str(file)]) == 0
    document = Document(7)
    store = ObjectStore(paths.objects / f"{fingerprint(read_reference_file(file))}.db")
    for number in range(edits):
        before = document.version
        with document.transaction():
            document.text("text").insert(0, f"line {number}, written by itself\n")
        store.append(document.export_since(before))
    store.close()
    return file


def test_what_is_advised_is_folded_and_nothing_else(
    paths: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = make_note(paths, "Old", 300), make_note(paths, "New", 300)
    group = group_id_of(fingerprint(read_reference_file(old))).hex()
    paths.hints.write_text(json.dumps({"form": 1, "fold": ["ff" * 16, group]}))
    capsys.readouterr()
    assert main(["fold", "--state-dir", str(paths.state)]) == 0
    told = capsys.readouterr().out
    assert "Old: 300 updates" in told
    assert "New" not in told
    assert told.splitlines()[-1].startswith("1 objects, ")
    assert main(["fold", str(new), "--state-dir", str(paths.state)]) == 0
    assert "New: 300 updates" in capsys.readouterr().out


def test_what_cannot_be_folded_is_a_sentence(
    paths: Paths,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = ["--state-dir", str(paths.state)]
    assert main(["fold", *state]) == 0
    assert capsys.readouterr().out == "0 objects, 0 bytes less on this disk\n"
    elsewhere = tmp_path / "Elsewhere.liveobject"
    assert main(["new", str(elsewhere)]) == 0
    capsys.readouterr()
    assert main(["fold", str(elsewhere), *state]) == 0
    assert "never open in this profile" in capsys.readouterr().out
    assert main(["fold", str(tmp_path / "none"), *state]) == 2
    monkeypatch.setattr(fold, "ask", lambda *_: {"version": "1"})
    assert main(["fold", *state]) == 2
    assert "is running" in capsys.readouterr().err
