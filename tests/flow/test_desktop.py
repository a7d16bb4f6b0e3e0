"""Two real programs at desktops: dragging from the toolbox and between windows, writing in place,
undo of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.main import main
from tests.flow.conftest import StartProgram
from tests.flow.program import ROOT, Program, take_screen, wait_for

PICTURES = ROOT / "build" / "pictures"


@pytest.fixture
def desktop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    file = tmp_path / "Team.liveobject"
    assert main(["new", "--kind", "desktop", str(file)]) == 0
    return file


def start_pair(start: StartProgram, first: Path, second: Path) -> tuple[Program, Program]:
    ada = start("Ada", "--colour", "raspberry", str(first))
    jun = start("Jun", "--colour", "ocean", str(second))
    ada.move(0, 0, 640, 760)
    jun.move(640, 0, 640, 760)
    for program in (ada, jun):
        wait_for("the desktop is open", lambda p=program: p.front().get("kind") == "desktop")
    return ada, jun


def items(program: Program) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = program.front().get("items", [])
    return found


def text(program: Program) -> str | None:
    """What the first item shows, while it is live."""
    found = items(program)
    return found[0].get("shows", {}).get("text") if found else None


def place_note(program: Program) -> None:
    """Drags the note out of the toolbox onto the desktop."""
    tool = program.describe()["tools"]["note"]
    start = (int(tool[0]), int(tool[1]))
    left, top = 140, 240

    def offered() -> None:
        words = "Make a new note here"
        wait_for("the ghost says what comes", lambda: program.front().get("drop") == words)

    corner = program.xdotool("getwindowgeometry", "--shell", program.window)
    x = next(int(line[2:]) for line in corner.split() if line.startswith("X="))
    program.drag(start, (x + left, top), offered)
    wait_for("the note lies there", lambda: len(items(program)) == 1)


def click_inside(program: Program) -> None:
    """One click chooses, one more works inside."""
    x, y = items(program)[0]["on_screen"]
    if not program.front().get("selected"):
        program.click(x + 150, y + 150)
        wait_for("it is chosen", lambda: program.front().get("selected"))
        program.xdotool("sleep", "0.6")  # or it would be a double click
    program.click(x + 150, y + 150)
    wait_for("one is inside", lambda: program.front().get("inside"))


def test_a_note_from_the_toolbox_is_written_in_place_by_both(
    start_program: StartProgram, desktop: Path, virtual_display: str
) -> None:
    ada, jun = start_pair(start_program, desktop, desktop)
    for program in (ada, jun):
        wait_for("both are there", lambda p=program: "2 people here" in p.state())
    place_note(ada)
    wait_for("the other one sees it", lambda: len(items(jun)) == 1)
    ada.focus()
    click_inside(ada)
    ada.type("Hello from Ada.")
    wait_for("the other one reads it on the desktop", lambda: text(jun) == "Hello from Ada.")
    jun.focus()
    click_inside(jun)
    jun.key("ctrl+End", "Return")
    jun.type("And from Jun.")
    both = "Hello from Ada.\nAnd from Jun."
    wait_for("the first one reads the answer", lambda: text(ada) == both)
    take_screen(virtual_display, PICTURES / "desktops.png")
    ada.focus()
    for _ in range(20):
        if text(ada) == "\nAnd from Jun.":
            break
        ada.key("ctrl+z")
    wait_for("only the own text is gone", lambda: text(jun) == "\nAnd from Jun.")
    ada.key("Escape")
    wait_for("one is outside", lambda: ada.front().get("inside") is None)
    ada.key("ctrl+z")
    wait_for("the note was hers to take back", lambda: items(jun) == [])


def test_an_object_is_dragged_from_one_program_onto_the_desktop_of_another(
    start_program: StartProgram, desktop: Path, tmp_path: Path
) -> None:
    other = tmp_path / "Other.liveobject"
    assert main(["new", "--kind", "desktop", str(other)]) == 0
    ada, jun = start_pair(start_program, desktop, other)
    place_note(ada)
    (item,) = items(ada)
    x, y = item["on_screen"]

    def offered() -> None:
        wait_for(
            "the ghost over there says what comes",
            lambda: str(jun.front().get("drop")).startswith(f"Put “{item['name']}” here"),
        )

    ada.drag((x + 18, y + 16), (900, 400), offered)
    wait_for("it lies on the other desktop", lambda: len(items(jun)) == 1)
    assert items(jun)[0]["name"] == item["name"]
    assert len(items(ada)) == 1
    ada.focus()
    click_inside(ada)
    ada.type("one note, two desktops")
    wait_for("it is the same note", lambda: text(jun) == "one note, two desktops")
