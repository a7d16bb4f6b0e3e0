"""A small disk is full when it is filled and has room when it is freed, mounted or not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.small_disk import SmallDisk

# Writes as often as it is asked to, and says what has come of it.
WRITER = """
import sys
for line in sys.stdin:
    try:
        with open(sys.argv[1], "ab", buffering=0) as file:
            whole = file.write(bytes(100_000)) == 100_000
        print("written" if whole else "refused", flush=True)
    except OSError:
        print("refused", flush=True)
"""


@pytest.mark.parametrize("may_mount", [True, False])
def test_a_disk_is_filled_and_freed(may_mount: bool, tmp_path: Path) -> None:
    disk = SmallDisk(tmp_path / "disk", megabytes=2, may_mount=may_mount)
    command = [sys.executable, "-c", WRITER, str(tmp_path / "disk" / "file")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        said = []
        for step in (lambda _: None, disk.fill, disk.free):
            step(writer.pid)
            writer.stdin.write("again\n")
            said.append(writer.stdout.readline().strip())
        writer.stdin.close()
    disk.close()
    assert said == ["written", "refused", "written"]
