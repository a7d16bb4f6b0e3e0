"""`live-objects identity`: by which fingerprint others recognise the user of this profile."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from app.network_profile import NetworkProfile
from app.paths import find_paths
from widgets.language import tr


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--state-dir", metavar="DIR", type=Path, help=tr("the profile to look at"))


def run(arguments: argparse.Namespace) -> int:
    profile = NetworkProfile.of(find_paths(os.environ, arguments.state_dir))
    identity = profile.identity()
    where = tr("kept in")
    sys.stdout.write(f"{identity.fingerprint}\n  {where}  {profile.identity_file}\n")
    return 0
