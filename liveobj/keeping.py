"""Owns keeping objects alive when nobody has them open: a member without a window.

What `live-objects keep FILE…` runs; the application gives it a host and an event loop.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from liveobj.errors import Problem
from liveobj.host import Host, TimerHandle
from liveobj.objects.catalogue import DECLARED
from liveobj.references import Fingerprint, fingerprint, read_reference_file
from liveobj.runtime import ProxyReference, ProxyState, Runtime

log = logging.getLogger(__name__)

# A kept object that has failed, for example because the disk was full, is tried again.
RETRY_S = 60.0

assert DECLARED, "the standard objects are declared by being imported"


@dataclass(frozen=True, slots=True)
class Kept:
    """How one object is. `sentence` is for whoever looks after the keeper."""

    path: Path
    identity: Fingerprint | None
    running: bool
    sentence: str


class Keeper:
    """Holds the objects of some files open, until closed. One that cannot be opened does not keep
    the others from being kept."""

    def __init__(self, host: Host, paths: Iterable[Path]) -> None:
        self.runtime = Runtime(host)
        self._host = host
        self._paths = list(dict.fromkeys(paths))
        self._held: dict[Path, ProxyReference] = {}
        self._identities: dict[Path, Fingerprint] = {}
        self._problems: dict[Path, str] = {}
        self._timer: TimerHandle | None = None
        self._look()

    def _look(self) -> None:
        """Opens what is not open, now and from time to time."""
        for path in self._paths:
            held = self._held.get(path)
            if held is not None and held.state in (ProxyState.FAILED, ProxyState.DISPOSED):
                self._problems[path] = held.proxy.problem
                held.close()
                del self._held[path]
            if path not in self._held:
                self._open(path)
        self._timer = self._host.scheduler.call_later(RETRY_S, self._look)

    def _open(self, path: Path) -> None:
        try:
            reference = read_reference_file(path)
            self._identities[path] = fingerprint(reference)
            self._held[path] = self.runtime.dereference(reference)
        except Problem as problem:
            log.error("%s is not kept: %s", path, problem)
            self._problems[path] = str(problem)

    def state(self) -> list[Kept]:
        """How each object is, in the order of the files."""
        result: list[Kept] = []
        for path in self._paths:
            held = self._held.get(path)
            running = held is not None and held.state.alive
            if held is None or held.state is ProxyState.FAILED:
                problem = held.proxy.problem if held is not None else self._problems.get(path, "")
                sentence = problem or "It is not open."
            else:
                sentence = "It is kept." if running else "It is being opened."
            result.append(Kept(path, self._identities.get(path), running, sentence))
        return result

    def close(self) -> None:
        """Saves and leaves. Harmless when done twice."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for held in self._held.values():
            held.close()
        self._held.clear()
        self.runtime.close()
