"""`live-objects identity`: by which fingerprint others recognise the user of this profile."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from app.network_profile import NetworkProfile
from app.paths import find_paths


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--state-dir", metavar="DIR", type=Path, help="the profile to look at")


def run(arguments: argparse.Namespace) -> int:
    profile = NetworkProfile.of(find_paths(os.environ, arguments.state_dir))
    identity = profile.identity()
    sys.stdout.write(f"{identity.fingerprint}\n  kept in  {profile.identity_file}\n")
    return 0
