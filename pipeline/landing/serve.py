"""A collector that works for one application: asked by a line, and ended with the application.

The application holds the other end of the input. Every line says that a segment was closed. It ends
with the application, however that ends; what is left then is collected after the next start.
Nothing that goes wrong ends it before: what it did last is in `collected.json`, for the doctor.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pipeline.errors import PipelineProblem
from pipeline.files import replace_file
from pipeline.landing.collect import Collected, collect
from pipeline.landing.room import make_room

STATE_FILE = "collected.json"
LOCK_FILE = "collecting.lock"
_PR_SET_PDEATHSIG = 1


def serve(
    logs: Path,
    landing: Path,
    asked: Iterable[object],
    room_bytes: int,
    tell: Callable[[str], None] = lambda _: None,
) -> None:
    """Collects now and whenever asked, until nobody can ask any more."""
    _give_way()
    with _only_one(logs):
        total = Collected()
        for _ in _rounds(asked):
            problem = ""
            try:
                done = collect([logs], landing, tell=tell)
                total.segments += done.segments
                total.rows += done.rows
                total.refused = done.refused
                make_room(landing, room_bytes)
            except (PipelineProblem, OSError) as told:
                problem = str(told)
            state = {"segments": total.segments, "rows": total.rows, "refused": total.refused}
            with suppress(PipelineProblem):
                text = json.dumps({**state, "problem": problem})
                replace_file(logs / STATE_FILE, text.encode())


def _rounds(asked: Iterable[object]) -> Iterator[None]:
    yield
    for _ in asked:
        yield


def end_with_parent() -> None:
    """The system ends this process as soon as the one that started it has ended, also by a crash;
    where it cannot, the end of the input does so after the present round."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _give_way() -> None:
    """From now on this process runs when nobody else wants to."""
    with suppress(OSError, AttributeError):
        os.nice(19)
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


@contextmanager
def _only_one(logs: Path) -> Iterator[None]:
    if os.name != "posix":
        yield  # Two collectors land the same files under the same names: only work is lost.
        return
    import fcntl  # noqa: PLC0415 - not on every system

    try:
        logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(logs / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as problem:
        raise PipelineProblem(f"{logs} cannot be written: {problem.strerror}.") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise PipelineProblem(f"Another collector works in {logs}.") from None
    finally:
        os.close(file)
