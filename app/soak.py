"""Drives several real programs with random edits, kills and cuts for a given time, then compares
every character that they hold.

    python -m app.soak --seconds 60 [--programs 5] [--seed N]

Each program has a window (on no screen) with one object of every kind. Whatever was said to be
saved must be there at the end, on every one of them. Where network namespaces are permitted, each
program has a computer's network of its own, and a cut is a cable that is pulled; elsewhere it
leaves its groups.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.driven_program import START_S, DrivenFailed, DrivenProgram, wait_until
from app.office_wires import INTERFACE, NoWires, Wires
from app.stirring import LEDGER
from liveobj.objects.catalogue import MAKERS
from liveobj.references import write_reference_file

AGREE_S = 90.0
_EDITS_MAX = 20
_CUT_S_MAX = 5.0
_QUIET_POLLS = 3


@dataclass
class Tally:
    """What has been done to the programs."""

    stirs: int = 0
    kills: int = 0
    freezes: int = 0
    cuts: int = 0
    marks: dict[str, set[str]] = field(default_factory=dict)  # by object: what was said to be saved


class Player(DrivenProgram):
    """One program with all objects open. Attributes: `cut`, whether it is apart from the others."""

    def __init__(self, number: int, folder: Path, files: list[Path], wires: Wires | None) -> None:
        self._number = number
        self._count = len(files)
        self._wires = wires
        self.cut = False
        opened = [str(file) for file in files]
        if wires is None:
            super().__init__(folder, f"P{number}", *opened)
        else:
            place, name = wires.at(number), f"P{number}"
            super().__init__(folder, name, *opened, before=place, interface=INTERFACE)

    def set_cut(self, cut: bool) -> None:
        """Cuts it off from the others, or joins it to them again."""
        self.cut = cut
        if self._wires is None:
            self.ask({"do": "offline", "on": cut})
        elif cut:
            self._wires.cut(self._number)
        else:
            self._wires.mend(self._number)

    def is_ready(self) -> bool:
        self.check_alive()
        return len(self.contents()) == self._count

    def log_errors(self) -> list[str]:
        log = self.folder / "live-objects.log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        return [line for line in lines if " CRITICAL " in line or " ERROR " in line]


def make_objects(folder: Path, words: list[str]) -> list[Path]:
    """A new object of each kind."""
    files = []
    for word in words:
        files.append(folder / f"{word}.liveobject")
        write_reference_file(MAKERS[word](word.capitalize(), os.urandom), files[-1])
    return files


def shown_kinds() -> list[str]:
    """The kinds that have a view; asked of another process, as this one has no window."""
    program = (
        "import json; from widgets.kinds import KINDS; print(json.dumps([k.word for k in KINDS]))"
    )
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    answer = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    words: list[str] = json.loads(answer.stdout)
    return [word for word in words if word in MAKERS]


def storm(players: list[Player], chance: random.Random, seconds: float, tally: Tally) -> None:
    """Edits, kills, freezes and cuts, one after another."""
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        player = chance.choice(players)
        dice = chance.random()
        if dice < 0.05:
            tally.kills += 1
            player.kill()
            # A program looks for a network that is there when it starts.
            player.set_cut(False)
            player.start()
            wait_until(f"{player.name} is back", player.is_ready, START_S)
        elif dice < 0.10:
            tally.freezes += 1
            player.process.send_signal(signal.SIGSTOP)
            others = [one for one in players if one is not player]
            until_s = time.monotonic() + chance.uniform(0.5, _CUT_S_MAX)
            while time.monotonic() < until_s:
                _stir(chance.choice(others), chance, tally)
            player.process.send_signal(signal.SIGCONT)
        elif dice < 0.20:
            tally.cuts += 1
            player.set_cut(not player.cut)
        else:
            _stir(player, chance, tally)


def _stir(player: Player, chance: random.Random, tally: Tally) -> None:
    tally.stirs += 1
    mark = f"{player.name}-{tally.stirs}"
    seed, edits = chance.getrandbits(30), chance.randint(1, _EDITS_MAX)
    answer = player.ask({"do": "stir", "seed": seed, "edits": edits, "mark": mark})
    for identity in answer.get("saved", []):
        tally.marks.setdefault(identity, set()).add(mark)


def agree(players: list[Player], tally: Tally) -> dict[str, Any]:
    """Waits until all hold the same, and checks that nothing is missing; raises DrivenFailed."""
    for player in players:
        player.set_cut(False)
    contents: list[dict[str, Any]] = []
    quiet = 0

    def same() -> bool:
        nonlocal contents, quiet
        answers = [player.ask({"do": "contents"}) for player in players]
        contents = [answer.get("contents", {}) for answer in answers]
        settled = not any(answer.get("busy", True) for answer in answers)
        documents = _comparable(contents)
        equal = bool(documents[0]) and all(one == documents[0] for one in documents)
        quiet = quiet + 1 if settled and equal else 0
        return quiet >= _QUIET_POLLS

    try:
        wait_until("all hold the same", same, AGREE_S)
    except DrivenFailed as failure:
        raise DrivenFailed(f"{failure} {_difference(_comparable(contents))}") from None
    for identity, marks in tally.marks.items():
        ledger = contents[0][identity]["document"].get(LEDGER, {})
        lost = marks - ledger.keys()
        if lost:
            raise DrivenFailed(f"{len(lost)} edits that were saved are gone from {identity}.")
    for player, held in zip(players, contents, strict=True):
        for one in held.values():
            text = one["document"].get("text")
            if one["kind"] == "note" and one["shown"]["text"] != text:
                raise DrivenFailed(f"The window of {player.name} does not show what it holds.")
    return contents[0]


def _comparable(contents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: one["document"] for key, one in held.items()} for held in contents]


def _difference(documents: list[dict[str, Any]]) -> str:
    """Where the first difference is, for whoever has to find out."""
    for number, held in enumerate(documents[1:], 1):
        for identity, document in documents[0].items():
            other = held.get(identity)
            if other != document:
                names = [n for n in document if other is None or other.get(n) != document[n]]
                return f"Program {number} differs from the first in {identity[:12]}: {names}."
    return "Somebody is still busy."


def _wires(programs: int) -> Wires | None:
    try:
        return Wires(programs)
    except NoWires as reason:
        sys.stderr.write(f"soak: no cables can be pulled, cuts are departures. {reason}\n")
        return None


def soak(folder: Path, programs: int, seconds: float, seed: int) -> dict[str, Any]:
    """One whole soak; what it did and what was compared. Raises DrivenFailed."""
    chance = random.Random(seed)  # noqa: S311  no secret is made of it
    words = shown_kinds()
    files = make_objects(folder, words)
    players: list[Player] = []
    tally = Tally()
    wires = _wires(programs)
    try:
        players.extend(Player(number, folder, files, wires) for number in range(programs))
        for player in players:
            wait_until(f"{player.name} has its window", player.is_ready, START_S)
        storm(players, chance, seconds, tally)
        held = agree(players, tally)
        errors = [line for player in players for line in player.log_errors()]
        if errors:
            raise DrivenFailed(f"{len(errors)} errors were logged; the first: {errors[0]}")
    finally:
        for player in players:
            player.end()
        if wires is not None:
            wires.close()
    characters = {
        one["kind"]: len(json.dumps(one["document"], ensure_ascii=False)) for one in held.values()
    }
    marks = sum(len(marks) for marks in tally.marks.values())
    return {
        "seed": seed,
        "programs": programs,
        "kinds": words,
        "stirs": tally.stirs,
        "kills": tally.kills,
        "freezes": tally.freezes,
        "cuts": tally.cuts,
        "cut_by": "leaving" if wires is None else "pulled cables",
        "saved_marks": marks,
        "characters": characters,
    }


def main() -> int:
    """Exit code 1 if the programs do not agree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the storm lasts")
    parser.add_argument("--programs", type=int, default=5, help="how many programs")
    parser.add_argument("--seed", type=int, default=None, help="the same storm again")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().getrandbits(30)
    with tempfile.TemporaryDirectory(prefix="live-objects-soak-") as folder:
        try:
            result = soak(Path(folder), arguments.programs, arguments.seconds, seed)
        except DrivenFailed as failure:
            sys.stderr.write(f"soak: {failure}\nsoak: again with --seed {seed}\n")
            return 1
    sys.stdout.write(json.dumps(result, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
