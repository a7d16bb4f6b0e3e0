"""Simulated engines: the same face as `transport.engine`, on a virtual network and a virtual clock.

A simulation is made from a seed; everything that happens in it follows from the seed and the
calls, so a failure is replayed by running it again. Time passes only in `run_for` and `run_until`:
seconds of five replicas under loss take milliseconds. `simulation_driver` lets it pass with real
time instead, so that the product can be tried with no network.
"""

from __future__ import annotations

import heapq
import itertools
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from transport import binding, binding_events
from transport.binding_sim import Sim, Traffic
from transport.config import EngineConfig
from transport.errors import BadArgument, Closed, WrongMoment
from transport.events import Health
from transport.node import Node

log = logging.getLogger(__name__)

# How often a predicate is looked at when nothing is reported.
_LOOK_NS = 10_000_000


@dataclass(frozen=True, slots=True)
class Link:
    """How datagrams travel one way; chances are fractions of 1. The default is a quiet office
    LAN."""

    delay_s: float = 0.0001
    jitter_s: float = 0.0
    loss: float = 0.0
    duplication: float = 0.0
    burst: float = 0.0
    burst_packets: int = 0
    bandwidth_bytes_per_s: int = 0
    queue_bytes: int = 0
    datagram_bytes_max: int = 0

    def __post_init__(self) -> None:
        for name in ("loss", "duplication", "burst"):
            if not 0 <= getattr(self, name) <= 1:
                raise BadArgument(f"The {name} is {getattr(self, name)}: it is a fraction of 1.")
        sizes = (self.bandwidth_bytes_per_s, self.queue_bytes, self.datagram_bytes_max)
        if min(self.delay_s, self.jitter_s, *sizes) < 0:
            raise BadArgument("A link's times and sizes are not negative.")

    def for_c(self) -> dict[str, int]:
        return {
            "delay_ns": round(self.delay_s * 1e9),
            "jitter_ns": round(self.jitter_s * 1e9),
            "bandwidth_bytes_per_s": self.bandwidth_bytes_per_s,
            "queue_bytes": self.queue_bytes,
            "datagram_bytes_max": self.datagram_bytes_max,
            "loss_ppm": round(self.loss * 1e6),
            "burst_ppm": round(self.burst * 1e6),
            "burst_packets": self.burst_packets,
            "duplicate_ppm": round(self.duplication * 1e6),
        }


class Timer:
    """One callback at one virtual time."""

    __slots__ = ("callback",)

    def __init__(self, callback: Callable[[], object]) -> None:
        self.callback: Callable[[], object] | None = callback

    def cancel(self) -> None:
        self.callback = None

    close = cancel


class SimulatedEngine(Node):
    """A node of a simulation, with the faults that can befall it."""

    # The simulator takes its memory back when its call returns.
    lends_later = False

    def __init__(self, simulation: Simulation, index: int, config: EngineConfig) -> None:
        super().__init__()
        self.config = config
        self.index = index
        self._simulation = simulation
        self._core = simulation.sim.core(index)

    def __repr__(self) -> str:
        return f"<SimulatedEngine {self.index} {self.health.name.lower()}>"

    def crash(self) -> None:
        """The node vanishes without a word; its groups are closed."""
        self._open_core()
        self._last_node = self.node
        self._core = None
        self.end_groups(Closed("The simulated node crashed."))
        self._simulation.sim.crash(self.index)

    def restart(self) -> None:
        """A crashed node starts anew with nothing remembered: it must join its groups again."""
        if self._core is not None:
            raise WrongMoment("The node is running: only a crashed one can be restarted.")
        self._departing = self._prefers_unicast = False
        self._simulation.sim.restart(self.index)
        self._core = self._simulation.sim.core(self.index)

    def depart(self) -> None:
        """Begins a clean departure; it is over when the health is CLOSED."""
        self._open_core()
        self.begin_departure(self._simulation.sim.now_ns)

    def freeze(self, seconds: float) -> None:
        """The node does nothing for that long; what arrives waits, and overflows."""
        self._simulation.sim.freeze(self.index, round(seconds * 1e9))

    def set_cost(self, seconds: float) -> None:
        """The node needs that long for each datagram and each event."""
        self._simulation.sim.set_cost(self.index, round(seconds * 1e9))

    def set_deaf(self, deaf: bool) -> None:
        """The node's application does not fetch its events while set."""
        self._simulation.sim.set_deaf(self.index, deaf=deaf)

    def set_clock(self, drift_ppm: int = 0, jump_s: float = 0.0) -> None:
        """The node's clock runs faster or slower, and jumps ahead now."""
        self._simulation.sim.set_clock(self.index, drift_ppm, round(jump_s * 1e9))

    @property
    def admitted(self) -> bool:
        return self.health.admitted

    # Of the simulation

    def lend(
        self, addresses: Sequence[int], sizes: Sequence[int]
    ) -> tuple[list[bytes], list[memoryview]]:
        # The simulator takes its memory back when its call returns, whoever still holds a part of
        # it; a copy cannot be read too late.
        copies = list(map(binding_events.copy_out, addresses, sizes))
        return copies, [memoryview(copy) for copy in copies]

    def wake(self) -> None:
        super().wake()
        self._simulation.node_called(self.index)

    def postpone(self) -> None:
        self._simulation.interrupt()

    def escape(self, problem: BaseException) -> None:
        super().escape(problem)
        self._simulation.interrupt()

    def on_events(self, events: binding.CData, count: int) -> None:
        self._pulled.clear()
        self.take(binding_events.Events(events, count))
        self.hand_out()


