"""An idle program leaves the processor alone: a ratio of processor time, read from the system."""

from __future__ import annotations

import time
from pathlib import Path

from app.main import main
from tests.flow.conftest import StartProgram
from tests.flow.program import Program, wait_for

WINDOW_S = 6.0
TRIES = 4
CPU_SHARE_MAX = 0.01


def share_over_window(programs: list[Program]) -> float:
    """The largest share of a core that one of the programs took over some seconds."""
    before = [program.cpu_s() for program in programs]
    start_s = time.monotonic()
    time.sleep(WINDOW_S)  # what is measured is this span itself
    span_s = time.monotonic() - start_s
    return max(
        (program.cpu_s() - used_s) / span_s
        for program, used_s in zip(programs, before, strict=True)
    )


def test_two_idle_programs_use_less_than_a_hundredth_of_a_core(
    start_program: StartProgram, tmp_path: Path
) -> None:
    note = tmp_path / "Quiet.liveobject"
    assert main(["new", str(note)]) == 0
    programs = [start_program(name, str(note)) for name in ("Ada", "Jun")]
    programs[0].focus()
    programs[0].type("quiet")
    wait_for("the text is everywhere", lambda: programs[1].text() == "quiet")
    # Start-up, catching up and caret flags take a few seconds to settle.
    shares = []
    for _ in range(TRIES):
        shares.append(share_over_window(programs))
        if shares[-1] < CPU_SHARE_MAX:
            return
    raise AssertionError(
        f"idle, but used {', '.join(f'{share:.1%}' for share in shares)} of a core"
    )
