"""A whole document is written to a file from a copy of its state."""

from __future__ import annotations

import io
import random
import sys
from pathlib import Path

import pytest

from liveobj.documents import Document
from liveobj.objects.document_export import export, main
from liveobj.objects.rich_document import RichBody
from liveobj.richtext.errors import FileProblem
from liveobj.richtext.model import Paragraph, Run


def state() -> bytes:
    document = Document(7)
    RichBody(document, random.Random(1).randbytes).insert(0, [Paragraph((Run("some words"),))])
    return document.export_snapshot()


def test_a_copy_is_written(tmp_path: Path) -> None:
    export(state(), tmp_path / "out.md", "Title")
    assert "some words" in (tmp_path / "out.md").read_text()


def test_what_is_no_document_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="cannot be read"):
        export(b"rubbish", tmp_path / "out.md", "Title")
    assert not list(tmp_path.iterdir())


def test_the_helper_says_what_it_takes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("liveobj.richtext.convert._limit", lambda: None)
    assert main(["one"]) == 2
    assert "FILE TITLE" in capsys.readouterr().err

    class Input:
        buffer = io.BytesIO(b"rubbish")

    monkeypatch.setattr(sys, "stdin", Input())
    assert main([str(tmp_path / "out.md"), "Title"]) == 2
    assert "cannot be read" in capsys.readouterr().err
