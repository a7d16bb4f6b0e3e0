"""`live-objects net`: who is here, groups, regions, rates and losses of the running program."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time

from app.commands.arguments import add_state_dir
from app.errors import StartProblem
from app.network_report import ask_running
from app.paths import Paths, find_paths
from transport.snapshot_table import as_table
from transport.snapshots import Snapshot, as_json
from widgets.language import tr

_CLEAR_SCREEN = "\x1b[H\x1b[2J\x1b[3J"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json", action="store_true", help=tr("print one snapshot as JSON and end")
    )
    parser.add_argument(
        "--once", action="store_true", help=tr("print the table once, as when it is not a terminal")
    )
    parser.add_argument(
        "--every", metavar="S", type=_seconds, default=1.0, help=tr("seconds between two looks")
    )
    add_state_dir(parser, tr("the profile whose program is asked"))


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.1 <= value <= 3600:
        raise argparse.ArgumentTypeError(
            tr("{given} is not a number of seconds from 0.1 to 3600", given=repr(text))
        )
    return value


def run(arguments: argparse.Namespace) -> int:
    paths = find_paths(os.environ, arguments.state_dir)
    first = _look(paths)
    if arguments.json:
        json.dump(as_json(first), sys.stdout, indent=2)
        sys.stdout.write("\n")
        return 0
    try:
        if arguments.once or not sys.stdout.isatty():
            time.sleep(arguments.every)  # rates need two looks
            sys.stdout.write(as_table(_look(paths), first))
        else:
            _watch(paths, first, arguments.every)
    except KeyboardInterrupt:
        sys.stdout.write("\n")
    return 0


def _watch(paths: Paths, before: Snapshot, every_s: float) -> None:
    while True:
        time.sleep(every_s)
        now = _look(paths)
        sys.stdout.write(_CLEAR_SCREEN + as_table(now, before))
        sys.stdout.flush()
        before = now


def _look(paths: Paths) -> Snapshot:
    answer = ask_running(paths)
    if answer is None:
        raise StartProblem(
            tr("No program runs in this profile: start it, or live-objects gms, and look again.")
        )
    return answer[1]
