"""`live-objects inspect FILE…`: says what reference files refer to, without opening anything."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from app.errors import StartProblem
from liveobj.objects.text_note import describe_note
from liveobj.references import ReferenceProblem, fingerprint, read_reference_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", type=Path, nargs="+", help="reference files")


def run(arguments: argparse.Namespace) -> int:
    for file in arguments.files:
        try:
            reference = read_reference_file(file)
            note = describe_note(reference)
        except ReferenceProblem as problem:
            raise StartProblem(str(problem)) from None
        rights = "edit" if note.keys.signing is not None else "read"
        sys.stdout.write(
            f"{file}\n  kind      text note\n  title     {note.title}\n"
            f"  identity  {fingerprint(reference)}\n  rights    {rights}\n"
        )
    return 0
