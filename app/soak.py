"""Drives several real programs with random edits, pastes, kills and cuts for a given time, and
compares every character that they hold, round after round.

    python -m app.soak --seconds 60 [--programs 5] [--seed N] [--paste-kb 400]

Each program has a window (on no screen) with one object of every kind. Whatever was said to be
saved must be there at the end, on every one of them. Where network namespaces are permitted, each
program has a computer's network of its own, and a cut is a cable that is pulled; elsewhere it
leaves its groups. Beside them a lone program is killed again and again, and its disk filled.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from app.driven_program import START_S, DrivenFailed, wait_until
from app.lone_program import LoneProgram, LoneThread
from app.office_wires import NoWires, Wires
from app.players import Player, make_objects, shown_kinds
from app.stirring import LEDGER
from app.storm import Storm, Tally

AGREE_S = 90.0
PASTE_KB = 400
_ROUND_S = 30.0
_QUIET_POLLS = 3


def agree(players: list[Player], tally: Tally) -> dict[str, Any]:
    """Waits until all hold the same, and checks that nothing is missing; raises DrivenFailed."""
    for player in players:
        player.set_cut(False)
    quiet = 0
    busy: dict[str, Any] = {}

    def same() -> bool:
        nonlocal quiet, busy
        answers = [player.ask({"do": "digests"}) for player in players]
        busy = {
            player.name: answer.get("busy", "no answer")
            for player, answer in zip(players, answers, strict=True)
        }
        settled = not any(busy.values())
        digests = [answer.get("digests", {}) for answer in answers]
        equal = bool(digests[0]) and all(one == digests[0] for one in digests)
        quiet = quiet + 1 if settled and equal else 0
        return quiet >= _QUIET_POLLS

    try:
        wait_until("all hold the same", same, AGREE_S)
    except DrivenFailed as failure:
        contents = _contents(players)
        raise DrivenFailed(f"{failure} {_difference(_comparable(contents))} {busy}") from None
    contents = _contents(players)
    if any(one != _comparable(contents)[0] for one in _comparable(contents)):
        raise DrivenFailed(_difference(_comparable(contents)))
    for identity, marks in tally.claims.saved.items():
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


def _contents(players: list[Player]) -> list[dict[str, Any]]:
    return [player.ask({"do": "contents"}).get("contents", {}) for player in players]


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
    return "They hold the same, but not all are at rest:"


def _wires(programs: int) -> Wires | None:
    try:
        return Wires(programs)
    except NoWires as reason:
        sys.stderr.write(f"soak: no cables can be pulled, cuts are departures. {reason}\n")
        return None


def soak(
    folder: Path,
    programs: int,
    seconds: float,
    seed: int,
    *,
    paste_kb: int = PASTE_KB,
    alone: bool = True,
) -> dict[str, Any]:
    """One whole soak; what it did and what was compared. Raises DrivenFailed. With `alone` a lone
    program is killed beside the others."""
    chance = random.Random(seed)  # noqa: S311  no secret is made of it
    words = shown_kinds()
    files = make_objects(folder, words)
    players: list[Player] = []
    tally = Tally()
    wires = _wires(programs) if programs else None
    others = random.Random(seed + 1)  # noqa: S311
    lone = LoneProgram(folder / "alone", words, others) if alone else None
    try:
        players.extend(Player(number, folder, files, wires) for number in range(programs))
        for player in players:
            wait_until(f"{player.name} has its window", player.is_ready, START_S)
        rounds, held = _rounds(players, Storm(players, chance, tally, paste_kb), lone, seconds)
        errors = [line for player in players for line in player.log_errors()]
        errors += [] if lone is None else lone.log_errors()
        if errors:
            raise DrivenFailed(f"{len(errors)} errors were logged; the first: {errors[0]}")
    finally:
        for player in players:
            player.end()
        if lone is not None:
            lone.end()
        if wires is not None:
            wires.close()
    characters = {
        one["kind"]: len(json.dumps(one["document"], ensure_ascii=False)) for one in held.values()
    }
    marks = sum(len(marks) for marks in tally.claims.saved.values())
    return {
        "seed": seed,
        "programs": programs,
        "kinds": words,
        "rounds": rounds,
        "differences": 0,
        "stirs": tally.stirs,
        "kills": tally.kills + (0 if lone is None else lone.kills),
        "kills_alone": 0 if lone is None else lone.kills,
        "saved_checks": marks + (0 if lone is None else lone.claims.checked),
        "saved_marks": marks,
        "full_disks": 0 if lone is None else lone.full_disks,
        "full_disk_by": _disk_words(lone),
        "pastes": tally.pastes,
        "pasted_characters": tally.pasted_characters,
        "slowest_paste_s": round(tally.slowest_paste_s, 2),
        "freezes": tally.freezes,
        "cuts": tally.cuts,
        "cut_by": "leaving" if wires is None else "pulled cables",
        "characters": characters,
    }


def _rounds(
    players: list[Player], storm: Storm, lone: LoneProgram | None, seconds: float
) -> tuple[int, dict[str, Any]]:
    """Storms, each followed by a comparison, until the time is over; what all hold at the end."""
    thread = None
    if lone is not None:
        lone.wait()
        thread = LoneThread(lone)
        thread.start()
    end_s, rounds, held = time.monotonic() + seconds, 0, dict[str, Any]()
    try:
        while players and (not rounds or time.monotonic() < end_s):
            storm.blow(min(_ROUND_S, max(1.0, end_s - time.monotonic())))
            held = agree(players, storm.tally)
            rounds += 1
            if thread is not None and thread.failure is not None:
                break
        if thread is not None and not players:
            thread.join(seconds)
    finally:
        if thread is not None:
            thread.finish()
    return rounds, held


def _disk_words(lone: LoneProgram | None) -> str:
    if lone is None or not lone.full_disks:
        return "none"
    return "a small disk" if lone.has_own_disk else "a limit on its files"


def main() -> int:
    """Exit code 1 if the programs do not agree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the storms last")
    parser.add_argument("--programs", type=int, default=5, help="how many, beside a lone one")
    parser.add_argument("--seed", type=int, default=None, help="the same storm again")
    parser.add_argument(
        "--paste-kb", type=int, default=PASTE_KB, help="the longest paste, in 1000 characters"
    )
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().getrandbits(30)
    with tempfile.TemporaryDirectory(prefix="live-objects-soak-") as folder:
        try:
            result = soak(
                Path(folder),
                arguments.programs,
                arguments.seconds,
                seed,
                paste_kb=arguments.paste_kb,
            )
        except DrivenFailed as failure:
            sys.stderr.write(f"soak: {failure}\nsoak: again with --seed {seed}\n")
            return 1
    sys.stdout.write(json.dumps(result, ensure_ascii=False) + "\n")
    sys.stdout.write(_summary(result) + "\n")
    return 0


def _summary(result: dict[str, Any]) -> str:
    return (
        "soak: {kills} kills, {saved_checks} saved edits checked, {full_disks} full disks"
        " ({full_disk_by}), {pastes} pastes, {rounds} rounds, {differences} differences"
    ).format(**result)


if __name__ == "__main__":
    sys.exit(main())
