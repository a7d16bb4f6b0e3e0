"""What a running program says of its network when it is asked, and the asking of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
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
# The same of a doctor, who asks again later: paths to others are probed meanwhile.
DOCTOR_REQUEST = {"do": "net", "probe_paths": True}


def gms_socket(paths: Paths) -> Path:
    """Where `live-objects gms` of this profile listens; beside the window program's own."""
    return paths.socket.with_suffix(".gms")


def host_socket(paths: Paths) -> Path:
    """Where `live-objects keep` or `feed` of this profile listens."""
    return paths.socket.with_suffix(".host")


def sockets(paths: Paths) -> tuple[Path, ...]:
    """Where a program of this profile may be asked, the one with a window first."""
    return paths.socket, gms_socket(paths), host_socket(paths)


def report(engine: Engine, known: Known, request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to NET_REQUEST or DOCTOR_REQUEST."""
    if request.get("probe_paths") is True:
        engine.probe_paths()
    snapshot = take_snapshot(engine, engine.config.scope.name, time.monotonic(), known)
    return {"version": VERSION, "snapshot": as_json(snapshot)}


def ask_running(
    paths: Paths, request: Mapping[str, Any] = NET_REQUEST
) -> tuple[str, Snapshot] | None:
    """Version and network of the program that runs in this profile, window or not; None: none."""
    for socket in sockets(paths):
        answer = ask(socket, request)
        if answer is None:
            continue
        try:
            return str(answer["version"]), from_json(answer["snapshot"])
        except (KeyError, TypeError, BadArgument):
            raise StartProblem(
                tr("The program that runs is of another version: end it and start it again.")
            ) from None
    return None
