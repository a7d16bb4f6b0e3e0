"""What commands over reference files have in common: their argument, and how they complain."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TextIO

from widgets.language import tr

Report = Callable[[Iterable[Path], TextIO, TextIO], int]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", type=Path, nargs="+", help=tr("reference files"))


def run(report: Report, arguments: argparse.Namespace) -> int:
    """Reports about the files that were given."""
    return complaining(lambda out, err: report(arguments.files, out, err))


def complaining(work: Callable[[TextIO, TextIO], int]) -> int:
    """Does work with places for its output and its complaints; each complaint is a line that says
    who complains."""
    complaints = io.StringIO()
    code = work(sys.stdout, complaints)
    for line in complaints.getvalue().splitlines():
        sys.stderr.write(f"live-objects: {line}\n")
    return code
