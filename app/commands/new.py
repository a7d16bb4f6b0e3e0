"""`live-objects new FILE`: makes an object that did not exist before and writes its
reference, signed by whoever makes it."""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path

from app.commands.arguments import add_state_dir
from app.commands.reference_files import complaining
from app.network_profile import NetworkProfile
from app.paths import Paths, find_paths
from app.settings import load_settings
from liveobj.commands import new
from liveobj.objects.catalogue import MAKERS
from liveobj.references import Reference
from liveobj.references.makers import signed_by
from widgets.language import tr


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help=tr("the file to write"))
    parser.add_argument("--title", default="", help=tr("its title (the file's name if not given)"))
    parser.add_argument(
        "--kind",
        default="note",
        metavar="KIND",
        help=tr("one of {kinds}", kinds=", ".join(sorted(MAKERS))),
    )
    add_state_dir(parser, tr("the profile that signs it"))


def run(arguments: argparse.Namespace) -> int:
    kind, file, title = arguments.kind, arguments.file, arguments.title
    signed = partial(signed_in, find_paths(os.environ, arguments.state_dir))
    return complaining(lambda out, err: new(kind, file, title, os.urandom, out, err, signed))


def signed_in(paths: Paths, reference: Reference) -> Reference:
    """As everything that is made in the window: by the same key and name."""
    name = load_settings(paths.settings).name
    return signed_by(reference, NetworkProfile.of(paths).identity(), name)
