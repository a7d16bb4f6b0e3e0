"""Keeps a folder of landed files within its bounds: the oldest give way."""

from __future__ import annotations

from pathlib import Path

from pipeline.landing.naming import SUFFIX, digest_in

FILES_MAX = 20_000


def make_room(landing: Path, bytes_max: int, files_max: int = FILES_MAX) -> int:
    """Removes the oldest landed files beyond the bounds, and gives their number. Names begin with
    a time, so that they sort by age."""
    total = removed = 0
    landed = (path for path in landing.glob(f"*{SUFFIX}") if digest_in(path.name) is not None)
    for count, path in enumerate(sorted(landed, reverse=True), 1):
        try:
            total += path.stat().st_size
            if total > bytes_max or count > files_max:
                path.unlink()
                removed += 1
        except OSError:
            continue  # Somebody else has taken it away.
    return removed
