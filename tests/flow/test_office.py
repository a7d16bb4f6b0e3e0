"""People in an office, as real programs: seen, lost and found again, handed things, dragged to."""

from __future__ import annotations

import signal
import time
from pathlib import Path

from app.main import main
from tests.flow.conftest import StartProgram
from tests.flow.program import Program, wait_for

# Steps and pauses of a hand on a mouse; a drag needs several small moves.
_STEPS = 8
_STEP_S = 0.04


def people(program: Program) -> list[str]:
    return [str(one) for one in program.describe().get("people", [])]


def test_who_stops_answering_is_reconnecting_and_comes_back_with_everything(
    start_program: StartProgram, tmp_path: Path
) -> None:
    note = tmp_path / "Plan.liveobject"
    assert main(["new", str(note)]) == 0
    ada, jun, mia = (start_program(name, str(note)) for name in ("Ada", "Jun", "Mia"))
    for program in (ada, jun, mia):
        wait_for("three are in it", lambda p=program: "3 people here" in p.state())
    # Others on this computer may be near, too.
    wait_for("who looks at what", lambda: {"Jun: in Plan", "Mia: in Plan"} <= set(people(ada)))
    mia.process.send_signal(signal.SIGSTOP)
    try:
        wait_for("she is looked for", lambda: "Mia: reconnecting" in people(ada))
        ada.focus()
        ada.type("while Mia was away")
        wait_for("the other has it", lambda: jun.text() == "while Mia was away")
    finally:
        mia.process.send_signal(signal.SIGCONT)
    wait_for("she has it, too", lambda: mia.text() == "while Mia was away")
    wait_for("she is back", lambda: "Mia: in Plan" in people(ada))


def test_an_object_is_dragged_from_one_program_into_the_other(
    start_program: StartProgram, tmp_path: Path
) -> None:
    note = tmp_path / "Carried.liveobject"
    assert main(["new", str(note)]) == 0
    ada = start_program("Ada", "--size", "640x500", str(note))
    jun = start_program("Jun", "--size", "640x500")
    ada.move(0, 0, 640, 500)
    jun.move(640, 0, 640, 500)
    ada.focus()
    wait_for("the note is open", lambda: ada.text() == "")
    start = ada.describe()["object_icon"]
    drag(ada, start, (960, 250))
    wait_for("it is looked at first", lambda: jun.describe()["previews"] == ["Preview of Carried"])
    jun.focus()
    jun.key("space")
    wait_for("both are in it", lambda: "2 people here" in jun.state())


def drag(program: Program, start: tuple[int, int], end: tuple[int, int]) -> None:
    program.xdotool("mousemove", str(start[0]), str(start[1]))
    time.sleep(2 * _STEP_S)
    program.xdotool("mousedown", "1")
    for step in range(1, _STEPS + 1):
        x = start[0] + (end[0] - start[0]) * step // _STEPS
        y = start[1] + (end[1] - start[1]) * step // _STEPS
        program.xdotool("mousemove", str(x), str(y))
        time.sleep(_STEP_S)
    time.sleep(4 * _STEP_S)
    program.xdotool("mouseup", "1")
