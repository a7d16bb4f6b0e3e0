"""`live-objects fold`: histories that nobody adds to take less room on this disk.

Which those are the pipeline has found; names on the command line are folded whatever it says. The
program of the profile must not run: objects that are open fold themselves.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from app.commands.arguments import add_state_dir
from app.errors import StartProblem
from app.hints import read_hints
from app.instance_client import ask
from app.known_objects import KnownObjects
from app.network_report import NET_REQUEST
from app.paths import Paths, find_paths
from liveobj.references import Reference, ReferenceProblem, fingerprint, read_reference_file
from liveobj.references.summary import title_of
from liveobj.storage import StorageError
from liveobj.storage.folding import fold_stored
from widgets.language import tr

_FILES_A_TIME = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("files", metavar="FILE", type=Path, nargs="*", help=tr("reference files of what is folded"))
    add_state_dir(parser, tr("the profile whose objects are folded"))


def run(arguments: argparse.Namespace) -> int:
    paths = find_paths(os.environ, arguments.state_dir)
    if ask(paths.socket, NET_REQUEST) is not None:
        raise StartProblem(tr("The program of this profile is running: end it first."))
    chosen = [_read(file) for file in arguments.files] or _advised(paths)
    saved = sum(_fold(paths, reference) for reference in chosen)
    sys.stdout.write(
        tr("{count} objects, {saved:,} bytes less on this disk", count=len(chosen), saved=saved)
        + "\n"
    )
    return 0


def _read(file: Path) -> Reference:
    try:
        return read_reference_file(file)
    except ReferenceProblem as problem:
        raise StartProblem(str(problem if problem.file else problem.in_file(str(file)))) from None


def _advised(paths: Paths) -> list[Reference]:
    known = KnownObjects(paths)
    while not known.all_read:
        known.look(_FILES_A_TIME)
    found = [known.find(group) for group in read_hints(paths.hints).fold]
    return [reference for reference in found if reference is not None]


def _fold(paths: Paths, reference: Reference) -> int:
    """Says what came of one object, and gives the bytes that it takes less."""
    name = title_of(reference) or fingerprint(reference).short
    path = paths.objects / f"{fingerprint(reference)}.db"
    if not path.exists():
        sys.stdout.write(tr("{name}: it was never open in this profile.", name=name) + "\n")
        return 0
    try:
        done = fold_stored(path)
    except (StorageError, OSError) as problem:
        sys.stdout.write(f"{name}: {problem}\n")
        return 0
    told = done.why_not or (
        tr(
            "{count} updates, {before:,} bytes, are one of {after:,}.",
            count=done.updates,
            before=done.bytes_before,
            after=done.bytes_after,
        )
    )
    sys.stdout.write(f"{name}: {told}\n")
    return done.bytes_before - done.bytes_after
