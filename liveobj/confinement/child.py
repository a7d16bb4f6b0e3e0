"""The confined process: gives up its rights, imports one package, and runs its objects for its
keeper.

Started as `python -m liveobj.confinement.child PLACE MODULE ID…`; speaks frames on its input and
output and ends with them. It has a run time of its own, with a loop of its own; an object in it has
endpoints, timers and notices, and neither network nor disk. What an object needs of these it gets
by being connected to others that have them.
"""

from __future__ import annotations

import heapq
import importlib.util
import itertools
import os
import select
import sys
import sysconfig
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from liveobj.confinement.description import describe
from liveobj.confinement.frames import BadFrame, Frames, pack
from liveobj.confinement.system_limits import ALL, confine
from liveobj.declare import DECLARATIONS
from liveobj.errors import Problem
from liveobj.host import Host, Person
from liveobj.references import read_reference
from liveobj.runtime import Connection, ProxyReference, ProxyState, Runtime
from liveobj.runtime.endpoints import InternalEndpoint
from liveobj.types.objects import dual
from transport.interfaces import Group

READ_BYTES = 1 << 16
TRACE_CHARACTERS_MAX = 4000
# What the loader of libraries looks into besides the folders of Python.
SYSTEM_FILES = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo"),
    *("/etc/ld.so.cache", "/etc/localtime", "/dev/urandom", "/dev/null"),
)


class Confined(Problem):
    """What a confined object cannot do."""


class NoNetwork:
    """The network of a confined process."""

    node = 0

    def join(self, group_id: bytes, key: bytes) -> Group:
        raise Confined(
            "A confined object has no network of its own: connect it to a channel, or let its"
            " package run inside."
        )


