"""The start is quick: Qt and the engine are loaded only when there will be a window."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import qInstallMessageHandler, qWarning

from app.log import start_log


def test_help_errors_and_hand_over_load_no_window_system() -> None:
    program = "import app.main, sys; print(*(name for name in sys.modules if '.' not in name))"
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"PySide6", "native", "qasync", "OpenGL"} & set(result.stdout.split())


@pytest.fixture
def own_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level, hook = list(root.handlers), root.level, sys.excepthook
    yield
    for handler in set(root.handlers) - set(handlers):
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    sys.excepthook = hook
    logging.captureWarnings(False)
    qInstallMessageHandler(None)


@pytest.mark.no_qt_log
def test_everything_goes_to_the_one_log(own_logging: None, tmp_path: Path) -> None:
    file = tmp_path / "the.log"
    start_log(file)
    logging.getLogger("somewhere").info("our own words")
    qWarning("words of Qt")
    try:
        raise RuntimeError("not caught by anybody")
    except RuntimeError as error:
        sys.excepthook(RuntimeError, error, error.__traceback__)
    content = file.read_text(encoding="utf-8")
    for words in ("our own words", "words of Qt", "not caught by anybody", "Traceback"):
        assert words in content
