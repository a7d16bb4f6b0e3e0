"""Tests the tester: plants one bug after the other in the engine and lets the swarm look for it.

A planted bug is a place in the engine's sources that says `QSM_BUG(7)`, which is true only in a
build with `-DQSM_PLANTED_BUG=7`. What each number breaks is said in src/core/planted.h, in lines
such as ` *  7: a duplicate is delivered again`. Only sources that name it are compiled again.

    python native/tools/planted.py [--seeds 1000] [--seconds 120] [--bug 7] [--jobs 2]

Prints for each bug the seed that found it, and the failure's sentence; exit code 1 when more than
one in twenty was not found.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

NATIVE = Path(__file__).resolve().parent.parent
BUILD = NATIVE / "build" / "planted"
LIST = NATIVE / "src" / "core" / "planted.h"

USE = re.compile(r"QSM_BUG\((\d+)\)")
MEANING = re.compile(r"^\s*\*\s*(\d+): (.+)$", re.M)
FOUND = re.compile(r"^seed (\d+): FAILED", re.M)

# A planted bug may make code unreachable or a variable unused: warnings say nothing here.
CFLAGS = ["-std=c17", "-O2", "-w", "-Iinclude", "-Isrc"]
COMPILER = shlex.split(os.environ.get("CC", "cc"))


@dataclass(frozen=True)
class Verdict:
    """What the swarm made of one planted bug."""

    bug: int
    seed: int | None
    sentence: str


def sources() -> list[Path]:
    """All that the swarm is made of."""
    files = (NATIVE / "src").rglob("*.c")
    engine = [path for path in files if not path.name.startswith("udp_win32")]
    return sorted([*engine, *(NATIVE / "tools").glob("*.c")])


def places() -> dict[int, list[Path]]:
    """The sources that each bug is planted in."""
    found: dict[int, list[Path]] = {}
    for path in sources():
        for number in set(USE.findall(path.read_text(encoding="utf-8"))):
            found.setdefault(int(number), []).append(path)
    return dict(sorted(found.items()))


def meanings() -> dict[int, str]:
    """What each bug breaks, in words."""
    if not LIST.is_file():
        return {}
    return {int(number): text for number, text in MEANING.findall(LIST.read_text("utf-8"))}


def compile_to(path: Path, folder: Path, bug: int) -> Path:
    """The object file of one source in a build with that bug (0: none)."""
    target = folder / path.relative_to(NATIVE).with_suffix(".o")
    target.parent.mkdir(parents=True, exist_ok=True)
    command = [*COMPILER, *CFLAGS, f"-DQSM_PLANTED_BUG={bug}", "-c", str(path), "-o", str(target)]
    subprocess.run(command, check=True, cwd=NATIVE)
    return target


def compile_all(paths: list[Path], folder: Path, bug: int, jobs: int) -> dict[Path, Path]:
    """Object files by source."""
    with ThreadPoolExecutor(jobs) as pool:
        objects = pool.map(lambda path: compile_to(path, folder, bug), paths)
        return dict(zip(paths, objects, strict=True))


def link(objects: list[Path], program: Path) -> None:
    """Makes the swarm of these."""
    libraries = subprocess.run(
        ["pkg-config", "--libs", "libsodium"], capture_output=True, text=True, check=False
    )
    flags = libraries.stdout.split() or ["-lsodium"]
    command = [*COMPILER, *map(str, objects), "-o", str(program), *flags, "-lm"]
    subprocess.run(command, check=True)


def run_swarm(program: Path, first: int, count: int, seconds: float) -> tuple[int, str] | None:
    """The first of these seeds that fails and its sentence; None when none does in that time."""
    command = [str(program), "--from", str(first), "--count", str(count), "--brief"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return None
    match = FOUND.search(ran.stdout)
    if match is None:
        return None
    lines = ran.stdout[match.start() :].splitlines()
    return int(match[1]), lines[1].strip() if len(lines) > 1 else ""


def hunt(bug: int, program: Path, good: Path, seeds: int, seconds: int) -> Verdict:
    """Runs seeds until one fails that does not fail without the bug."""
    start_s, first = time.monotonic(), 1
    while first <= seeds and time.monotonic() - start_s < seconds:
        left_s = seconds - (time.monotonic() - start_s)
        found = run_swarm(program, first, seeds - first + 1, left_s)
        if found is None:
            break
        seed, sentence = found
        if run_swarm(good, seed, 1, 300) is None:
            return Verdict(bug, seed, sentence)
        first = seed + 1
    return Verdict(bug, None, f"not found by {seeds} seeds in {seconds} s")


def main() -> int:
    """Builds, hunts, reports."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=1000, help="seeds for each bug")
    parser.add_argument("--seconds", type=int, default=600, help="time for each bug")
    parser.add_argument("--bug", type=int, help="this one only")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()

    planted, words = places(), meanings()
    if asked.bug is not None:
        planted = {bug: paths for bug, paths in planted.items() if bug == asked.bug}
    if not planted:
        sys.stderr.write("no bug is planted: no source says QSM_BUG(number)\n")
        return 2
    good = compile_all(sources(), BUILD / "0", 0, asked.jobs)
    without_bug = BUILD / "0" / "swarm"
    link(list(good.values()), without_bug)
    found = 0
    for bug, paths in planted.items():
        folder = BUILD / str(bug)
        objects = {**good, **compile_all(paths, folder, bug, asked.jobs)}
        program = folder / "swarm"
        link(list(objects.values()), program)
        verdict = hunt(bug, program, without_bug, asked.seeds, asked.seconds)
        found += verdict.seed is not None
        where = "not found" if verdict.seed is None else f"seed {verdict.seed}"
        sys.stdout.write(f"{bug:3} {where:>10}  {words.get(bug, '?')}\n{'':16}{verdict.sentence}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{found} of {len(planted)} planted bugs found\n")
    return 0 if found * 20 >= len(planted) * 19 else 1


if __name__ == "__main__":
    sys.exit(main())
