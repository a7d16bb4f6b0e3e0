"""Every experiment runs in a tiny size, and each of its lines has what readers of the JSON need."""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.commands import bench
from tests.source_tree import ROOT
from transport.benches import experiments, nodes, overload, programs, throughput
from transport.benches.experiments import EXPERIMENTS, run_experiment
from transport.benches.model import Costs
from transport.benches.programs import BenchProblem, Effort
from transport.benches.record import Record, as_table
from transport.benches.results import write_results

TINY = Effort(seconds=0.1, repeats=1, share=0.01)

SCHEMA: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "senders": int,
    "receivers": int,
    "groups": int,
    "bytes": int,
    "rate": (int, float),
    "raw": (int, float),
    "ratio": (int, float),
    "loss": (int, float),
    "p50_us": (int, float),
    "p99_us": (int, float),
    "rss_mb": (int, float),
}


def check(line: dict[str, Any], name: str) -> None:
    wrong = [key for key, kind in SCHEMA.items() if not isinstance(line.get(key), kind)]
    assert not wrong, f"{wrong} in {line}"
    assert line["name"] == name
    assert line["problem"] == ""
    assert line["loss"] == 0


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name != "python"])
def test_experiment_runs_and_tells_what_was_asked(name: str) -> None:
    records = list(run_experiment(name, TINY))
    assert records
    for record in records:
        check(json.loads(json.dumps(record.as_json())), name)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app.main", "bench", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


def test_command_prints_json_lines_and_writes_a_file(tmp_path: Path) -> None:
    output = tmp_path / "made" / "results.jsonl"
    tiny = ("--json", "--seconds", "0.1", "--repeats", "1", "--output", str(output))
    done = command("throughput", *tiny)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    for line in lines:
        check(line, "throughput")
        assert line["rate"] > 0
        assert line["raw"] > 0
    about, *written = map(json.loads, output.read_text("utf-8").splitlines())
    assert written == lines
    assert {"date", "processor", "system", "python", "versions"} <= about.keys()
    assert {"live-objects", "libsodium", "cc"} <= about["versions"].keys()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["speed"], "invalid choice"),
        (["throughput", "--seconds", "0"], "is not a number of seconds"),
        (["throughput", "--seconds", "often"], "is not a number of seconds"),
        (["throughput", "--repeats", "0"], "is not a number of runs"),
        (["throughput", "--share", "2"], "is not a share"),
    ],
)
def test_wrong_arguments_get_a_sentence(arguments: list[str], sentence: str) -> None:
    done = command(*arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("program", ["engine_udp", "raw_udp"])
@pytest.mark.parametrize(
    "arguments", [["--receivers", "0"], ["--bytes"], ["--bytes", "-1"], ["--fly"]]
)
def test_programs_refuse_what_they_cannot_do(program: str, arguments: list[str]) -> None:
    programs.build()
    with pytest.raises(BenchProblem, match=r"needs a number|there is no option"):
        programs.run(program, *arguments)


def test_what_cannot_be_built_is_a_line_with_its_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "NATIVE", tmp_path)
    (record,) = run_experiment("throughput", TINY)
    assert "need the source tree" in record.problem
    (tmp_path / "Makefile").write_text("bench:\n\t@echo broken >&2; false\n")
    (record,) = run_experiment("throughput", TINY)
    assert "cannot be built" in record.problem
    assert "broken" in record.problem or "Error" in record.problem


def test_other_system_that_cannot_be_loaded_is_a_line_with_its_sentence(tmp_path: Path) -> None:
    programs.build()
    record = throughput.peer(TINY, 1e6, 3e6, tmp_path / "libddsc.so")
    assert record.rate == 0
    assert "peer_dds failed" in record.problem
    assert "libddsc.so" in record.problem


