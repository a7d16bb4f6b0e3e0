"""`live-objects identity`: by which fingerprint others recognise the user of this profile."""

from __future__ import annotations

import argparse
import os
import sys

from app.commands.arguments import add_state_dir
from app.network_profile import NetworkProfile
from app.paths import find_paths
from widgets.language import tr


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_state_dir(parser, tr("the profile to look at"))


def run(arguments: argparse.Namespace) -> int:
    profile = NetworkProfile.of(find_paths(os.environ, arguments.state_dir))
    identity = profile.identity()
    where = tr("kept in")
    sys.stdout.write(f"{identity.fingerprint}\n  {where}  {profile.identity_file}\n")
    return 0
