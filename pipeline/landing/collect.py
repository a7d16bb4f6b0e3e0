"""The collector: closed segments become Parquet files in the landing folder, then go.

It runs beside the applications, as a process of its own, so that none of them loads a Parquet
library. A segment is removed only when its file is in place; a collector that is killed in between
lands it again under the same name.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import PipelineProblem
from pipeline.landing.segment import segment_rows
from pipeline.landing.segment_file import land_segment
from transport.event_log_schema import CLOSED_FOLDER, SEGMENT_BYTES_MAX, SUFFIX

# A segment is a little larger than its bound at most: by what was written in one go.
SEGMENT_FILE_BYTES_MAX = 2 * SEGMENT_BYTES_MAX


@dataclass(slots=True)
class Collected:
    """What one round has done."""

    segments: int = 0
    rows: int = 0
    refused: int = 0


def collect(
    logs: Sequence[Path],
    landing: Path,
    *,
    keep: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> Collected:
    """Lands every closed segment of these folders of logs."""
    for folder in logs:
        if not folder.is_dir():
            raise PipelineProblem(f"{folder} is not a folder: name the one that holds event logs.")
    done = Collected()
    for path in _closed_segments(logs):
        _collect_one(path, landing, done, keep=keep, tell=tell)
    return done


def watch(logs: Sequence[Path], landing: Path, every_s: float, tell: Callable[[str], None]) -> None:
    """Collects again and again, until interrupted."""
    while True:
        done = collect(logs, landing, tell=tell)
        if done.segments:
            tell(f"{done.segments} segments, {done.rows} rows")
        time.sleep(every_s)


def _closed_segments(logs: Sequence[Path]) -> Iterator[Path]:
    for folder in logs:
        closed = folder / CLOSED_FOLDER
        yield from sorted((closed if closed.is_dir() else folder).glob(f"*{SUFFIX}"))


def _collect_one(
    path: Path, landing: Path, done: Collected, *, keep: bool, tell: Callable[[str], None]
) -> None:
    try:
        if path.stat().st_size > SEGMENT_FILE_BYTES_MAX:
            raise PipelineProblem("it is larger than any segment")
        data = path.read_bytes()
    except FileNotFoundError:
        return  # The application has made room, or another collector was faster.
    except (OSError, PipelineProblem) as problem:
        done.refused += 1
        tell(f"{path} stays where it is: {problem}")
        return
    done.rows += land_segment(segment_rows(data), landing, path.name.removesuffix(SUFFIX))
    done.segments += 1
    if not keep:
        path.unlink(missing_ok=True)
