"""A private network by two real windows: made, shared by comparing a code, joined, used."""

from __future__ import annotations

import re
import time
from pathlib import Path

from app.network_profile import NetworkProfile
from app.paths import find_paths
from tests.flow.conftest import StartProgram
from tests.flow.program import Program, wait_for
from transport.scopes import NEARBY, Scope

_CODE = re.compile(r"\d{3} \d{3}")


def words(program: Program) -> list[str]:
    """What can be read on the page in front."""
    return list(program.describe()["card"].get("words", []))


def reads(program: Program, beginning: str) -> str:
    """Waits until the page in front has a line that begins so; gives the line."""

    def line() -> str:
        return next((each for each in words(program) if each.startswith(beginning)), "")

    return wait_for(f"{program.name} reads {beginning!r}", line)


def press(program: Program, beginning: str) -> None:
    """Clicks on the button that says so, when it is there."""

    def place() -> list[int] | None:
        buttons = program.describe()["card"].get("buttons", {})
        return next((at for said, at in buttons.items() if said.startswith(beginning)), None)

    at = wait_for(f"{program.name} has a button {beginning!r}", place)
    program.focus()
    program.click(*at)


def open_page(program: Program) -> None:
    """As the page itself tells people to: by searching for it."""

    def opened() -> bool:
        # On a busy computer the keys may come before the window is ready for them.
        program.focus()
        program.key("Escape", "ctrl+k")
        program.type("Office network")
        program.key("Return")
        until_s = time.monotonic() + 3
        while time.monotonic() < until_s:
            if "Your network" in words(program):
                return True
            time.sleep(0.05)
        return False

    wait_for(f"{program.name} has opened the page", opened)


def code(program: Program) -> str:
    return wait_for(
        f"{program.name} sees a code",
        lambda: next((each for each in words(program) if _CODE.fullmatch(each)), ""),
    )


def scope_of(folder: Path) -> Scope:
    return NetworkProfile.of(find_paths({}, folder)).scope()


def test_two_people_make_a_private_network_and_are_in_it_after_the_next_start(
    start_program: StartProgram, tmp_path: Path
) -> None:
    ada = start_program("Ada", "--size", "640x700")
    jun = start_program("Jun", "--size", "640x700")
    ada.move(0, 0, 640, 700)
    jun.move(640, 0, 640, 700)
    open_page(ada)
    ada.type("Design team")
    ada.key("Return")
    assert reads(ada, "From the next start").startswith("From the next start: Design team")
    press(ada, "Invite somebody near")
    address = wait_for(
        "an address to type",
        lambda: next((each for each in words(ada) if each.startswith("127.0.0.1:")), ""),
    )
    open_page(jun)
    press(jun, "Join a private network")
    # Found by mDNS, with nothing typed; the address is only said to tell others apart.
    press(jun, f"Ada at {address}")
    assert code(jun) == code(ada)
    press(jun, "The codes are the same")
    assert scope_of(jun.folder) == NEARBY  # not before both have said so
    press(ada, "The codes are the same")
    reads(jun, "You have joined Design team")
    assert scope_of(jun.folder) == scope_of(ada.folder)
    assert [ada.quit(), jun.quit()] == [0, 0]
    again = [start_program(name, "--size", "640x700") for name in ("Ada", "Jun")]
    for program in again:
        wait_for(
            "the network is named at the foot of the window",
            lambda p=program: p.describe()["network"].startswith("Design team: multicast ok"),
        )
    wait_for(
        "they see each other", lambda: any("Jun" in one for one in again[0].describe()["people"])
    )
    renew_and_leave_out(*again)


def renew_and_leave_out(ada: Program, jun: Program) -> None:
    """Ada gives the network a new key, without Jun, who is told."""
    old = scope_of(ada.folder)
    ada.move(0, 0, 640, 700)
    jun.move(640, 0, 640, 700)
    open_page(ada)
    press(ada, "Members and key")
    reads(ada, "Who is in this network")
    press(ada, "Jun · ")
    press(ada, "Renew the key without 1")
    reads(ada, "The network has a new key")
    wait_for("it is kept", lambda: scope_of(ada.folder).generation == 1)
    wait_for(
        "the other is told",
        lambda: jun.describe()["network"] == "Design team: not a member any more",
    )
    assert scope_of(jun.folder) == old
