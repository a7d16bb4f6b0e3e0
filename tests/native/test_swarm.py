"""The swarm tool: its seeds pass and repeat, and what it is told wrongly it refuses."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.source_tree import ROOT

NATIVE = ROOT / "native"


@pytest.fixture(scope="module")
def swarm() -> Path:
    """The tool, built when it is not up to date."""
    subprocess.run(["make", "--no-print-directory", "-C", str(NATIVE), "swarm"], check=True)
    return NATIVE / "build" / "tools" / "swarm"


def run(tool: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(tool), *arguments], capture_output=True, text=True, timeout=300, check=False
    )


def test_calm_seeds_pass_and_give_the_same_run_twice(swarm: Path) -> None:
    result = run(swarm, "--count", "10", "--only", "none", "--check-determinism")
    assert result.returncode == 0, result.stdout
    assert len(re.findall(r"^seed \d+: good", result.stdout, flags=re.M)) == 10


def test_mixed_storms_end_well(swarm: Path) -> None:
    """A bounded share of what `make swarm` does: its first seeds, with all their faults."""
    result = run(swarm, "--from", "0", "--count", "40", "--brief")
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("fault", ["hush", "snoop"])
def test_storms_in_which_multicast_reaches_some_and_not_others_end_well(
    fault: str, swarm: Path
) -> None:
    result = run(swarm, "--from", "0", "--count", "15", "--also", fault, "--brief")
    assert result.returncode == 0, result.stdout


def test_a_fault_that_seeds_do_not_draw_is_asked_for_and_replayed(swarm: Path) -> None:
    result = run(swarm, "--seed", "3", "--only", "none", "--also", "hush", "--verbose")
    assert result.returncode == 0, result.stdout
    assert "faults hush" in result.stdout
    assert "does not hear multicast of node" in result.stdout


def test_one_seed_can_be_replayed_with_its_story(swarm: Path) -> None:
    result = run(swarm, "--seed", "3", "--only", "none", "--verbose")
    assert result.returncode == 0, result.stdout
    assert "joins group" in result.stdout
    assert "last words" in result.stdout


def test_a_fault_can_be_left_out(swarm: Path) -> None:
    result = run(swarm, "--seed", "3", "--only", "none")
    assert result.returncode == 0, result.stdout
    assert "faults none" in result.stdout


@pytest.mark.parametrize(
    "arguments", [["--seed"], ["--seed", "x"], ["--only", "rain"], ["--also", "rain"], ["--fly"]]
)
def test_wrong_arguments_are_refused(swarm: Path, arguments: list[str]) -> None:
    result = run(swarm, *arguments)
    assert result.returncode == 2
    assert "swarm --seed N" in result.stderr
