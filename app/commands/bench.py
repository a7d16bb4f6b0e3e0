"""`live-objects bench NAME`: how fast the engine is, beside the machine's own limit and others."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app import desktop_bench, long_text_bench, window_text_bench
from app.errors import StartProblem
from transport.benches.experiments import EXPERIMENTS, run_experiment
from transport.benches.programs import Effort
from transport.benches.record import Record, as_table
from transport.benches.results import circumstances, write_results
from widgets.language import tr

_NORMAL = Effort()
# What is measured with real programs.
_PROGRAMS = {"desktop": desktop_bench.measure, "long-texts": long_text_bench.measure}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("what", choices=[*EXPERIMENTS, *_PROGRAMS, "all"], help=tr("what is measured"))
    add("--json", action="store_true", help=tr("one line of JSON for each figure"))
    add("--seconds", metavar="S", type=_seconds, default=_NORMAL.seconds, help=tr("for each run"))
    add(
        "--repeats",
        metavar="N",
        type=_repeats,
        default=_NORMAL.repeats,
        help=tr("runs of each kind"),
    )
    add(
        "--share",
        metavar="X",
        type=_share,
        default=1.0,
        help=tr("of the full size, for a first look"),
    )
    add(
        "--output",
        metavar="FILE",
        type=Path,
        help=tr("where to write results, machine and versions"),
    )


def _seconds(text: str) -> float:
    return _between(text, 0.1, 60, "a number of seconds")


def _share(text: str) -> float:
    return _between(text, 0.001, 1, "a share")


def _repeats(text: str) -> int:
    return int(_between(text, 1, 50, "a number of runs"))


def _between(text: str, least: float, most: float, meant: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = least - 1
    if not least <= value <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not {meant} from {least} to {most}")
    return value


def _experiments(what: str, effort: Effort) -> Iterator[Iterator[Record]]:
    if what in _PROGRAMS:
        yield _PROGRAMS[what](effort)
        if what == "desktop":
            yield window_text_bench.measure(effort)
        return
    for name in EXPERIMENTS if what == "all" else [what]:
        yield run_experiment(name, effort)


def _tell(record: Record) -> None:
    sys.stdout.write(json.dumps(record.as_json()) + "\n")
    sys.stdout.flush()


def run(arguments: argparse.Namespace) -> int:
    """Shows and writes what was found after each experiment: all of them together take long, and
    whoever stops the command has the figures until then."""
    effort = Effort(arguments.seconds, arguments.repeats, arguments.share)
    about = circumstances()
    records: list[Record] = []
    for experiment in _experiments(arguments.what, effort):
        found = []
        for record in experiment:
            found.append(record)
            if arguments.json:
                _tell(record)
        if not arguments.json:
            sys.stdout.write(as_table(found) + "\n")
            sys.stdout.flush()
        records += found
        if arguments.output is not None:
            _write(arguments.output, records, about)
    return 1 if any(record.problem for record in records) else 0


def _write(path: Path, records: list[Record], about: dict[str, Any]) -> None:
    try:
        write_results(path, records, about)
    except OSError as problem:
        raise StartProblem(
            tr("{file} cannot be written: {reason}.", file=path, reason=problem)
        ) from problem