class Simulation:
    """A network, a clock and nodes. Also a scheduler on that clock: `time` and `call_later`."""

    def __init__(self, seed: int = 0, link: Link | None = None) -> None:
        self.seed = seed
        self.nodes: list[SimulatedEngine] = []
        self._sim = Sim(seed, self._observe)
        self._closed = False
        self._running = False
        self._reporting: int | None = None
        self._target_ns = 0
        self._timers: list[tuple[int, int, Timer]] = []
        self._order = itertools.count()
        self._predicate: Callable[[], bool] | None = None
        self._fulfilled = False
        self._escaped: BaseException | None = None
        self.set_link(link or Link())

    @property
    def sim(self) -> Sim:
        """C's side of it; refuses when that has been freed."""
        if self._closed:
            raise Closed("The simulation has been closed: make a new one.")
        return self._sim

    def __enter__(self) -> Simulation:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if value is not None:
            log.error("simulation failed; replay with seed=%d at %.6f s", self.seed, self.time())
        self.close()

    # The network

    def add_node(self, config: EngineConfig | None = None) -> SimulatedEngine:
        """A node that starts now."""
        config = config or EngineConfig()
        node = SimulatedEngine(self, self.sim.add_node(config), config)
        self.nodes.append(node)
        self.interrupt()
        return node

    def add_nodes(self, count: int, config: EngineConfig | None = None) -> list[SimulatedEngine]:
        return [self.add_node(config) for _ in range(count)]

    def set_link(
        self,
        link: Link | None = None,
        *,
        between: tuple[SimulatedEngine, SimulatedEngine] | None = None,
        **changes: Any,
    ) -> None:
        """The link of all pairs, or of one direction of one pair: `set_link(loss=0.2)`."""
        link = link or Link(**changes)
        pair = None if between is None else (between[0].index, between[1].index)
        self.sim.set_link(link.for_c(), pair)

    def unset_link(self, between: tuple[SimulatedEngine, SimulatedEngine]) -> None:
        """The pair has the link of all again."""
        self.sim.unset_link((between[0].index, between[1].index))

    def partition(self, *sides: Iterable[SimulatedEngine]) -> None:
        """Nodes of different sides do not hear each other; unnamed ones are a side of their own."""
        for node in self.nodes:
            self.sim.set_side(node.index, 0)
        for number, side in enumerate(sides, 1):
            for node in side:
                self.sim.set_side(node.index, number)

    def heal(self) -> None:
        """Everybody hears everybody."""
        self.partition()

    def block(
        self, sender: SimulatedEngine, receiver: SimulatedEngine, blocked: bool = True
    ) -> None:
        """One direction is cut, or no longer."""
        self.sim.block(sender.index, receiver.index, blocked=blocked)

    def block_multicast(
        self, sender: SimulatedEngine, receiver: SimulatedEngine, blocked: bool = True
    ) -> None:
        """The same for multicast alone."""
        self.sim.block_multicast(sender.index, receiver.index, blocked=blocked)

    def block_regions(self, receiver: SimulatedEngine) -> None:
        """What is sent to the multicast addresses of its regions, as they are now, does not reach
        it: a switch that carries some addresses and not others."""
        self.sim.block_regions(receiver.index)

    def traffic(self) -> Traffic:
        return self.sim.traffic()

    @property
    def trace_hash(self) -> int:
        """Equal for equal seeds and calls."""
        return self.sim.trace_hash

    # The clock

    def time(self) -> float:
        """Seconds of the virtual clock."""
        return 0.0 if self._closed else self.sim.now_ns / 1e9

    def call_later(self, delay: float, callback: Callable[[], object]) -> Timer:
        """Calls back once, that many virtual seconds from now."""
        timer = Timer(callback)
        due_ns = self.sim.now_ns + max(0, round(delay * 1e9))
        heapq.heappush(self._timers, (due_ns, next(self._order), timer))
        if due_ns < self._target_ns:
            self.interrupt()
        return timer

    def run_for(self, seconds: float) -> None:
        """Lets that much virtual time pass."""
        self._run(self.sim.now_ns + round(seconds * 1e9), None)

    def run_until(self, predicate: Callable[[], bool], limit_s: float = 30.0) -> bool:
        """Lets time pass until the predicate holds; False when it did not within the limit.

        It is looked at after each batch of events and every 10 virtual milliseconds.
        """
        return self._run(self.sim.now_ns + round(limit_s * 1e9), predicate)

    def _run(self, until_ns: int, predicate: Callable[[], bool] | None) -> bool:
        if self._running:
            raise WrongMoment("The simulation is running: callbacks cannot run it.")
        self._running, self._predicate, self._fulfilled = True, predicate, False
        try:
            while not self._fulfilled:
                self._between_runs()
                if predicate is not None and predicate():
                    return True
                now_ns = self.sim.now_ns
                if now_ns >= until_ns:
                    return False
                limit_ns = until_ns if predicate is None else min(until_ns, now_ns + _LOOK_NS)
                self._target_ns = min(limit_ns, self._timers[0][0] if self._timers else limit_ns)
                self.sim.run_until(self._target_ns)
            return True
        finally:
            self._running, self._predicate, self._target_ns = False, None, 0

    def _between_runs(self) -> None:
        """What could not be done while C was running, and timers that are due."""
        if self._escaped is not None:
            escaped, self._escaped = self._escaped, None
            raise escaped
        for node in self.nodes:
            node.after_native()
        while self._timers and self._timers[0][0] <= self.sim.now_ns:
            timer = heapq.heappop(self._timers)[2]
            callback, timer.callback = timer.callback, None
            if callback is not None:
                callback()

    def _observe(self, index: int, events: binding.CData, count: int) -> None:
        """C reports events of a node. Nothing may be raised into C."""
        self._reporting = index
        try:
            self.nodes[index].on_events(events, count)
            if self._predicate is not None and self._predicate():
                self._fulfilled = True
                self.sim.stop()
        except BaseException as problem:
            self._escaped = problem
            self.sim.stop()
        finally:
            self._reporting = None

    def node_called(self, index: int) -> None:
        """The application called a node; unless it is the one that reports, C must look at it."""
        if self._reporting != index:
            self.interrupt()

    def interrupt(self) -> None:
        """Ends the present run of C; `_run` goes on with it at the same instant."""
        if self._running:
            self.sim.stop()

    def close(self) -> None:
        """Frees everything. Harmless when done twice."""
        if self._closed:
            return
        if self._running:
            raise WrongMoment("The simulation is running: close it later.")
        self._closed = True
        for node in self.nodes:
            if not node.closed:
                node._core = None
                node.end_groups(Closed("The simulation has been closed."))
        self._timers.clear()
        self._sim.close()


def all_admitted(nodes: Iterable[SimulatedEngine]) -> Callable[[], bool]:
    """A predicate: every node that is up has been admitted."""
    listed = tuple(nodes)
    return lambda: all(
        node.closed or node.health in (Health.MEMBER, Health.HOST) for node in listed
    )
