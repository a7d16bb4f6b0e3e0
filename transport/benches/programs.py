"""The C programs that measure: built from the source tree, run for one line of JSON each."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

NATIVE = Path(__file__).resolve().parents[2] / "native"
# Where `make bench PEERS=1` puts other systems.
PEERS = NATIVE.parent / "build" / "peers"
_BUILD_S_MAX = 600.0
# Two thousand simulated nodes take minutes, on a busy machine many.
_RUN_S_MAX = 3600.0
# Before anything is counted: rates rise, caches fill.
SETTLE_MS = 500


class BenchProblem(Exception):
    """A measurement that could not be made; its text is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long and how often something is measured; `share` makes everything smaller, for tests."""

    seconds: float = 2.0
    repeats: int = 3
    share: float = 1.0

    @property
    def milliseconds(self) -> int:
        return max(100, round(self.seconds * 1000))

    def shortened(self, milliseconds: int) -> int:
        """A time that something takes besides what is counted, or on the simulator's clock: far
        shorter only where hardly a taste is asked for."""
        return max(50, round(milliseconds * min(1.0, 10 * self.share)))

    def scaled(self, number: int, least: int = 1) -> int:
        """A size of the experiment, smaller when only a taste is asked for."""
        return max(least, round(number * self.share))


def build() -> None:
    """Makes what is not up to date; raises BenchProblem without a source tree or compiler."""
    if not (NATIVE / "Makefile").is_file():
        raise BenchProblem("The benchmarks of the engine need the source tree, which is not here.")
    command = ["make", "--no-print-directory", "-C", str(NATIVE), "-j2", "bench"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_BUILD_S_MAX, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise BenchProblem(f"The benchmarks cannot be built: {problem}.") from problem
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["make failed"]
        errors = [line for line in lines if "error:" in line] or lines[-1:]
        raise BenchProblem(f"The benchmarks cannot be built: {errors[0]}.")


def run(program: str, *options: str | int) -> dict[str, Any]:
    """The one object that the program prints."""
    found = run_many(program, *options)
    if len(found) != 1:
        raise BenchProblem(f"{program} printed {len(found)} results in place of one.")
    return found[0]


def run_many(program: str, *options: str | int) -> list[dict[str, Any]]:
    """All objects that the program prints, a line each."""
    command = [str(NATIVE / "build" / "bench" / program), *map(str, options)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_RUN_S_MAX, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise BenchProblem(f"{program} did not run: {problem}.") from problem
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise BenchProblem(f"{program} failed: {said[-1]}.")
    try:
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    except ValueError as problem:
        raise BenchProblem(f"{program} printed what is no JSON: {problem}.") from problem


def repeat(effort: Effort, program: str, *options: str | int) -> list[dict[str, Any]]:
    """Several runs of the same."""
    return [run(program, *options) for _ in range(effort.repeats)]


def engine(effort: Effort, *options: str | int) -> list[dict[str, Any]]:
    """Several runs of the engine on sockets."""
    return repeat(effort, "engine_udp", *_span(effort), *options)


def _span(effort: Effort) -> tuple[str | int, ...]:
    return ("--milliseconds", effort.milliseconds, "--settle", effort.shortened(SETTLE_MS))


@dataclass(frozen=True, slots=True)
class RawLimit:
    """Messages a second that bare sockets carry without loss; 0: this kernel has no offload."""

    plain: float
    offload: float


def raw_limit(effort: Effort, receivers: int, message_bytes: int = 1000) -> RawLimit:
    """The medians of several runs of sockets and nothing else, loss-free."""
    given = ("--receivers", receivers, "--bytes", message_bytes, "--window-only", "--json")
    span = ("--milliseconds", max(100, effort.milliseconds // 2))
    rates: dict[str, list[float]] = {"plain window": [], "offload window": []}
    for _ in range(effort.repeats):
        for line in run_many("raw_udp", *given, *span):
            rates[line["way"]].append(line["received_per_s_least"])
    return RawLimit(*(_middle(found) for found in rates.values()))


@dataclass(frozen=True, slots=True)
class Round:
    """What bare sockets carried, and what each of some runs of the engine did just after."""

    raw: RawLimit
    runs: Sequence[dict[str, Any]]


def beside_raw(
    effort: Effort, receivers: int, *ways: Sequence[str | int], message_bytes: int = 1000
) -> list[Round]:
    """Bare sockets and the engine by turns, half as long and nearly twice as often as asked for.

    A machine that is not ours alone is quick for some seconds and slow for others: what is compared
    is what stood next to each other, and the middle of that is told.
    """
    single = replace(effort, seconds=effort.seconds / 2, repeats=1)
    given = ("--receivers", receivers, "--bytes", message_bytes)
    return [
        Round(
            raw_limit(single, receivers, message_bytes),
            [run("engine_udp", *_span(single), *given, *way) for way in ways],
        )
        for _ in range(2 * effort.repeats - 1)
    ]


def _middle(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2] if values else 0.0
