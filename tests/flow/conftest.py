"""Programs for the flow tests, ended whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.flow.program import Program

StartProgram = Callable[..., Program]


@pytest.fixture
def start_program(virtual_display: str, tmp_path: Path) -> Iterator[StartProgram]:
    """Starts programs by name: `start_program("Ada", file, "--theme", "dark")`."""
    programs: list[Program] = []

    def start(name: str, *arguments: str) -> Program:
        program = Program(virtual_display, tmp_path / name, name, *arguments)
        programs.append(program)
        return program

    yield start
    for program in programs:
        program.quit()
