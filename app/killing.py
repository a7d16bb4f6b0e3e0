"""Kills a program at random instants while it is written in, and checks what it had called saved.

A mark goes into every open object with each edit. Whatever object the window calls saved at some
moment must hold, after the kill and a new start, all marks that were written before that moment.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.driven_program import DrivenFailed
from app.stirring import LEDGER

_EDITS_MAX = 6
# Long enough that all is saved between two edits now and then, short enough that it often is not.
_PAUSE_S_MAX = 0.5


class Killed(Protocol):
    """A program that can be killed and asked; `app.driven_program.DrivenProgram` is one."""

    name: str

    def ask(self, request: dict[str, Any]) -> dict[str, Any]: ...

    def contents(self) -> dict[str, Any]: ...

    def kill(self) -> None: ...


@dataclass
class Claims:
    """What programs have called saved, by object."""

    saved: dict[str, set[str]] = field(default_factory=dict)
    written: int = 0
    checked: int = 0

    def add(self, identities: list[str], marks: list[str]) -> None:
        for identity in identities:
            self.saved.setdefault(identity, set()).update(marks)


def write_until_killed(
    program: Killed, chance: random.Random, claims: Claims, after_s: float
) -> None:
    """Writes into every object of the program, which is killed so many seconds from now."""
    killing = threading.Timer(after_s, program.kill)
    killing.start()
    marks: list[str] = []
    while killing.is_alive():
        claims.written += 1
        marks.append(f"{program.name}-k{claims.written}")
        request = {"do": "write", "seed": chance.getrandbits(30), "mark": marks[-1]}
        answer = program.ask({**request, "edits": chance.randint(1, _EDITS_MAX)})
        if "saved" not in answer:
            continue
        claims.add(answer["saved"], marks)
        until_s = time.monotonic() + chance.uniform(0, _PAUSE_S_MAX)
        while time.monotonic() < until_s and killing.is_alive():
            claims.add(program.ask({"do": "saved"}).get("saved", []), marks)
    killing.join()


def check_claims(program: Killed, claims: Claims) -> None:
    """Raises DrivenFailed if something that was called saved is gone."""
    held = program.contents()
    for identity, marks in claims.saved.items():
        ledger = held[identity]["document"].get(LEDGER, {})
        lost = sorted(marks - ledger.keys())
        if lost:
            kind = held[identity]["kind"]
            raise DrivenFailed(
                f"{program.name} had called {len(lost)} edits of its {kind} saved that are gone "
                f"after a kill, such as {lost[0]}."
            )
        claims.checked += len(marks)


def kill_once(
    program: Killed, chance: random.Random, claims: Claims, again: Callable[[], None]
) -> None:
    """One kill at a random instant; `again` starts the program and waits for its window."""
    write_until_killed(program, chance, claims, chance.uniform(0.05, 1.0))
    again()
    check_claims(program, claims)
