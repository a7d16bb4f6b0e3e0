"""A document written by two real programs with real keys, one of them killed in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.main import main
from tests.flow.conftest import StartProgram
from tests.flow.program import ROOT, Program, wait_for

PICTURES = ROOT / "build" / "pictures"


@pytest.fixture
def document(tmp_path: Path) -> Path:
    file = tmp_path / "Report.liveobject"
    assert main(["new", str(file), "--kind", "document"]) == 0
    return file


def outline(program: Program) -> list[list[str]]:
    """Look and words of each paragraph in front, as the program says itself."""
    for entry in program.describe().get("objects", []):
        if entry["in_front"]:
            return [list(line) for line in entry["outline"]]
    return []


def test_two_people_format_one_document_and_one_comes_back(
    start_program: StartProgram, document: Path
) -> None:
    ada = start_program("Ada", str(document))
    jun = start_program("Jun", "--theme", "dark", str(document))
    ada.move(0, 0, 640, 700)
    jun.move(640, 0, 640, 700)
    for program in (ada, jun):
        wait_for("both are in it", lambda p=program: "2 people here" in p.state())
    ada.focus()
    ada.type("# Plan")
    ada.key("Return")
    ada.type("- [] first")
    ada.key("Return")
    ada.key("ctrl+b")
    ada.type("second")
    expected = [["h1", "Plan"], ["check", "first"], ["check", "second"]]
    wait_for("the outline is there", lambda: outline(jun) == expected)
    jun.focus()
    jun.key("ctrl+Home", "ctrl+2")
    expected[0][0] = "h2"
    wait_for("the heading is smaller", lambda: outline(ada) == expected)
    ada.focus()
    ada.key("ctrl+z")
    wait_for("one's own words go", lambda: outline(ada)[:2] == expected[:2])
    wait_for("the same for both", lambda: outline(ada) == outline(jun))
    before = outline(ada)
    ada.picture(PICTURES / "document.png")
    wait_for("it is saved", lambda: jun.state().startswith("saved"))
    jun.process.kill()
    jun.process.wait()
    again = start_program("Jun", str(document))
    wait_for("all of it is there again", lambda: outline(again) == before)
