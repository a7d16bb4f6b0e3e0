"""`live-objects inspect FILE…`: says what reference files are made of, without opening anything."""

from __future__ import annotations

import argparse

from app.commands import reference_files
from liveobj.commands import inspect_files

add_arguments = reference_files.add_arguments


def run(arguments: argparse.Namespace) -> int:
    return reference_files.run(inspect_files, arguments)