def test_experiment_that_goes_wrong_keeps_what_it_found_and_is_a_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stumbling(_: Effort) -> Iterator[Record]:
        yield Record("idle", "first", 1)
        found: dict[str, float] = {}
        yield Record("idle", "second", 1, rate=found["rate"])

    monkeypatch.setattr(experiments, "build", lambda: None)
    monkeypatch.setitem(EXPERIMENTS, "idle", stumbling)
    first, second = run_experiment("idle", TINY)
    assert (first.what, first.problem) == ("first", "")
    assert second.problem == "idle went wrong: KeyError: 'rate'."


def test_figures_are_written_after_each_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever stops a run of all has what was found until then."""

    def stopped(_: Effort) -> Iterator[Record]:
        raise KeyboardInterrupt

    def one(_: Effort) -> Iterator[Record]:
        yield Record("idle", "a figure", 1, rate=5)

    monkeypatch.setattr(experiments, "build", lambda: None)
    for name in list(EXPERIMENTS):
        monkeypatch.delitem(EXPERIMENTS, name)
    monkeypatch.setitem(EXPERIMENTS, "idle", one)
    monkeypatch.setitem(EXPERIMENTS, "small", stopped)
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    output = tmp_path / "results.jsonl"
    with pytest.raises(KeyboardInterrupt):
        bench.run(parser.parse_args(["all", "--output", str(output)]))
    about, figure = map(json.loads, output.read_text("utf-8").splitlines())
    assert about["date"]
    assert figure["what"] == "a figure"
    assert "a figure" in capsys.readouterr().out


def test_point_of_the_model_that_fails_does_not_lose_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(_: str, *options: str | int) -> dict[str, float]:
        count = options[options.index("--receivers") + 1]
        if count == nodes.COUNTS[-1]:
            raise BenchProblem("engine_sim failed: memory.")
        grown = 1.0 if "--coupled" in options else math.log2(int(count))
        return dict.fromkeys(nodes_figures, 1.0) | {"ack_calm_ms": grown, "bytes": 1000}

    nodes_figures = ("rate", "ack_ms", "pending", "pending_most", "tokens_per_s", "rss_mb", "cpu_s")
    monkeypatch.setattr(nodes, "calibrate", lambda _: Costs(1, 1, 1.0, 1.0))
    monkeypatch.setattr(nodes, "run", run)
    records = list(nodes.measure(Effort()))
    assert [each.receivers for each in records] == [*nodes.COUNTS, *nodes.COUNTS]
    assert [each.receivers for each in records if each.problem] == [nodes.COUNTS[-1]] * 2
    assert [each.met for each in records if not each.problem] == [True] * 3 + [None] * 3


def test_deliveries_that_swing_are_told() -> None:
    assert overload.swing_of([0] * 20 + [2000] * 60 + [0, 0]) == 0
    assert overload.swing_of([2000, 0] * 40) == 1
    assert overload.swing_of([]) == 0


@pytest.mark.parametrize(
    ("printed", "sentence"), [("", "printed 0 results"), ("{no", "what is no JSON")]
)
def test_program_that_prints_something_else_is_named(
    printed: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "build" / "bench" / "odd"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{printed}'\n")
    program.chmod(0o755)
    monkeypatch.setattr(programs, "NATIVE", tmp_path)
    with pytest.raises(BenchProblem, match=sentence):
        programs.run("odd")


def test_program_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "build", lambda: None)
    with pytest.raises(BenchProblem, match="no_such_program did not run"):
        programs.run("no_such_program")


def test_table_is_what_a_person_reads() -> None:
    records = [
        Record("a", "first", 2, rate=1234.5, raw=2469, ratio=0.5, target=0.5, met=True, note="n"),
        Record("a", "second", 2, problem="It did not run."),
    ]
    assert as_table(records) == (
        "experiment  messages/s  raw/s  ratio  p50 us  p99 us  MB     target\n"
        "first            1,234  2,469  0.500       -       -   -  0.500 met  n\n"
        "second               -      -      -       -       -   -          -  It did not run."
    )


def test_results_replace_an_older_file(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text("old")
    write_results(path, [Record("a", "first", 1)])
    assert len(path.read_text("utf-8").splitlines()) == 2
    assert [found.name for found in tmp_path.iterdir()] == ["results.jsonl"]
