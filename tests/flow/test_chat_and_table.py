"""A chat, a table and shared files in the windows of two real programs, with real keys and real
streams."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.main import main
from tests.flow.conftest import StartProgram
from tests.flow.program import ROOT, Program, wait_for

PICTURES = ROOT / "build" / "pictures"


def new_object(folder: Path, kind: str, title: str) -> Path:
    file = folder / f"{title}.liveobject"
    assert main(["new", "--kind", kind, str(file)]) == 0
    return file


def active_title(program: Program) -> str:
    return program.xdotool("getactivewindow", "getwindowname", check=False)


def pair(start_program: StartProgram, file: Path) -> tuple[Program, Program]:
    ada = start_program("Ada", "--colour", "raspberry", str(file))
    jun = start_program("Jun", "--colour", "ocean", "--theme", "dark", str(file))
    ada.move(0, 0, 640, 700)
    jun.move(640, 0, 640, 700)
    for program in (ada, jun):
        wait_for("both are in it", lambda p=program: "2 people here" in p.state())
    return ada, jun


@pytest.mark.usefixtures("capsys")
def test_two_people_talk_then_count(start_program: StartProgram, tmp_path: Path) -> None:
    chat = new_object(tmp_path, "chat", "Lunch")
    table = new_object(tmp_path, "table", "Shopping")
    ada, jun = pair(start_program, chat)
    ada.focus()
    ada.type("Lunch at noon?")
    wait_for("one sees who is writing", lambda: jun.front().get("typing") == ["Ada"])
    ada.key("Return")
    jun.focus()
    jun.type("Yes, on the terrace")
    jun.key("Return")
    said = ["Lunch at noon?", "Yes, on the terrace"]
    for program in (ada, jun):
        wait_for(
            "both have what was said",
            lambda p=program: [m["text"] for m in p.front().get("messages", [])] == said,
        )
    ada.picture(PICTURES / "chat.png")

    for program in (ada, jun):
        program.open(table)
        wait_for("the table is open", lambda p=program: p.front().get("kind") == "table")
    wait_for("both are in the table", lambda: "2 people here" in jun.state())
    ada.focus()
    ada.type("12")
    ada.key("Return")
    ada.type("30")
    ada.key("Return")
    wait_for("the other has both", lambda: jun.front().get("rows") == [["12"], ["30"]])
    jun.focus()
    jun.key("Down", "Down")
    jun.type("=SUM(A1:A2)")
    jun.key("Return")
    wait_for(
        "the sum is in both windows",
        lambda: ada.front().get("rows") == jun.front().get("rows") == [["12"], ["30"], ["42"]],
    )
    wait_for("one sees where the other is", lambda: "Jun" in ada.front().get("others", {}))
    ada.focus()
    ada.key("ctrl+z")
    wait_for("undo is one's own", lambda: jun.front()["rows"] == [["12"], [""], ["12"]])
    ada.picture(PICTURES / "table.png")


@pytest.mark.usefixtures("capsys")
def test_a_file_goes_from_one_program_to_the_other(
    start_program: StartProgram, tmp_path: Path
) -> None:
    picture = tmp_path / "plan.bin"
    picture.write_bytes(bytes(range(256)) * 8000)
    ada, jun = pair(start_program, new_object(tmp_path, "files", "Plans"))
    ada.focus()
    ada.key("ctrl+k")
    ada.type("Add files")
    ada.key("Return")
    wait_for("the question is there", lambda: "Add files" in active_title(ada))
    ada.type(str(picture))
    ada.key("Return")
    for program in (ada, jun):
        wait_for(
            "the content is here",
            lambda p=program: [f["state"] for f in p.front().get("files", [])] == ["here"],
        )
    assert ada.front()["files"] == jun.front()["files"]
