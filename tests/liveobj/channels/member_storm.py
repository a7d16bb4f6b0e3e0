"""Random storms of members that misbehave, in the simulator, and an oracle for the honest ones.

    python -m tests.liveobj.channels.member_storm --seconds 60
    python -m tests.liveobj.channels.member_storm --seed 17
    python -m tests.liveobj.channels.member_storm --planted --seconds 20

A storm follows from its seed. `--planted` disables one rule of catching up after the other and
expects that storms find each of them.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from liveobj.channels import catch_up, claims, document_channel, greeting_limit
from tests.liveobj.channels.bad_members import BEHAVIOURS, Flooder, Impostor, Member, MixedOffice
from transport.simulation import Link

AGREE_S = 45.0
QUIET_S = 90.0
# One who comes when all bad members have failed before is answered at once.
PASSED_OVER_S = 0.9
STEPS = 14


class Wrong(AssertionError):
    """What the oracle has found."""


@dataclass
class Ledger:
    """What honest members did, written down apart from what they hold."""

    marks: list[str] = field(default_factory=list)
    comings: int = 0  # of anybody
    goings: int = 0
    answered: int = 0  # by honest members who have left

    def next_mark(self) -> str:
        self.marks.append(f"‹{len(self.marks)}›")
        return self.marks[-1]


class Storm:
    """Members of both kinds come, write, go and are cut off."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.ledger = Ledger()
        self.nodes = self.rng.choice([4, 5, 6, 8])
        loss = self.rng.choice([0.0, 0.0, 0.02])
        self.office = MixedOffice(folder, self.nodes, seed, Link(loss=loss))
        self.told_max = self.rng.choice([64, 64, 2, 0])
        self.bad_kinds = self.rng.sample(sorted(BEHAVIOURS), self.rng.randrange(1, 4))
        self.reading = self.rng.random() < 0.5
        self.started = self.office.simulation.time()

    def run(self) -> None:
        with patch.object(document_channel, "WRITERS_TOLD_MAX", self.told_max):
            if self.reading:
                self._read()
            else:
                self._write()
            self._check()

    def _write(self) -> None:
        self._come()
        for _ in range(STEPS):
            self._step()
        while len(self.office.members) < self.nodes:
            self._come()

    def _read(self) -> None:
        """Nobody writes; what those who have gone wrote is passed on to newcomers."""
        self.nodes = len(self.office.engines)
        self.office.write_before("‹base›", "‹more›", "‹rest›")
        self.ledger.marks += ["‹base›", "‹more›", "‹rest›"]
        for number in range(self.nodes - 2):
            self._come(kept=number < 3 or self.rng.random() < 0.5)
        self._agree("while they come")
        self.office.run(self.rng.choice([0.0, 5.0]))
        before = self._answers()
        # Who had nothing to claim until now has not failed yet; nor has anybody where answers to a
        # flood serve the newcomer, too.
        had_all = len({member.text for member in self.office.members}) == 1
        late_to_lie = Flooder | Impostor  # an impostor lies from when it has something
        had_all &= not any(isinstance(member, late_to_lie) for member in self.office.members)
        self._come(bad=False)
        self._agree("after a newcomer")
        self._check_answers(before, 2 + len(self.office.members) - len(self.office.honest))
        self.office.run(40)
        before = self._answers()
        self._come(bad=False)
        if had_all and not self.office.simulation.run_until(self.office.agree, PASSED_OVER_S):
            raise Wrong("the bad ones are asked first again")
        self._agree("after another newcomer")
        self.office.run(20)
        self._check_answers(before, 1 if had_all else len(self.office.members))

    def _answers(self) -> int:
        return sum(m.counters.answers for m in self.office.honest) + self.ledger.answered

    def _check_answers(self, before: int, most: int) -> None:
        floods = sum(1 for member in self.office.members if isinstance(member, Flooder))
        answers = self._answers() - before
        if answers > most + 12 * floods:
            raise Wrong(f"{answers} answers for one newcomer, at most {most}")

    def _step(self) -> None:
        match self.rng.randrange(6):
            case 0 | 1 if len(self.office.members) < self.nodes:
                self._come()
            case 2 if len(self.office.honest) > 2:
                self._go()
            case 3:
                self.office.run(self.rng.choice([0.1, 3.0, 20.0]))
            case _ if self.office.honest:
                writers = [m for m in self.office.honest if m.document.editable]
                if writers:
                    self.rng.choice(writers).type(self.ledger.next_mark())
            case _:
                self.office.run(1)

    def _come(self, *, bad: bool | None = None, kept: bool = False) -> None:
        left = self.nodes - len(self.office.members)
        honest = len(self.office.honest)
        if bad is None:
            bad = self.rng.random() < 0.4 and (honest > 0 or left > 3)
        kind = BEHAVIOURS[self.rng.choice(self.bad_kinds)] if bad else Member
        editor = self.rng.random() < 0.7 or (not bad and honest == 0)
        self.office.join(kind, editor=editor, kept=kept or (self.reading and honest == 0))
        self.ledger.comings += 1

    def _go(self) -> None:
        """An honest one leaves; what only it has may go with it, so not before all have the
        same."""
        self._agree("before one leaves")
        editors = [m for m in self.office.honest if m.document.editable]
        leaver = self.rng.choice(self.office.honest)
        if editors != [leaver]:
            self.office.honest.remove(leaver)
            self.ledger.answered += leaver.counters.answers
            leaver.close()
            self.office.until(self.office.together)
            self.ledger.goings += 1

    # The oracle

    def _agree(self, when: str) -> None:
        if not self.office.simulation.run_until(self.office.agree, AGREE_S):
            texts = [member.text for member in self.office.honest]
            raise Wrong(f"honest members differ after {AGREE_S} s, {when}: {texts}")

    def _check(self) -> None:
        self._agree("at the end")
        text = self.office.honest[0].text
        for mark in self.ledger.marks:
            if text.count(mark) != 1:
                raise Wrong(f"{mark} is there {text.count(mark)} times: {text}")
        self.office.run(QUIET_S)
        if any(member.state.catching_up for member in self.office.honest):
            raise Wrong(f"somebody waits for what there is not, {QUIET_S} s after the end")
        self._check_counts()

    def _check_counts(self) -> None:
        """How much honest members may send because of others; it does not know how they decide."""
        seconds = self.office.simulation.time() - self.started
        changes = self.ledger.comings + self.ledger.goings
        answers = self._answers()
        floods = sum(1 for member in self.office.members if isinstance(member, Flooder))
        # One for each writer after a coming, twice where somebody had to step in.
        most = 2 * changes * self.nodes + floods * self.nodes * 12
        if answers > most:
            raise Wrong(f"{answers} answers after {changes} comings and goings, at most {most}")
        for member in self.office.honest:
            for node, heard in member.heard_greetings.items():
                if heard > 20 + 3 * changes + 1.1 * seconds:
                    raise Wrong(f"{heard} greetings of {node:x} were heard in {seconds:.0f} s")


