"""Owns a confined process from outside: starts it, speaks with it, and ends it when it does not
behave.

Nothing that it says is believed beyond what its form allows: it can make its own objects fail, and
nobody else's. One that does not answer, says what it must not, takes nothing in, or ends, is
killed, and all its objects fail with a sentence.
"""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from liveobj.confinement.description import BadDescription, read_description
from liveobj.confinement.frames import BadFrame, Frames, pack
from liveobj.confinement.system_limits import ALL
from liveobj.declare import ObjectDeclaration
from liveobj.host import Host, TimerHandle

log = logging.getLogger(__name__)

# It is asked so often whether it is well. Without an answer for so long, it hangs; starting takes
# longer, since Python has to be loaded.
ASK_S = 2.0
ANSWER_S_MAX = 5.0
START_S_MAX = 30.0
UNSENT_BYTES_MAX = 8 * 1024 * 1024
# Messages taken in one turn, so that one that talks without end does not stop everything.
MESSAGES_PER_TURN = 256
READ_BYTES = 1 << 16
SEND_AGAIN_S = 0.02
# Where nobody watches descriptors, it is looked at so often.
LOOK_S = 0.02

Described = Mapping[str, ObjectDeclaration]


class Session(Protocol):
    """One object in the process, as its proxy here is told of it."""

    def started(self) -> None: ...

    def emitted(self, endpoint: str, event: str, record: dict[str, Any]) -> None: ...

    def noticed(self, sentence: str) -> None: ...

    def failed(self, sentence: str) -> None: ...


@dataclass(slots=True)
class _Waiting:
    """Somebody who wants to know when the process is ready, or that it will not be."""

    ready: Callable[[Described], None]
    broken: Callable[[str], None]


def child_command() -> list[str]:
    """How to start the child; a compiled program starts itself, with a command of its own."""
    if "__compiled__" in globals():
        return [sys.argv[0], "confined"]
    return [sys.executable, "-I", "-m", "liveobj.confinement.child"]


