"""`live-objects new FILE`: makes an object that did not exist before and writes its reference."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from app.commands.reference_files import complaining
from liveobj.commands import new
from liveobj.objects.catalogue import MAKERS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="the file to write")
    parser.add_argument("--title", default="", help="its title (the file's name if not given)")
    parser.add_argument(
        "--kind", default="note", metavar="KIND", help=f"one of {', '.join(sorted(MAKERS))}"
    )


def run(arguments: argparse.Namespace) -> int:
    kind, file, title = arguments.kind, arguments.file, arguments.title
    return complaining(lambda out, err: new(kind, file, title, os.urandom, out, err))
