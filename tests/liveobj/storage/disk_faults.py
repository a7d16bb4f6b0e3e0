"""Lets every call to the disk fail, one after another: `make disk-faults`.

For each operation, each fault and each call the operation runs in a process of its own, in which
that call (or all from it on) fails, or which is killed there. Then the disk is well again: whatever
was acknowledged must be there, nothing renamed, nothing empty. `failing_disk.c` does the failing.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

SHIM = Path(__file__).with_name("failing_disk.c")
_READY = "LIVE_OBJECTS_FAILING_DISK"
_KILL, _SHORT = -1, -2
_CHILD_S_MAX = 60
_BROKEN = 3
_MEMORY = "/dev/shm"


@dataclass(frozen=True, slots=True)
class Fault:
    """`kinds` are the letters of the calls that it makes fail (see `failing_disk.c`)."""

    name: str
    error: int
    kinds: str
    lasts: tuple[bool, ...] = (False, True)


FAULTS = (
    Fault("full", errno.ENOSPC, "cwstn"),
    Fault("I/O error", errno.EIO, "ocrwstnm"),
    Fault("read-only", errno.EROFS, "ctn"),
    Fault("sync fails", errno.EIO, "s"),
    Fault("short write", _SHORT, "w"),
    Fault("killed", _KILL, "ocrwstnm", (False,)),
)


@dataclass(frozen=True, slots=True)
class Case:
    operation: Any
    fault: Fault
    lasts: bool
    at: int

    def __str__(self) -> str:
        until = "from then on" if self.lasts else "once"
        return f"{self.operation.name}: {self.fault.name} at call {self.at}, {until}"


class Sweep:
    """Runs cases below a folder. Attributes: `failures`, sentences."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shim = ctypes.CDLL(None)
        self._shim.disk_trace.restype = ctypes.c_char_p
        self.failures: list[str] = []

    def prepare(self, operation: Any, *, runs_well: bool = True) -> str:
        """Makes the folder that the operation begins with; returns the calls of a run without
        faults, a letter each."""
        template = self._template(operation)
        template.mkdir()
        operation.prepare(template)
        if not runs_well:
            return ""
        output, status = self._run(operation, 0, 0, False, "")
        if status:
            self.failures.append(f"{operation.name}: it does not even run without faults")
        return next((line[1:] for line in output if line.startswith("=")), "")

    def run(self, case: Case) -> None:
        fault = case.fault
        output, status = self._run(case.operation, fault.error, case.at, case.lasts, fault.kinds)
        acknowledged = {line[1:] for line in output if line.startswith("+")}
        if status == _BROKEN or (status and case.operation.name.startswith("look")):
            self.failures.append(f"{case}: {output}")
        try:
            wrong = case.operation.check(self._place, acknowledged)
        except Exception as problem:
            wrong = [repr(problem)]
        self.failures.extend(f"{case}: {each}" for each in wrong)

    def _template(self, operation: Any) -> Path:
        return self._folder / f"template of {operation.name}"

    @property
    def _place(self) -> Path:
        return self._folder / "place"

    def _run(
        self, operation: Any, error: int, at: int, lasts: bool, kinds: str
    ) -> tuple[list[str], int]:
        from tests.liveobj.storage import disk_operations

        disk_operations.copy_folder(self._template(operation), self._place)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(_CHILD_S_MAX)
            os.close(reading)
            result = _BROKEN
            letters = ctypes.create_string_buffer(kinds.encode())
            place = os.fsencode(self._place)
            self._shim.disk_watch(ctypes.c_char_p(place), error, at, int(lasts), letters)
            try:
                operation.run(self._place, lambda word: _report(writing, f"+{word}"))
                result = 0
            except disk_operations.REFUSALS:
                result = 1
            except BaseException as problem:
                _report(writing, f"!{problem!r}")
            finally:
                self._shim.disk_rest()
                _report(writing, f"={self._shim.disk_trace().decode()}")
                os._exit(result)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            output = pipe.read().decode().splitlines()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        hung = status == -signal.SIGALRM
        return ([*output, "!it hung"], _BROKEN) if hung else (output, status)


def _report(pipe: int, line: str) -> None:
    os.write(pipe, f"{line}\n".encode())


def cases(operation: Any, trace: str) -> Iterator[Case]:
    for fault in FAULTS:
        for lasts in fault.lasts:
            for at, kind in enumerate(trace, 1):
                if kind in fault.kinds:
                    yield Case(operation, fault, lasts, at)


def look() -> int:
    """What may only be read can be looked at; returns the exit code."""
    from tests.liveobj.storage.disk_operations import LOOKS

    read_only = next(fault for fault in FAULTS if fault.error == errno.EROFS)
    with TemporaryDirectory(prefix="disk-faults-") as name:
        runs = Sweep(Path(name).resolve())
        for operation in LOOKS:
            runs.prepare(operation, runs_well=False)
            runs.run(Case(operation, read_only, True, 1))
    for failure in runs.failures:
        sys.stdout.write(f"{failure}\n")
    return 1 if runs.failures else 0


def sweep(share: int, only: str) -> int:
    """Runs each `share`-th case, of all operations or of one; returns the exit code."""
    from tests.liveobj.storage.disk_operations import LIAR, OPERATIONS

    total = 0
    # Nothing here depends on how slow the disk is.
    memory = _MEMORY if Path(_MEMORY).is_dir() else None
    with TemporaryDirectory(prefix="disk-faults-", dir=memory) as name:
        runs = Sweep(Path(name).resolve())
        chosen_ones = [each for each in (*OPERATIONS, LIAR) if each.name == only] or OPERATIONS
        for operation in chosen_ones:
            trace = runs.prepare(operation)
            chosen = [
                case for number, case in enumerate(cases(operation, trace)) if number % share == 0
            ]
            before = len(runs.failures)
            for case in chosen:
                runs.run(case)
            total += len(chosen)
            failed = len(runs.failures) - before
            sys.stdout.write(
                f"{operation.name:10}  {len(trace):4} calls  {len(chosen):5} faults  "
                f"{failed} failures\n"
            )
            sys.stdout.flush()
    for failure in runs.failures[:200]:
        sys.stdout.write(f"{failure}\n")
    sys.stdout.write(f"{total} faults, {len(runs.failures)} failures\n")
    return 1 if runs.failures or not total else 0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="disk_faults", description=__doc__)
    parser.add_argument("--share", type=int, default=1, metavar="N", help="run only each N-th case")
    parser.add_argument("--only", default="", metavar="NAME", help="run only this operation")
    given = parser.parse_args(arguments)
    if os.environ.get(_READY):
        logging.disable()
        return look() if given.only == "look" else sweep(given.share, given.only)
    with TemporaryDirectory() as folder:
        shim = Path(folder) / "failing_disk.so"
        compiler = os.environ.get("CC", "cc")
        command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(shim), str(SHIM), "-ldl"]
        subprocess.run(command, check=True)
        environment = {**os.environ, "LD_PRELOAD": str(shim), _READY: "1"}
        again = [sys.executable, "-m", "tests.liveobj.storage.disk_faults", *arguments]
        return subprocess.run(again, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
