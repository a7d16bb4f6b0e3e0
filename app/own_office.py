"""A private network for programs that a command plays: others on this computer are not in it."""

from __future__ import annotations

import os
from pathlib import Path

from app.network_profile import NetworkProfile
from app.paths import find_paths
from transport.scopes import Scope

NAME = "Office"


def join_own_office(stage: Path, state_dir: Path) -> None:
    """Puts a profile into the network of the stage, which is made with the first of them."""
    file = stage / "office.scope"
    if not file.exists():
        stage.mkdir(parents=True, exist_ok=True)
        Scope.new_private(NAME, os.urandom).write(file)
    NetworkProfile.of(find_paths({}, state_dir)).join(Scope.read(file))
