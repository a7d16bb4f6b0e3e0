"""`live-objects pipeline …`: jobs on event logs, in a process of their own.

Nothing of the pipeline is imported here: it needs Spark and Java, which the application does not.
Which packages are missing for a job, that process says.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from importlib.util import find_spec
from types import FrameType

from app.errors import StartProblem
from transport.whole_file import users_umask
from widgets.language import tr


def add_arguments(parser: argparse.ArgumentParser) -> None:
    # Everything behind the command's name, options and --help too, is for the other process.
    parser.prefix_chars = "\0"
    parser.add_argument("arguments", nargs=argparse.REMAINDER)


def run(arguments: argparse.Namespace) -> int:
    if find_spec("pipeline") is None:
        raise StartProblem(
            tr(
                "The pipeline is not installed here: install the Python package with its extra,"
                " live-objects[pipeline], and Java 17."
            )
        )
    # What it writes is for whoever asked for it, where they asked for it.
    command = [sys.executable, "-P", "-m", "pipeline", *arguments.arguments]
    child = subprocess.Popen(command, umask=users_umask())

    def end(_signal: int, _frame: FrameType | None) -> None:
        child.terminate()

    before = signal.signal(signal.SIGTERM, end)
    try:
        while True:
            try:
                return child.wait()
            except KeyboardInterrupt:
                # The terminal has told the other process, too; it ends by itself.
                continue
    finally:
        signal.signal(signal.SIGTERM, before)
