"""The log of the program: on a disk that refuses, one sentence instead of a traceback a line."""

from __future__ import annotations

import logging
import resource
from pathlib import Path

import pytest

from app.log import LogFile


def record(message: str) -> logging.LogRecord:
    return logging.LogRecord("name", logging.INFO, "file", 1, message, None, None)


def test_a_full_disk_is_one_sentence_and_the_log_goes_on_when_there_is_room(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    handler = LogFile(tmp_path / "log", encoding="utf-8", delay=True)
    handler.handle(record("before"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, hard))
    try:
        for number in range(20):
            handler.handle(record(f"lost {number}"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    handler.handle(record("after"))
    handler.close()
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "cannot be written" in told
    assert "Traceback" not in told
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[0] == "before"
    assert lines[-1].endswith("after")


def test_a_mistake_of_ours_is_shown_as_ever(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    handler = LogFile(tmp_path / "log", delay=True)
    wrong = record("%d")
    wrong.args = ("no number",)
    handler.handle(wrong)
    handler.close()
    assert "Traceback" in capsys.readouterr().err