class _Errors(logging.Handler):
    """Errors that a channel has survived: they are wrong all the same."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.first: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        self.first = self.first or f"{record.getMessage()}: {record.exc_info}"


def run_storm(seed: int) -> str | None:
    """What went wrong with this seed; None if nothing did."""
    errors = _Errors()
    log = document_channel.log
    log.addHandler(errors)
    with tempfile.TemporaryDirectory() as folder, patch.object(log, "propagate", False):
        storm = Storm(Path(folder), seed)
        try:
            storm.run()
            if errors.first is not None:
                raise Wrong(errors.first)
        except AssertionError as problem:
            return f"seed {seed}: {problem} (bad: {', '.join(storm.bad_kinds)})"
        finally:
            log.removeHandler(errors)
            storm.office.close()
    return None


# Rules, each with what disables it


def _patched(target: object, name: str, value: object) -> Callable[[], object]:
    return lambda: patch.object(target, name, value)


PLANTED: dict[str, Callable[[], object]] = {
    "silent seniors are waited for": _patched(catch_up, "SILENT_AFTER_S", 1e9),
    "nobody steps in": _patched(catch_up, "delay_of", lambda rank: 1e9 if rank else 0.0),
    "all send at once": _patched(catch_up, "delay_of", lambda rank: 0.0),
    "the silent are in the order": _patched(
        catch_up.CatchUp, "_able", lambda self, node: self._others[node].can_answer
    ),
    "nobody remembers who failed": _patched(
        catch_up.CatchUp, "_blame", lambda self, sender, to, span: None
    ),
    "the silent are waited for in every view": _patched(
        catch_up.CatchUp, "_note_silent", lambda self, nodes: None
    ),
    "what is sent is not heard": _patched(
        catch_up.CatchUp, "on_update", lambda self, sender, start, end: None
    ),
    "pieces are waited for without end": _patched(catch_up, "TRANSFER_S_MAX", 1e9),
    "impossible claims are believed": _patched(claims.Claims, "_doubt", lambda self, key, c: None),
    "everybody may greet at will": _patched(
        greeting_limit.GreetingLimit, "admit", lambda self, node: True
    ),
    "the same is sent again at will": _patched(catch_up, "AGAIN_S_MAX", 1e-9),
    "nothing is asked for twice": _patched(claims.Claims, "ask", lambda self, mine: False),
}


@contextmanager
def planted(name: str) -> Iterator[None]:
    context: object = PLANTED[name]()
    with context:  # type: ignore[attr-defined]
        yield


def find_planted(name: str, seconds: float, seeds: Iterator[int]) -> str | None:
    """The first storm that finds the planted bug."""
    end = time.monotonic() + seconds
    with planted(name):
        while time.monotonic() < end:
            found = run_storm(next(seeds))
            if found is not None:
                return found
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, help="run this storm alone")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--planted", action="store_true", help="disable rule after rule")
    options = parser.parse_args()
    seeds = iter(range(options.first, sys.maxsize))
    if options.planted:
        missed = []
        for name in PLANTED:
            found = find_planted(name, options.seconds, seeds)
            print(f"{name}: {'NOT FOUND' if found is None else found[:150]}", flush=True)
            missed += [name] if found is None else []
        print(f"{len(PLANTED) - len(missed)} of {len(PLANTED)} planted bugs found")
        return 1 if missed else 0
    return _sweep(options.seed, seeds, options.seconds)


def _sweep(seed: int | None, seeds: Iterator[int], seconds: float) -> int:
    problems, storms = 0, 0
    end = time.monotonic() + seconds
    while storms == 0 or (seed is None and time.monotonic() < end):
        problem = run_storm(next(seeds) if seed is None else seed)
        storms += 1
        if problem is not None:
            problems += 1
            print(problem)
            print("  again: python -m tests.liveobj.channels.member_storm --seed N")
    print(f"{storms} storms of bad members, {problems} of them with problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
