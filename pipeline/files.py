"""Files of this computer that are replaced as a whole: readers see the old or the new one."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from pipeline.errors import PipelineProblem


def replace_file(path: Path, data: bytes) -> None:
    """Writes under a name that nobody looks for, syncs, and renames into place."""
    hidden = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        hidden.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as problem:
        with contextlib.suppress(OSError):
            hidden.unlink(missing_ok=True)
        raise PipelineProblem(f"{path} cannot be written: {problem.strerror}.") from None


def check_writable(path: Path) -> None:
    """Refuses a file that cannot be made, before anything long is begun for it."""
    folder = path.parent
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir() or path.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise PipelineProblem(f"{path} cannot be written: name a file in a folder of yours.")
