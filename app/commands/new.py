"""`live-objects new FILE`: makes a note that did not exist before and writes its reference."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from app.errors import StartProblem
from liveobj.objects.text_note import new_note
from liveobj.references import ReferenceProblem, write_reference_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="the file to write")
    parser.add_argument("--title", help="the title of the note (the file's name if not given)")


def run(arguments: argparse.Namespace) -> int:
    file: Path = arguments.file
    if file.exists():
        raise StartProblem(f"{file} exists already: choose another name, nothing was written.")
    try:
        write_reference_file(new_note(arguments.title or file.stem, os.urandom), file)
    except ReferenceProblem as problem:
        raise StartProblem(str(problem)) from None
    sys.stdout.write(f"{file}\n")
    return 0
