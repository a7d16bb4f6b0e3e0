"""Owns the running of one confined package: its process is there as long as somebody uses it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from liveobj.confinement.process import ConfinedProcess, Described, Session
from liveobj.host import Host


class ConfinedPackage:
    """Users come by `use` and `open`; with the last one the process ends, and the next one starts
    another. One that has ended by itself is started again by the next object, too."""

    def __init__(
        self, host: Host, title: str, place: Path, module: str, ids: Sequence[str]
    ) -> None:
        self._make: Callable[[], ConfinedProcess] = partial(
            ConfinedProcess, host, title, place, module, ids
        )
        self._process: ConfinedProcess | None = None
        self._users = 0
        self._numbers = 0
        self._objects: dict[int, tuple[ConfinedProcess, int]] = {}

    def use(self, ready: Callable[[Described], None], broken: Callable[[str], None]) -> None:
        """Calls one of both, now or later; give it back with `close`."""
        self._users += 1
        self._running().when_ready(ready, broken)

    def close(self) -> None:
        """One user goes."""
        self._users -= 1
        if self._users == 0 and self._process is not None:
            process, self._process = self._process, None
            process.close()

    def _running(self) -> ConfinedProcess:
        if self._process is None or not self._process.running:
            self._process = self._make()
        return self._process

    # For the proxies of its objects (`runtime.foreign.Elsewhere`)

    def open(self, session: Session, reference: bytes) -> int:
        self._users += 1
        self._numbers += 1
        number = self._numbers
        process = self._running()
        self._objects[number] = (process, process.open(session, reference))
        return number

    def connected(self, number: int, endpoint: str, connected: bool) -> None:
        process, inner = self._objects[number]
        process.connected(inner, endpoint, connected)

    def send(self, number: int, endpoint: str, event: str, record: dict[str, Any]) -> None:
        process, inner = self._objects[number]
        process.send(inner, endpoint, event, record)

    def stop(self, number: int) -> None:
        """Harmless when done twice."""
        found = self._objects.pop(number, None)
        if found is not None:
            found[0].stop(found[1])
            self.close()
