"""Messages into Python callbacks, beside the same work through other systems' Python packages.

One sender and two receivers, each a process, on the loopback interface; 1000-byte messages for a
bounded time. The figure is what the slower receiver got per second. Systems that are not installed
are named and passed over: `make bench PEERS=1` puts them into a folder of the benchmark's own.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from transport.benches.callback_roles import BYTES, EACH, OTHERS, RECEIVERS, ROLES
from transport.benches.programs import PEERS, Effort, raw_limit
from transport.benches.record import Record

ROOT = Path(__file__).resolve().parents[2]
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
    sender_us: float = 0.0
    problem: str = ""


# The figures that the issue of Python speed asks of ours, by what they are compared with.
TARGETS = {"pyzmq": 1.0, "eclipse-zenoh": 3.0, "cyclonedds": 10.0}
EACH_TARGET = 300_000


def measure(effort: Effort) -> Iterator[Record]:
    """Ours with a call per batch and per message, then each of the others with our ratio to it."""
    raw = raw_limit(effort, RECEIVERS).offload
    batch = 0.0
    for system in ROLES:
        runs = [measure_system(system, effort.seconds) for _ in range(effort.repeats)]
        result = sorted(runs, key=lambda run: run.messages_per_s)[len(runs) // 2]
        if system not in OTHERS:
            batch = batch or result.messages_per_s
        yield _record(system, result, raw, batch)


def _record(system: str, result: Result, raw: float, batch: float) -> Record:
    rate = result.messages_per_s
    ours = system not in OTHERS
    ratio = (rate / raw if raw else 0.0) if ours else (batch / rate if rate else 0.0)
    target = TARGETS.get(system, float(EACH_TARGET) if system == EACH else 0.0)
    met = rate >= target if system == EACH else ratio >= target
    return Record(
        name="python",
        what=system,
        receivers=RECEIVERS,
        bytes=BYTES,
        rate=rate,
        raw=raw,
        ratio=ratio,
        target=target,
        met=met if target and not result.problem else None,
        note="" if ours else "the ratio is ours, per batch, to this",
        problem=result.problem if ours else "",
        more={
            "receiver_us": result.receiver_us,
            "sender_us": result.sender_us,
            **({"absent": result.problem} if result.problem and not ours else {}),
        },
    )


def measure_system(system: str, seconds: float) -> Result:
    """One run of one system; what goes wrong is in the result."""
    module = OTHERS.get(system)
    if module is not None and not _installed(module):
        return _without(system, "not installed: make bench PEERS=1")
    try:
        return _measure(system, max(0.4, seconds))
    except (RuntimeError, OSError, ValueError, subprocess.SubprocessError) as problem:
        return _without(system, str(problem))


def _installed(module: str) -> bool:
    return (PEERS / module).is_dir() or find_spec(module) is not None


def _without(system: str, problem: str) -> Result:
    return Result(system, 0.0, 0.0, problem=problem)


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
            return _count(system, seconds, sender, receivers)
        finally:
            for process in receivers:
                _end(process)


def _used_s(process: subprocess.Popen[str]) -> float:
    """Processor time of a process, where the system tells; else 0."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _count(
    system: str,
    seconds: float,
    sender: subprocess.Popen[str],
    receivers: Sequence[subprocess.Popen[str]],
) -> Result:
    time.sleep(seconds * _SETTLE_SHARE)
    sender_s = _used_s(sender)
    before, before_s = [_ask(process) for process in receivers], time.monotonic()
    time.sleep(seconds * (1 - 2 * _SETTLE_SHARE))
    after, after_s = [_ask(process) for process in receivers], time.monotonic()
    messages = [late[0] - early[0] for late, early in zip(after, before, strict=True)]
    used_s = sum(late[1] - early[1] for late, early in zip(after, before, strict=True))
    return Result(
        system,
        messages_per_s=min(messages) / (after_s - before_s),
        receiver_us=used_s / max(1, sum(messages)) * 1e6,
        sender_us=(_used_s(sender) - sender_s) / max(1, min(messages)) * 1e6,
    )


def _start(system: str, role: str, seconds: float, address: str) -> subprocess.Popen[str]:
    module = "transport.benches.callback_roles"
    command = [sys.executable, "-m", module, system, role, str(seconds), address]
    peers = {"PYTHONPATH": str(PEERS)} if system in OTHERS else {}
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **peers},
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
