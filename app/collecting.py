"""Owns the process that turns closed segments of the event log into Parquet files.

It is another process, of the least priority, started some seconds after the program and told by a
line whenever a segment was closed; it ends with the program, however that ends, and writes nothing
any more: what is left is collected after the next start. Nothing that happens to it is felt:
without it the segments stay as they are, within the bounds of the log.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from transport.engine_logger import CallAt
from transport.event_log_schema import CLOSED_FOLDER, SUFFIX
from transport.findings import Finding, good, odd
from widgets.language import tr, tr_n

log = logging.getLogger(__name__)

LANDED_FOLDER = "landed"
STATE_FILE = "collected.json"
# The start of the program comes first.
BEGIN_AFTER_S = 10.0
# One that has ended by itself is started again, but not all the time.
AGAIN_AFTER_S = 600.0
ROOM_MB = 512
# So many segments wait only where nobody collects them.
WAITING_MAX = 20
# A process that was killed is gone in milliseconds, unless the disk holds it.
_END_S_MAX = 1.0


def can_collect() -> bool:
    """Whether what the collector needs is installed here."""
    return all(find_spec(name) is not None for name in ("pipeline", "duckdb"))


class Collecting:
    """The collector of one folder of event logs. `call_at` makes appointments on the `clock`."""

    def __init__(self, events: Path, call_at: CallAt, clock: Callable[[], float]) -> None:
        self._events = events
        self._clock = clock
        self._closed = False
        self._child: subprocess.Popen[bytes] | None = None
        self._not_before_s = clock() + BEGIN_AFTER_S
        self._begin = call_at(self._not_before_s, self._begin_if_waited_for)

    def segment_closed(self) -> None:
        """There is something to collect."""
        if not self._closed and (self._child is None or not self._ask()):
            self._start()

    def close(self) -> None:
        """Ends it; what it was in the middle of it does again another time. Harmless when done
        twice."""
        self._begin.close()
        self._closed = True
        if self._child is not None and self._child.stdin is not None:
            self._child.stdin.close()
            self._child.kill()
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(_END_S_MAX)

    def _begin_if_waited_for(self) -> None:
        if self._child is None and waiting_segments(self._events):
            self._start()

    def _ask(self) -> bool:
        assert self._child is not None
        assert self._child.stdin is not None
        if self._child.poll() is None:
            try:
                os.write(self._child.stdin.fileno(), b"\n")
            except BlockingIOError:
                return True  # It has been asked more often than it needs to be.
            except OSError:
                return False
            return True
        self._child.stdin.close()
        self._child = None
        return False

    def _start(self) -> None:
        if self._clock() < self._not_before_s or not can_collect():
            return
        self._not_before_s = self._clock() + AGAIN_AFTER_S
        command = [
            # -P: what lies in the folder where the program was started is not taken for ours.
            *(sys.executable, "-P", "-m", "pipeline", "--quiet", "collect", str(self._events)),
            *("--landing", str(self._events / LANDED_FOLDER), "--asked", "--room", str(ROOM_MB)),
        ]
        try:
            self._child = subprocess.Popen(
                command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                # Ctrl+C in a terminal is for the program; this one ends when it has.
                start_new_session=True,
            )
        except OSError as problem:
            log.warning("event logs stay as they are: %s", problem.strerror)
            return
        assert self._child.stdin is not None
        os.set_blocking(self._child.stdin.fileno(), False)


def waiting_segments(events: Path) -> int:
    """How many closed segments nobody has collected yet."""
    return sum(1 for _ in (events / CLOSED_FOLDER).glob(f"*{SUFFIX}"))


def check_collecting(events: Path, *, wanted: bool) -> Finding:
    """What the doctor says of it."""
    subject = "event log"
    if not wanted:
        return good(subject, tr("Events are not logged, as the settings say."))
    if not can_collect():
        return odd(
            subject,
            tr("Events are logged, but not made into Parquet files: a package is missing."),
            tr("Install live-objects[landing]; until then only the newest 256 MB are kept."),
        )
    problem = _last_problem(events)
    if problem:
        return odd(
            subject,
            tr("The event log was not made into Parquet files: {problem}", problem=problem),
            tr("What was closed stays, and is tried again every minute."),
        )
    waiting = waiting_segments(events)
    if waiting > WAITING_MAX:
        return odd(
            subject,
            tr(
                "{waiting} segments of the event log wait to be made into Parquet files.",
                waiting=waiting,
            ),
            tr("Start the program for a minute, or run live-objects pipeline collect."),
        )
    landed = events / LANDED_FOLDER
    count = sum(1 for _ in landed.glob("*.parquet"))
    return good(
        subject,
        tr_n(
            "{count} Parquet file of events is in {folder}.",
            "{count} Parquet files of events are in {folder}.",
            count,
            folder=landed,
        ),
    )


def _last_problem(events: Path) -> str:
    try:
        state = json.loads((events / STATE_FILE).read_text(encoding="utf-8"))
        problem = state["problem"]
        return problem[:300] if isinstance(problem, str) else ""
    except (OSError, ValueError, KeyError, TypeError):
        return ""