class Timer:
    """One callback of the loop."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


class Loop:
    """The scheduler of this process: timers, and what comes on the input."""

    def __init__(self, take: Callable[[list[Any]], None]) -> None:
        self._take = take
        self._timers: list[tuple[float, int, Timer]] = []
        self._order = itertools.count()

    def time(self) -> float:
        return time.monotonic()

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        timer = Timer(callback)
        heapq.heappush(self._timers, (self.time() + delay, next(self._order), timer))
        return timer

    def run(self) -> None:
        """Until the keeper has closed the input."""
        frames = Frames()
        while True:
            wait_s = None
            if self._timers:
                wait_s = max(0.0, self._timers[0][0] - self.time())
            if select.select([0], [], [], wait_s)[0]:
                data = os.read(0, READ_BYTES)
                if not data:
                    return
                frames.add(data)
                while (message := frames.next()) is not None:
                    self._take(message)
            self._run_due()

    def _run_due(self) -> None:
        now = self.time()
        due: list[Timer] = []
        while self._timers and self._timers[0][0] <= now:
            due.append(heapq.heappop(self._timers)[2])
        for timer in due:
            if timer.callback is not None:
                timer.callback()


class Child:
    """The objects of this process, by the numbers that the keeper has given them."""

    def __init__(self) -> None:
        # Only this writes there; an object's own printing goes nowhere.
        self._output = os.dup(1)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        self.loop = Loop(self._take)
        nowhere = Path("/nonexistent")
        host = Host(NoNetwork(), nowhere, Person(""), self.loop, os.urandom, wall_time=time.time)
        self._runtime = Runtime(host)
        self._objects: dict[int, ProxyReference] = {}
        self._relays: dict[tuple[int, str], InternalEndpoint] = {}
        self._connections: dict[tuple[int, str], Connection] = {}

    def say(self, *message: Any) -> None:
        data = pack(list(message))
        while data:
            data = data[os.write(self._output, data) :]

    def load(self, place: Path, module: str, ids: list[str]) -> None:
        """Imports the package and describes what it declares."""
        try:
            _import(place, module)
            found = {}
            for id_ in ids:
                declaration = DECLARATIONS.find(id_)
                if declaration is None or not declaration.runnable:
                    raise Confined(f"The package does not have '{id_}'.")
                found[id_] = describe(declaration)
        except BaseException as problem:
            self.say("broken", f"{type(problem).__name__}: {problem}"[:TRACE_CHARACTERS_MAX])
            raise SystemExit(1) from None
        self.say("ready", found)

    def _take(self, message: list[Any]) -> None:
        match message:
            case ["ping", int(number)]:
                self.say("pong", number)
            case ["start", int(number), bytes(reference)]:
                self._guarded(number, lambda: self._start(number, reference))
            case ["stop", int(number)]:
                self._stop(number)
            case ["connected", int(number), str(endpoint), bool(connected)]:
                self._guarded(number, lambda: self._connect(number, endpoint, connected))
            case ["event", int(number), str(endpoint), str(event), dict(record)]:
                relay = self._relays.get((number, endpoint))
                if relay is not None:
                    self._guarded(number, lambda: relay.send(event, record))
            case _:
                raise BadFrame("what its keeper does not say")

    def _guarded(self, number: int, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as problem:
            text = "".join(traceback.format_exception(problem))[-TRACE_CHARACTERS_MAX:]
            self.say("failed", number, f"{type(problem).__name__}: {problem}"[:500], text)

    def _start(self, number: int, xml: bytes) -> None:
        proxy = self._runtime.dereference(read_reference(xml))
        self._objects[number] = proxy
        for name, type_ in proxy.type.endpoints.items():
            self._relays[number, name] = self._relay(number, name, dual(type_))
        proxy.when_settled(lambda _: self._settled(number))
        proxy.proxy.observe(lambda _: self._look(number))

    def _relay(self, number: int, name: str, type_: Any) -> InternalEndpoint:
        """The other end of an object's endpoint: what comes out there goes to the keeper."""
        owner = _Owner(self._runtime)
        return InternalEndpoint(
            owner, name, type_, lambda event, record: self._emit(number, name, event, record)
        )

    def _emit(self, number: int, endpoint: str, event: str, record: dict[str, Any]) -> None:
        self.say("event", number, endpoint, event, record)

    def _settled(self, number: int) -> None:
        proxy = self._objects[number]
        if proxy.state is ProxyState.RUNNING:
            self.say("started", number)
        else:
            self._look(number)

    def _look(self, number: int) -> None:
        proxy = self._objects.get(number)
        if proxy is not None and proxy.state is ProxyState.FAILED:
            self.say("failed", number, proxy.proxy.problem[:500], "")

    def _connect(self, number: int, endpoint: str, connected: bool) -> None:
        key = (number, endpoint)
        if connected:
            ends = self._relays[key].external, self._objects[number].endpoint(endpoint)
            self._connections[key] = self._runtime.connect(*ends)
        elif key in self._connections:
            self._connections.pop(key).dispose()

    def _stop(self, number: int) -> None:
        proxy = self._objects.pop(number, None)
        for key in [key for key in self._relays if key[0] == number]:
            del self._relays[key]
            self._connections.pop(key, None)
        if proxy is not None:
            proxy.close()


class _Owner:
    """The owner of relays: its events are passed on in the run time's turn."""

    name = "the keeper"

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def enqueue(self, task: Callable[[], None]) -> None:
        self._runtime.enqueue_for_client(task)


def _import(place: Path, module: str) -> None:
    spec = importlib.util.spec_from_file_location(
        module, place / "__init__.py", submodule_search_locations=[str(place)]
    )
    if spec is None or spec.loader is None:
        raise ImportError("there is nothing to import")
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[module] = loaded
    spec.loader.exec_module(loaded)


def _readable(place: Path) -> list[Path]:
    """Where Python, this program and the package are."""
    folders = {place, Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).parent}
    folders |= {Path(entry) for entry in sys.path if entry}
    folders |= {Path(path) for path in sysconfig.get_paths().values()}
    folders |= {Path(entry) for entry in SYSTEM_FILES}
    return sorted(folder.resolve() for folder in folders)


def main(arguments: list[str]) -> int:
    place, module, *ids = arguments
    child = Child()
    done = confine(_readable(Path(place)))
    child.say("limits", sorted(done))
    if done == ALL:
        child.load(Path(place), module, ids)
        child.loop.run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