class ConfinedProcess:
    """One package in one process. `title` is for sentences."""

    def __init__(
        self,
        host: Host,
        title: str,
        place: Path,
        module: str,
        ids: Sequence[str],
        command: Sequence[str] | None = None,
    ) -> None:
        self.title = title
        self._host = host
        self._module = module
        self._ids = frozenset(ids)
        self._frames = Frames()
        self._unsent = bytearray()
        self._sessions: dict[int, Session] = {}
        self._numbers = 0
        self._waiting: list[_Waiting] = []
        self._described: Described | None = None
        self._problem = ""
        self._pings = 0
        self._timers: dict[str, TimerHandle] = {}
        self._process = subprocess.Popen(
            [*(command or child_command()), str(place), module, *ids],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"},
            cwd="/",
            start_new_session=True,
        )
        assert self._process.stdin is not None, "asked for above"
        assert self._process.stdout is not None, "asked for above"
        self._input = self._process.stdin.fileno()
        self._output = self._process.stdout.fileno()
        os.set_blocking(self._input, False)
        os.set_blocking(self._output, False)
        self._watch = None
        if host.watch_readable is not None:
            self._watch = host.watch_readable(self._output, self._on_readable)
        else:
            self._later("look", LOOK_S, self._poll)
        self._later("answer", START_S_MAX, self._on_silence)

    @property
    def running(self) -> bool:
        return not self._problem

    @property
    def pid(self) -> int:
        return self._process.pid

    # For those who use its objects

    def when_ready(self, ready: Callable[[Described], None], broken: Callable[[str], None]) -> None:
        """Calls one of both: at once, where it is known, or later."""
        if self._problem:
            broken(self._problem)
        elif self._described is not None:
            ready(self._described)
        else:
            self._waiting.append(_Waiting(ready, broken))

    def open(self, session: Session, reference: bytes) -> int:
        """Starts an object; the number names it from here on."""
        self._numbers += 1
        self._sessions[self._numbers] = session
        if self._problem:
            session.failed(self._problem)
        self._say("start", self._numbers, reference)
        return self._numbers

    def connected(self, number: int, endpoint: str, connected: bool) -> None:
        self._say("connected", number, endpoint, connected)

    def send(self, number: int, endpoint: str, event: str, record: dict[str, Any]) -> None:
        self._say("event", number, endpoint, event, record)

    def stop(self, number: int) -> None:
        if self._sessions.pop(number, None) is not None:
            self._say("stop", number)

    def close(self) -> None:
        """Ends it. Harmless when done twice."""
        self._end(f"“{self.title}” has been ended.")

    # What is said

    def _say(self, *message: Any) -> None:
        if self._problem:
            return
        try:
            self._unsent += pack(list(message))
        except BadFrame as problem:
            log.error("nothing is sent to %s: %s", self.title, problem)
            return
        self._send()

    def _ask(self) -> None:
        self._cancel("ask")
        self._pings += 1
        self._later("answer", ANSWER_S_MAX, self._on_silence)
        self._say("ping", self._pings)

    def _on_well(self) -> None:
        self._cancel("answer")
        self._later("ask", ASK_S, self._ask)

    def _send(self) -> None:
        self._cancel("send")
        try:
            while self._unsent:
                sent = os.write(self._input, self._unsent[:READ_BYTES])
                del self._unsent[:sent]
        except BlockingIOError:
            if len(self._unsent) > UNSENT_BYTES_MAX:
                self._end(f"“{self.title}” does not keep up and was stopped.")
                return
            self._later("send", SEND_AGAIN_S, self._send)
        except OSError:
            self._end(f"“{self.title}” has ended by itself.")

    # What is heard

    def _poll(self) -> None:
        self._cancel("look")
        self._on_readable()
        if not self._problem:
            self._later("look", LOOK_S, self._poll)

    def _on_readable(self) -> None:
        if self._problem:
            return
        try:
            data = os.read(self._output, READ_BYTES)
        except BlockingIOError:
            self._take_messages()
            return
        except OSError:
            data = b""
        if not data:
            self._end(f"“{self.title}” has ended by itself.")
            return
        self._frames.add(data)
        self._take_messages()

    def _take_messages(self) -> None:
        try:
            for _ in range(MESSAGES_PER_TURN):
                message = None if self._problem else self._frames.next()
                if message is None:
                    return
                self._take(message)
        except (BadFrame, BadDescription) as problem:
            log.error("%s: %s", self.title, problem)
            self._end(f"“{self.title}” said what it must not and was stopped.")
            return
        self._later("more", 0.0, self._take_more)

    def _take_more(self) -> None:
        self._cancel("more")
        self._take_messages()

    def _take(self, message: list[Any]) -> None:
        match message:
            case ["event", int(number), str(endpoint), str(event), dict(record)]:
                self._told(number, lambda session: session.emitted(endpoint, event, record))
            case ["pong", int(number)]:
                if number == self._pings:
                    self._on_well()
            case ["started", int(number)]:
                self._told(number, lambda session: session.started())
            case ["notice", int(number), str(sentence)]:
                self._told(number, lambda session: session.noticed(sentence[:500]))
            case ["failed", int(number), str(sentence), str(trace)]:
                log.error("an object of %s has failed: %s\n%s", self.title, sentence, trace)
                self._told(number, lambda session: session.failed(sentence[:500]))
            case ["limits", [*limits]] if self._described is None:
                self._check_limits(limits)
            case ["ready", dict(objects)] if self._described is None:
                self._be_ready(objects)
            case ["broken", str(sentence)]:
                self._end(f"“{self.title}” cannot be started: {sentence[:500]}")
            case _:
                raise BadFrame(f"a message of an unknown form: {message[0]!r:.40}")

    def _told(self, number: int, tell: Callable[[Session], None]) -> None:
        session = self._sessions.get(number)
        if session is not None:
            tell(session)

    def _check_limits(self, limits: list[Any]) -> None:
        lacking = ALL - {limit for limit in limits if isinstance(limit, str)}
        if lacking:
            self._end(
                f"“{self.title}” is not started: this system cannot confine it"
                f" (no limits on {', '.join(sorted(lacking))})."
            )

    def _be_ready(self, objects: dict[Any, Any]) -> None:
        if frozenset(objects) != self._ids:
            raise BadFrame("other objects than were asked for")
        self._described = {
            id_: read_description(id_, self._module, described)
            for id_, described in objects.items()
        }
        self._on_well()
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            each.ready(self._described)

    # Its end

    def _on_silence(self) -> None:
        self._cancel("answer")
        self._end(f"“{self.title}” did not answer and was stopped.")

    def _end(self, sentence: str) -> None:
        if self._problem:
            return
        self._problem = sentence
        for name in list(self._timers):
            self._cancel(name)
        if self._watch is not None:
            self._watch.close()
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None, "asked for above"
            with contextlib.suppress(OSError):
                pipe.close()
        self._process.wait()
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            each.broken(sentence)
        sessions, self._sessions = self._sessions, {}
        for session in sessions.values():
            session.failed(sentence)

    def _later(self, name: str, delay_s: float, callback: Callable[[], None]) -> None:
        self._cancel(name)
        self._timers[name] = self._host.scheduler.call_later(delay_s, callback)

    def _cancel(self, name: str) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()
