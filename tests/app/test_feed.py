"""`live-objects feed` as the real process: a table that follows a file, and files that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.main import main
from tests.app.test_network_commands import run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "figures.liveobject"
    assert main(["new", "--kind", "table", str(file)]) == 0
    return file


def feed(tmp_path: Path, csv: Path, table: Path) -> tuple[int, str, str]:
    profile = ("--state-dir", str(tmp_path / "state"), "--interface", "127.0.0.1")
    return run("feed", str(csv), str(table), "--once", *profile)


def test_table_is_filled_from_a_file(tmp_path: Path, table: Path) -> None:
    csv = tmp_path / "loss.csv"
    csv.write_text("minute,lost\n1,5\n2,7\n")
    assert feed(tmp_path, csv, table) == (0, "figures: 2 rows\n", "")
    csv.write_text("minute,lost\n1,5\n2,7\n3,9\n")
    assert feed(tmp_path, csv, table) == (0, "figures: 3 rows\n", "")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(None, "cannot be read"), (b"", "is empty"), (b"\x80\x00\x81\x82" * 9, "not a text")],
)
def test_what_is_no_feed_is_one_sentence(
    tmp_path: Path, table: Path, content: bytes | None, sentence: str
) -> None:
    csv = tmp_path / "loss.csv"
    if content is not None:
        csv.write_bytes(content)
    code, said, problems = feed(tmp_path, csv, table)
    assert (code, said) == (2, "")
    assert problems.count("\n") == 1
    assert sentence in problems


def test_what_is_no_table_is_one_sentence(tmp_path: Path) -> None:
    csv = tmp_path / "loss.csv"
    csv.write_text("minute\n1\n")
    note = tmp_path / "note.liveobject"
    assert main(["new", str(note)]) == 0
    for wrong in (note, csv, tmp_path / "none.liveobject"):
        code, said, problems = feed(tmp_path, csv, wrong)
        assert (code, said) == (2, "")
        assert problems.count("\n") == 1
