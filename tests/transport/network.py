"""What tests of groups share: ids, feeds, members that remember, and the oracle of what they
saw."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from transport.config import EngineConfig
from transport.engine import Engine
from transport.group import Group
from transport.interfaces import Delivery, View
from transport.loop import AsyncioWatcher, EngineJoin
from transport.scopes import Scope
from transport.simulation import SimulatedEngine, Simulation

GROUP_ID = bytes(range(16))
KEY = b"k" * 32


def loopback(**changes: object) -> EngineConfig:
    """A scope that nobody else is in, on the loopback interface."""
    scope = Scope.from_key("Test", os.urandom(32))
    return EngineConfig(**{"scope": scope, "interface": "lo", **changes})  # type: ignore[arg-type]


def open_descriptors() -> int:
    """How many files and sockets this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


class Recorder:
    """A member that copies what it gets. `sent` by each member is what the oracle compares with."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.messages: list[tuple[int, bytes]] = []
        self.batches: list[int] = []
        self.views: list[View] = []
        self.sent: list[bytes] = []
        group.on_deliveries = self._on_deliveries
        group.on_view = self.views.append

    def _on_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        self.batches.append(len(deliveries))
        self.messages += [(delivery.sender, bytes(delivery.data)) for delivery in deliveries]

    def send(self, data: bytes) -> None:
        self.sent.append(data)
        self.group.send(data)

    def of(self, sender: Recorder) -> list[bytes]:
        return [data for node, data in self.messages if node == sender.group.me]

    def has_everything_of(self, senders: Iterable[Recorder]) -> bool:
        return all(self.of(sender) == sender.sent for sender in senders)


class Queue:
    """A feed that gives one message after another."""

    def __init__(self, messages: Iterable[bytes] = ()) -> None:
        self.messages = deque(messages)
        self.pulls = 0

    def pull(self, bytes_max: int) -> bytes | None:
        self.pulls += 1
        return self.messages.popleft() if self.messages else None


class Wrong:
    """A feed that answers with whatever it is given, or raises it."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.pulls = 0

    def pull(self, bytes_max: int) -> bytes | None:
        self.pulls += 1
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer  # type: ignore[return-value]


def in_one_view(recorders: Sequence[Recorder]) -> Callable[[], bool]:
    """A predicate: all have a view with exactly these members."""

    def holds() -> bool:
        wanted = {recorder.group.me for recorder in recorders}
        views = [recorder.group.view for recorder in recorders]
        return all(
            view is not None and {member.node for member in view.members} == wanted
            for view in views
        )

    return holds


Members = tuple[list[SimulatedEngine], list[Recorder]]


def simulated_members(simulation: Simulation, count: int, group_id: bytes = GROUP_ID) -> Members:
    """Nodes that have met in one group."""
    nodes = simulation.add_nodes(count)
    recorders = [Recorder(node.join(group_id, KEY)) for node in nodes]
    assert simulation.run_until(in_one_view(recorders)), f"no common view, seed {simulation.seed}"
    return nodes, recorders


async def until(predicate: Callable[[], bool], limit_s: float = 20.0) -> None:
    """Waits in real time; looks often, since what is waited for is the network."""
    loop = asyncio.get_running_loop()
    end_s = loop.time() + limit_s
    while not predicate():
        assert loop.time() < end_s, "it did not happen in time"
        await asyncio.sleep(0.002)


@asynccontextmanager
async def running(*configs: EngineConfig) -> AsyncIterator[list[Engine]]:
    """Engines on sockets, each joined to the running loop, departed from at the end.

    They start one after the other, so that the first is host when the second looks for one.
    """
    engines: list[Engine] = []
    try:
        for config in configs:
            engines.append(Engine.open(config))
            EngineJoin(engines[-1], AsyncioWatcher())
            if len(configs) > 1:
                await engines[-1].ready()
        yield engines
        for engine in reversed(engines):
            await engine.close()
    finally:
        for engine in engines:
            engine.destroy()


def run(story: Coroutine[Any, Any, None]) -> None:
    """A story in real time, to its end or for so long."""
    asyncio.run(asyncio.wait_for(story, 40))


async def meet(engines: Sequence[Engine]) -> list[Recorder]:
    """Their recorders in one group, when all are in one view."""
    recorders = [Recorder(engine.join(GROUP_ID, KEY)) for engine in engines]
    await until(in_one_view(recorders))
    return recorders
