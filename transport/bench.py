"""What `live-objects bench python` measures: messages into Python callbacks, beside others' ways.

One sender and two receivers, each a process, on the loopback interface; 1000-byte messages for a
bounded time. The figure is what the slower receiver got per second. Every system does the same
work through its Python package; those that are not installed are named and passed over. The raw
limit of the machine's UDP is printed beside them when its program has been built.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from transport.bench_roles import BYTES, OTHERS, RECEIVERS, ROLES
from transport.commands import columns

SECONDS = 3.0
# A system that has not begun by then is given up.
START_S_MAX = 30.0
# The first part of the time is not counted: connections settle, rates grow.
_SETTLE_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Result:
    """One system's figure; `problem` says why there is none."""

    system: str
    messages_per_s: float
    # Processor time that a receiver needs for a message: does not depend on who else is at work.
    receiver_us: float
    processors: int
    bytes: int = BYTES
    receivers: int = RECEIVERS
    problem: str = ""


def measure_all(seconds: float, only: str = "") -> Iterator[Result]:
    """The figures, as they come."""
    for system in ROLES:
        if only and only not in system:
            continue
        module = OTHERS.get(system)
        if module is not None and find_spec(module) is None:
            yield _without(system, f"not installed: pip install {system}")
            continue
        try:
            yield _measure(system, seconds)
        except (RuntimeError, OSError, ValueError, subprocess.SubprocessError) as problem:
            yield _without(system, str(problem))


def _without(system: str, problem: str) -> Result:
    return Result(system, 0.0, 0.0, os.cpu_count() or 1, problem=problem)


def _address(system: str) -> str:
    """Where the processes of one run meet."""
    if system not in OTHERS:
        return os.urandom(32).hex()
    if system == "cyclonedds":
        return str(20 + os.getpid() % 80)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return f"tcp/127.0.0.1:{port}" if system == "eclipse-zenoh" else f"tcp://127.0.0.1:{port}"


def _measure(system: str, seconds: float) -> Result:
    address = _address(system)
    with _started(system, "send", seconds, address) as sender:
        receivers = [_start(system, "receive", seconds, address) for _ in range(RECEIVERS)]
        try:
            for process in (*receivers, sender):
                _expect(process, "ready")
            return _count(system, seconds, receivers)
        finally:
            for process in receivers:
                _end(process)


def _count(system: str, seconds: float, receivers: Sequence[subprocess.Popen[str]]) -> Result:
    time.sleep(seconds * _SETTLE_SHARE)
    before, before_s = [_ask(process) for process in receivers], time.monotonic()
    time.sleep(seconds * (1 - 2 * _SETTLE_SHARE))
    after, after_s = [_ask(process) for process in receivers], time.monotonic()
    messages = [late[0] - early[0] for late, early in zip(after, before, strict=True)]
    used_s = sum(late[1] - early[1] for late, early in zip(after, before, strict=True))
    return Result(
        system,
        messages_per_s=min(messages) / (after_s - before_s),
        receiver_us=used_s / max(1, sum(messages)) * 1e6,
        processors=os.cpu_count() or 1,
    )


def _start(system: str, role: str, seconds: float, address: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "transport.bench_roles", system, role, str(seconds), address]
    return subprocess.Popen(
        command,
        cwd=Path(__file__).resolve().parent.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def _started(
    system: str, role: str, seconds: float, address: str
) -> Iterator[subprocess.Popen[str]]:
    process = _start(system, role, seconds, address)
    try:
        yield process
    finally:
        _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def _ask(process: subprocess.Popen[str]) -> tuple[int, float]:
    """Messages so far, and processor time so far."""
    _pipe(process.stdin).write("count\n")
    _pipe(process.stdin).flush()
    messages, used_s = _line(process).split()
    return int(messages), float(used_s)


def _expect(process: subprocess.Popen[str], word: str) -> None:
    line = _line(process)
    if line != word:
        raise RuntimeError(f"said {line!r} where {word!r} was expected")


def _line(process: subprocess.Popen[str]) -> str:
    """The next line; an error with the process's own last words when there is none in time."""
    output = _pipe(process.stdout)
    if not _readable(output, START_S_MAX):
        raise RuntimeError(f"did not answer within {START_S_MAX:.0f} s")
    line = output.readline()
    if not line:
        complaint = _pipe(process.stderr).read().strip().split("\n")[-1]
        raise RuntimeError(complaint or "ended without a word")
    return line.strip()


def _readable(pipe: IO[str], within_s: float) -> bool:
    import select  # noqa: PLC0415 - only for pipes on systems that have it

    return bool(select.select([pipe], [], [], within_s)[0])


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None, "every process was started with pipes"
    return pipe


def raw_limit(program: Path, seconds: float) -> list[dict[str, Any]]:
    """The machine's own limit, as native/bench/raw_udp tells it; nothing when it is not built."""
    if not program.is_file():
        return []
    command = [str(program), "--bytes", str(BYTES), "--receivers", str(RECEIVERS)]
    command += ["--seconds", str(max(1, round(seconds / 3))), "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return []
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def as_json(result: Result) -> dict[str, Any]:
    return asdict(result)


def as_table(results: Sequence[Result]) -> str:
    rows = [
        [each.system, "-", "-", each.problem]
        if each.problem
        else [each.system, f"{each.messages_per_s:,.0f}", f"{each.receiver_us:.2f}", ""]
        for each in results
    ]
    return columns(["system", "messages/s", "receiver us/message", ""], rows) + "\n"
