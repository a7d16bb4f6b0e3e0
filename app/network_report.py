"""What a running program says of its network when it is asked, and the asking of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from app.errors import StartProblem
from app.instance_client import ask
from app.paths import Paths
from app.version import VERSION
from transport.engine import Engine
from transport.errors import BadArgument
from transport.snapshots import Known, Snapshot, as_json, from_json, take_snapshot
from widgets.language import tr

NET_REQUEST = {"do": "net"}


def gms_socket(paths: Paths) -> Path:
    """Where `live-objects gms` of this profile listens; beside the window program's own."""
    return paths.socket.with_suffix(".gms")


def host_socket(paths: Paths) -> Path:
    """Where `live-objects keep` or `feed` of this profile listens."""
    return paths.socket.with_suffix(".host")


def sockets(paths: Paths) -> tuple[Path, ...]:
    """Where a program of this profile may be asked, the one with a window first."""
    return paths.socket, gms_socket(paths), host_socket(paths)


def report(engine: Engine, known: Known) -> dict[str, Any]:
    """The answer to NET_REQUEST."""
    snapshot = take_snapshot(engine, engine.config.scope.name, time.monotonic(), known)
    return {"version": VERSION, "snapshot": as_json(snapshot)}


def ask_running(paths: Paths) -> tuple[str, Snapshot] | None:
    """Version and network of the program that runs in this profile, window or not; None: none."""
    for socket in sockets(paths):
        answer = ask(socket, NET_REQUEST)
        if answer is None:
            continue
        try:
            return str(answer["version"]), from_json(answer["snapshot"])
        except (KeyError, TypeError, BadArgument):
            raise StartProblem(
                tr("The program that runs is of another version: end it and start it again.")
            ) from None
    return None
