"""`live-objects check FILE…`: says whether reference files are in order, and all that is wrong."""

from __future__ import annotations

import argparse

from app.commands import reference_files
from liveobj.commands import check_files

add_arguments = reference_files.add_arguments


def run(arguments: argparse.Namespace) -> int:
    return reference_files.run(check_files, arguments)
