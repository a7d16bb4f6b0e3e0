"""A disk for one program that can be filled and freed, to see what it does then.

Where mounting is permitted it is a small one of its own; elsewhere the system is asked to let none
of the program's files grow, which it refuses as a disk does.
"""

from __future__ import annotations

import resource
import subprocess
from pathlib import Path

_PIECE = bytes(1 << 16)
_FILLER = "filler"


class SmallDisk:
    """Lies at `folder`, which is made. Attributes: `mounted`, whether it is a disk of its own."""

    def __init__(self, folder: Path, megabytes: int, *, may_mount: bool = True) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.mounted = may_mount and self._mount(megabytes)

    def _mount(self, megabytes: int) -> bool:
        options = f"size={megabytes}m,mode=0700"
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self._folder)]
        try:
            return subprocess.run(command, capture_output=True, check=False).returncode == 0
        except OSError:
            return False

    def fill(self, process_id: int) -> None:
        """From now on the program can write nothing more."""
        if not self.mounted:
            _set_limit(process_id, 0)
            return
        with (self._folder / _FILLER).open("ab", buffering=0) as filler:
            for piece in (_PIECE, bytes(4096)):
                try:
                    while filler.write(piece) == len(piece):
                        pass
                except OSError:
                    continue  # that much does not fit any more

    def free(self, process_id: int) -> None:
        """There is room again."""
        if self.mounted:
            (self._folder / _FILLER).unlink(missing_ok=True)
        else:
            _set_limit(process_id, None)

    def close(self) -> None:
        """Takes the disk away, with all that is on it."""
        if self.mounted:
            self.mounted = False
            subprocess.run(["umount", "-l", str(self._folder)], capture_output=True, check=False)


def _set_limit(process_id: int, size: int | None) -> None:
    _, most = resource.prlimit(process_id, resource.RLIMIT_FSIZE)
    resource.prlimit(process_id, resource.RLIMIT_FSIZE, (most if size is None else size, most))
