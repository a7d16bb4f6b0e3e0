"""The benchmark of Python callbacks: it measures, within bounds, and names what it cannot."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from transport import bench
from transport.bench import Result, as_table, measure_all, raw_limit
from transport.bench_roles import OTHERS, ROLES

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("way", ["per batch", "per message"])
def test_command_measures_two_receivers(way: str) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "app.main", "bench", "python"),
            *("--json", "--seconds", "0.5", "--only", way),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    (line,) = done.stdout.splitlines()
    result = json.loads(line)
    assert (result["problem"], done.stderr) == ("", "")
    assert result["messages_per_s"] > 0
    assert (result["bytes"], result["receivers"]) == (1000, 2)


def test_what_is_not_installed_is_named_and_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "find_spec", lambda name: None)
    results = list(measure_all(0.5, only="pyzmq"))
    assert [result.problem for result in results] == ["not installed: pip install pyzmq"]
    assert "pip install pyzmq" in as_table(results)


def test_system_that_fails_is_a_line_and_not_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "ROLES", {"no such system": None})
    (result,) = measure_all(0.5)
    assert (result.messages_per_s, result.problem) == (0, "KeyError: 'no such system'")


def test_every_other_system_has_its_role() -> None:
    assert set(OTHERS) < set(ROLES)


def test_raw_limit_is_left_out_where_its_program_is_not_built(tmp_path: Path) -> None:
    assert raw_limit(tmp_path / "raw_udp", 1) == []
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o700)
    assert raw_limit(broken, 1) == []
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\necho words\necho \'{"way": "plain"}\'\n')
    program.chmod(0o700)
    assert raw_limit(program, 1) == [{"way": "plain"}]


def test_table_is_what_a_person_reads() -> None:
    results = [Result("ours", 123456.7, 3.456, 2), Result("theirs", 0, 0, 2, problem="not here")]
    assert as_table(results) == (
        "system  messages/s  receiver us/message\n"
        "ours       123,457                 3.46\n"
        "theirs           -                    -  not here\n"
    )
