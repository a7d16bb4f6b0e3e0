"""`live-objects describe`: what the running program shows, in words, for scripts and aids."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from app.errors import StartProblem
from app.instance_client import ask
from app.paths import find_paths
from widgets.language import tr


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--state-dir", metavar="DIR", type=Path, help=tr("the profile whose program is asked")
    )


def run(arguments: argparse.Namespace) -> int:
    answer = ask(find_paths(os.environ, arguments.state_dir).socket, {"do": "describe"})
    if answer is None:
        raise StartProblem(tr("The program is not running in this profile: start it first."))
    json.dump(answer, sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")
    return 0
