"""A member without a window that edits one long note and measures how long its event loop is held.

    python -m app.long_text_member FOLDER NAME FILE

It is a part of `live-objects bench long-texts`: it reads commands from standard input, one JSON
object a line, and answers each with a line.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from app.headless_host import headless_host
from app.network_wishes import NetworkWishes
from app.paths import find_paths
from liveobj.documents.long_insert import UNSENT_MAX, LongInsert
from liveobj.objects.text_note import TextNote, open_note
from liveobj.references import read_reference_file

_TICK_S = 0.001
_FRAME_S = 0.008
_FRAME_S_MAX = 0.016
_KEY_S = 0.1
_WORDS = "The quick brown fox jumps over the lazy dog, and then it does so once more.\n"


class Holds:
    """How late a timer is that asks to be called every millisecond, and how much of that time this
    thread has worked; in the rest the machine did something else."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.reset()
        self._tick()

    def reset(self) -> None:
        self._last_s, self._last_cpu_s = time.perf_counter(), time.thread_time()
        self.worst_s = self.worst_cpu_s = 0.0
        self.long = 0

    def _tick(self) -> None:
        now_s, cpu_s = time.perf_counter(), time.thread_time()
        worked_s = cpu_s - self._last_cpu_s
        self.worst_s = max(self.worst_s, now_s - self._last_s - _TICK_S)
        self.worst_cpu_s = max(self.worst_cpu_s, worked_s)
        self.long += worked_s > _FRAME_S_MAX
        self._last_s, self._last_cpu_s = now_s, cpu_s
        self._loop.call_later(_TICK_S, self._tick)


class Member:
    """One open note, and what is done with it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, note: TextNote, opened_s: float) -> None:
        self._loop = loop
        self._note = note
        self._opened_s = opened_s
        self._holds = Holds(loop)
        self._typing = False
        self._keys_s: list[float] = []

    def do(self, command: dict[str, Any]) -> dict[str, Any]:
        match command:
            case {"do": "paste", "characters": int(count)}:
                words = (_WORDS * (count // len(_WORDS) + 1))[:count]
                self._paste(self._note.text.insert_long(0, words))
            case {"do": "type", "on": bool(on)}:
                self._typing, started = on, self._typing
                if on and not started:
                    self._type()
            case {"do": "reset"}:
                self._holds.reset()
                self._keys_s.clear()
        return self._state()

    def _paste(self, insertion: LongInsert) -> None:
        """A step a frame, as a window does, and none while what was inserted is not sent."""
        if self._note.state.unsent > UNSENT_MAX or insertion.step():
            self._loop.call_later(_FRAME_S, self._paste, insertion)

    def _type(self) -> None:
        if self._typing:
            start_s = time.perf_counter()
            self._note.text.insert(self._note.text.length, "k")
            self._keys_s.append(time.perf_counter() - start_s)
            self._loop.call_later(_KEY_S, self._type)

    def _state(self) -> dict[str, Any]:
        state = self._note.state
        return {
            "length": self._note.text.length,
            "version": self._note.document.version.digest.hex(),
            "people": state.people,
            "settled": state.saved and not state.unsent and not state.catching_up,
            "held_s": self._holds.worst_cpu_s,
            "late_s": self._holds.worst_s,
            "long": self._holds.long,
            "keys_s": sorted(self._keys_s),
            "opened_s": self._opened_s,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }


async def _run(folder: Path, name: str, file: Path) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    paths = find_paths({}, folder)
    paths.make()
    async with headless_host(paths, NetworkWishes("127.0.0.1"), name) as host:
        start_s = time.perf_counter()
        note = open_note(read_reference_file(file), host)
        member = Member(loop, note, time.perf_counter() - start_s)
        try:
            while line := await reader.readline():
                sys.stdout.write(json.dumps(member.do(json.loads(line))) + "\n")
                sys.stdout.flush()
        finally:
            note.close()


if __name__ == "__main__":
    asyncio.run(_run(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])))
