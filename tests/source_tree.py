"""The repository as the tests about its own source see it: its files, without what was built."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Lowest first. Each imports only those before it; `app` may import them all.
LAYERS = ("native", "transport", "liveobj", "widgets", "app")
# Beside the layers: read by widgets and app, and a program of its own.
PACKAGES = (*LAYERS, "assets", "pipeline")

_BUILT = {"build", "dist", "__pycache__"}


def files(*suffixes: str, under: Path = ROOT) -> Iterator[Path]:
    """Files with one of these suffixes (any file without), in a stable order."""
    for folder, subfolders, names in os.walk(under):
        subfolders[:] = sorted(
            name
            for name in subfolders
            if name not in _BUILT
            and not name.endswith(".egg-info")
            # .ci is ours; the others belong to git, to the virtual environment and to tools.
            and (not name.startswith(".") or name == ".ci")
        )
        for name in sorted(names):
            if name == ".git":  # of a second work tree: a file that says where the first one is
                continue
            path = Path(folder, name)
            if path.suffix in suffixes or not suffixes:
                yield path


def shown(path: Path) -> str:
    """The path as a person writes it."""
    return path.relative_to(ROOT).as_posix()
