"""Where results go: a file of JSON lines whose first says which machine, versions and day."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from transport.benches.programs import PEERS
from transport.benches.record import Record
from transport.whole_file import export_whole, users_rights

_PACKAGES = ("live-objects", "cffi")
_PEERS = ("cyclonedds", "eclipse-zenoh", "pyzmq")


def circumstances() -> dict[str, Any]:
    """The machine and the versions, as the file's first line has them."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "processors": os.cpu_count() or 1,
        "memory_mb": _memory_mb(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "versions": _versions(),
        "load": round(os.getloadavg()[0], 2),
    }


def _versions() -> dict[str, str]:
    """Ours, what it is built with, and those of other systems that are measured beside it."""
    ours = {each.name: each.version for each in distributions() if each.name in _PACKAGES}
    peers = distributions(path=[str(PEERS)])
    theirs = {each.name: each.version for each in peers if each.name in _PEERS}
    return {**ours, **_tool_versions(), **theirs}


def _tool_versions() -> dict[str, str]:
    asked = {"libsodium": ("pkg-config", "--modversion", "libsodium"), "cc": ("cc", "-dumpversion")}
    told = {}
    for name, command in asked.items():
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            told[name] = done.stdout.strip()
    return told


def _processor() -> str:
    """The processor's name as the system tells it, else the architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _memory_mb() -> int:
    pages: int = os.sysconf("SC_PHYS_PAGES")
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


def write_results(
    path: Path, records: Sequence[Record], about: dict[str, Any] | None = None
) -> None:
    """Replaces the file; the folder is made when it is not there. `about`: the circumstances when
    it all began, else those of now."""
    with users_rights():
        path.parent.mkdir(parents=True, exist_ok=True)
    lines = [about or circumstances(), *(record.as_json() for record in records)]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    export_whole(path, text.encode())
