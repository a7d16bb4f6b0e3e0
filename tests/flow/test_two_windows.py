"""The road of one edit, walked in both directions by two real programs on one screen."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.main import main
from tests.flow.conftest import StartProgram
from tests.flow.program import ROOT, WAIT_S, Program, take_screen, wait_for

PICTURES = ROOT / "build" / "pictures"


@pytest.fixture
def note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    file = tmp_path / "Team lunch.liveobject"
    assert main(["new", str(file)]) == 0
    return file


@pytest.fixture
def pair(start_program: StartProgram, note: Path) -> tuple[Program, Program]:
    ada = start_program("Ada", "--colour", "raspberry", str(note))
    jun = start_program("Jun", "--colour", "ocean", "--theme", "dark", str(note))
    ada.move(0, 0, 640, 700)
    jun.move(640, 0, 640, 700)
    for program in (ada, jun):
        wait_for("both are in the note", lambda p=program: "2 people here" in p.state())
    return ada, jun


def test_what_one_types_the_other_sees(pair: tuple[Program, Program], virtual_display: str) -> None:
    ada, jun = pair
    ada.focus()
    ada.type("Hello from Ada.")
    wait_for("the text is in the other window", lambda: jun.text() == "Hello from Ada.")
    jun.focus()
    jun.key("End", "Return")
    jun.type("Hello from Jun.")
    both = "Hello from Ada.\nHello from Jun."
    wait_for("the answer is in the first window", lambda: ada.text() == both)
    wait_for("nothing is unsent", lambda: jun.unsent() == 0)
    wait_for("it is saved", lambda: ada.state().startswith("saved"))
    wait_for("the caret is at the end", lambda: ada.carets() == {"Jun": len(both)})
    take_screen(virtual_display, PICTURES / "two-windows.png")
    ada.picture(PICTURES / "first-window.png")
    jun.picture(PICTURES / "second-window.png")


def test_both_at_once_become_one_text(pair: tuple[Program, Program]) -> None:
    """Two keyboards, as it were: the keys of both go to their windows at the same time."""
    ada, jun = pair
    words = {ada: "The quick brown fox jumps. ", jun: "Over the lazy dog it goes! "}
    typing = [program.start_typing(text) for program, text in words.items()]
    for keyboard in typing:
        assert keyboard.wait(WAIT_S) == 0

    def same() -> bool:
        one, two = ada.text(), jun.text()
        return one is not None and one == two and sorted(one) == sorted("".join(words.values()))

    wait_for("both windows show the same, and every letter", same)


def test_undo_is_ones_own(pair: tuple[Program, Program]) -> None:
    ada, jun = pair
    ada.focus()
    ada.type("mine ")
    wait_for("the first text is there", lambda: jun.text() == "mine ")
    jun.focus()
    jun.key("ctrl+End")
    jun.type("yours")
    wait_for("both texts are there", lambda: ada.text() == "mine yours")
    ada.focus()
    ada.key("ctrl+z")
    wait_for("only the own text is gone", lambda: ada.text() == jun.text() == "yours")


def test_what_somebody_who_is_silent_has_not_received_is_not_called_received(
    pair: tuple[Program, Program],
) -> None:
    ada, jun = pair
    jun.process.send_signal(signal.SIGSTOP)
    try:
        ada.focus()
        ada.type("anybody there?")
        # In the end the others take it for gone; then one is alone.
        known = ("not yet received by the others", "only you are here")
        wait_for("it is not called received", lambda: any(w in ada.state() for w in known))
    finally:
        jun.process.send_signal(signal.SIGCONT)
    wait_for("the letters are there", lambda: jun.text() == "anybody there?")
    wait_for("now they are received", lambda: ada.state() == "saved · 2 people here")


def test_who_comes_later_and_who_comes_back_have_everything(
    start_program: StartProgram, note: Path
) -> None:
    ada = start_program("Ada", str(note))
    wait_for("the note is open", lambda: ada.text() == "")
    ada.focus()
    ada.type("written alone")
    wait_for("it is saved", lambda: ada.state().startswith("saved"))
    jun = start_program("Jun", str(note))
    wait_for("the late one has it", lambda: jun.text() == "written alone")
    assert ada.quit() == 0
    wait_for("the other one is alone", lambda: "only you are here" in jun.state())
    jun.focus()
    jun.key("ctrl+End")
    jun.type(", then more")
    again = start_program("Ada", str(note))
    wait_for("the one who came back has it", lambda: again.text() == "written alone, then more")


def test_a_second_start_hands_its_file_over_and_one_key_makes_it_live(
    start_program: StartProgram, note: Path
) -> None:
    ada = start_program("Ada")
    assert ada.text() is None
    command = [sys.executable, "-m", "app.main", "--state-dir", str(ada.folder), str(note)]
    result = subprocess.run(command, cwd=ROOT, check=False, timeout=30)
    assert result.returncode == 0
    previews = lambda: ada.describe()["previews"]  # noqa: E731
    wait_for("it is looked at first", lambda: previews() == ["Preview of Team lunch"])
    ada.focus()
    ada.key("space")
    wait_for("the running program shows the note", lambda: ada.text() == "")
