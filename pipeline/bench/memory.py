"""The most memory that a process and all that it started held at one time."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from pipeline.errors import PipelineProblem

_LOOK_S = 0.2


def run_side(module: str, *arguments: str) -> dict[str, Any]:
    """Runs a module that prints JSON; adds `peak_bytes` to what it says."""
    command = [sys.executable, "-m", module, *arguments]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    peak = 0
    try:
        while child.poll() is None:
            peak = max(peak, _tree_bytes(child.pid))
            time.sleep(_LOOK_S)
        told, problems = child.communicate()
    finally:
        if child.poll() is None:
            child.terminate()
            child.wait()
    if child.returncode != 0:
        last = problems.strip().splitlines()[-1:] or ["no reason given"]
        raise PipelineProblem(f"{module} has failed: {last[0]}")
    return {**json.loads(told.strip().splitlines()[-1]), "peak_bytes": peak}


def _tree_bytes(root: int) -> int:
    """Memory of a process and its descendants; pages that they share count once."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(entry.name))
    total, left = 0, [root]
    while left:
        process = left.pop()
        left += children.get(process, [])
        total += _proportional_bytes(process)
    return total


def _proportional_bytes(process: int) -> int:
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
