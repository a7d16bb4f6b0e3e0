"""The engine on UDP sockets: opened with a configuration, stepped by somebody's event loop, closed.

It owns the sockets and the order of one step: C reads, works and sends; then events are fetched in
pieces, handed out, and what they lent is given back. Which loop steps it is not known here; see
`transport.loop`.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable
from dataclasses import replace

from transport import binding, binding_events
from transport.binding_udp import Udp, UdpInfo
from transport.config import KNOWN_PEERS_MAX, EngineConfig, Peer
from transport.errors import Closed, NoMulticast, ViewKept, WrongMoment
from transport.events import Health, HealthChanged
from transport.interface_choice import fit_interface, prefers_unicast
from transport.links import list_links
from transport.loans import Loans
from transport.node import Node

log = logging.getLogger(__name__)

STEP_BUDGET_S = 0.002
CLOSE_BOUND_S = 2.0

# Events handed out before the clock is looked at. Python's work for an event is unknown and can be
# long, so the number follows what the last piece took.
_PIECE_EVENTS_MIN = 16
_PIECE_EVENTS_MAX = 1024
# The part of a step's budget that C may use for sockets and protocol; the rest is for callbacks.
_NATIVE_SHARE = 0.5
_CLOSE_WAIT_S_MAX = 0.005
# More than descriptors ever change in one place.
_GENERATIONS = 1 << 32


def _open_sockets(wanted: EngineConfig) -> tuple[Udp, EngineConfig]:
    """With the configuration that was possible."""
    config = fit_interface(wanted, list_links())
    try:
        return Udp(config), config
    except NoMulticast as problem:
        log.warning("everything goes by unicast: %s", problem.described)
    config = replace(config, multicast=False)
    return Udp(config), config


class Engine(Node):
    """A running node on the network. Use `Engine.open`; `close` departs cleanly."""

    def __init__(
        self,
        udp: Udp,
        config: EngineConfig,
        wanted: EngineConfig,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        # As it is, and as somebody wanted it.
        self.config = config
        self.wanted = wanted
        # Called when there are other descriptors, while the old ones are still open.
        self.on_sockets: Callable[[], None] | None = None
        # Called before the descriptors are closed, by whoever watches them.
        self.on_closing: Callable[[], None] | None = None
        self._udp = udp
        self._core = udp.core
        self._clock = clock
        self._events = binding_events.EventBuffer(_PIECE_EVENTS_MAX)
        self._piece_events = 128
        self._depth = 0
        self._moves = 0
        self._health_waiters: list[asyncio.Future[Health]] = []
        self._mind_line()

    @classmethod
    def open(cls, config: EngineConfig | None = None) -> Engine:
        """Opens sockets and starts; raises an EnvironmentRefused that says what to do. Where there
        is no multicast it is opened without, and `config` says so."""
        wanted = config or EngineConfig()
        return cls(*_open_sockets(wanted), wanted)

    def __repr__(self) -> str:
        return f"<Engine {self.node:016x} {self.health.name.lower()} in {self.config.scope.name}>"

    # For the loop

    def step(self, budget_s: float = STEP_BUDGET_S) -> bool:
        """Works for about `budget_s` seconds; whether there is more to do at once."""
        self._open_core()
        if self.pulling:
            raise WrongMoment("A feed that is being asked cannot step the engine.")
        until_s = self._clock() + budget_s
        self._depth += 1
        try:
            self._pulled.clear()
            more = self._udp.step(int(budget_s * _NATIVE_SHARE * 1e9))
            self.after_native()
            return self._hand_out_until(until_s) or more
        finally:
            self._depth -= 1
            if self._depth == 0 and self._core is not None and self.loans_returned():
                self._core.release()

    def _hand_out_until(self, until_s: float) -> bool:
        """Fetches and hands out until the time is over; whether events are left."""
        self.hand_out()
        while self._core is not None:
            asked = self._piece_events
            started_s = self._clock()
            events = self._events.fetch(self._core, asked)
            if events.count:
                self.take(events)
                self.hand_out()
            if events.count < asked:
                return False
            now_s = self._clock()
            self._fit_piece(now_s - started_s, until_s - started_s)
            if now_s >= until_s:
                return True
        return False

    def _fit_piece(self, took_s: float, left_s: float) -> None:
        if took_s > left_s:
            self._piece_events = max(_PIECE_EVENTS_MIN, self._piece_events // 2)
        elif took_s < left_s / 4:
            self._piece_events = min(_PIECE_EVENTS_MAX, self._piece_events * 2)

    @property
    def deadline_s(self) -> float:
        """When the next step is due, on the monotonic clock; infinity when nothing is."""
        if self._core is None:
            return math.inf
        wait_ns = self._udp.wait_ns
        return math.inf if wait_ns == binding.NEVER_NS else self._clock() + wait_ns / 1e9

    def descriptors(self) -> tuple[int, tuple[int, ...]]:
        """What to watch for reading, after a number that grows with each change."""
        self._open_core()
        generation, listed = self._udp.descriptors()
        return generation + self._moves * _GENERATIONS, listed

    @property
    def wants_write(self) -> bool:
        """Whether the last step met a full socket, so that it must be tried again soon."""
        return self._core is not None and self._udp.wants_write

    # For people and tools

    def info(self) -> UdpInfo:
        """Interface, addresses and what the system allowed."""
        self._open_core()
        return self._udp.info()

    def add_peer(self, peer: Peer) -> None:
        """Tells of an engine that may be of this scope: it is asked at once, and kept as one of the
        known peers, the latest eight."""
        core = self._open_core()
        if self.pulling:
            raise WrongMoment("A feed that is being asked cannot tell of a peer: do it later.")
        core.add_peer(peer)
        others = [known for known in self.wanted.known_peers if known != peer]
        self.wanted = replace(self.wanted, known_peers=(peer, *others)[:KNOWN_PEERS_MAX])
        self.wake()

    async def ready(self) -> Health:
        """Waits until this engine has been admitted to its scope."""
        while not self.health.admitted:
            self._open_core()
            waiter: asyncio.Future[Health] = asyncio.get_running_loop().create_future()
            self._health_waiters.append(waiter)
            await waiter
        return self.health

    def _hand_out_health(self, change: HealthChanged) -> None:
        super()._hand_out_health(change)
        self._wake_health_waiters()

    def _wake_health_waiters(self) -> None:
        waiters, self._health_waiters = self._health_waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(self.health)

    def move(self) -> None:
        """Opens new sockets, as was wanted and as the interfaces are now, and joins its groups
        again there: to the others somebody goes and somebody new comes. What was sent and not
        acknowledged may be lost. Raises an EnvironmentRefused, and stays as it is, where that is
        not possible."""
        core, old, loans = self._open_core(), self._udp, self._loans
        if self._depth or self.pulling or self._departing:
            raise WrongMoment("An engine that works or is closing cannot move: do it later.")
        key = self._scope_keys.used or self.wanted.scope.key
        scope = replace(self.wanted.scope, key=key)
        self._udp, self.config = _open_sockets(replace(self.wanted, scope=scope))
        self._moves += 1
        self.begin_again(self._udp.core)
        self._mind_line()
        core.close(old.now_ns)
        old.step(0)  # Whoever can be reached from the old place is told.
        if self.on_sockets is not None:
            self.on_sockets()
        self._free(old, loans)
        self.wake()

    def _mind_line(self) -> None:
        self.prefer_unicast(prefers_unicast(self.wanted, self.info().interface, list_links()))

    def _free(self, udp: Udp, loans: Loans) -> None:
        if loans.returned():
            udp.close()
        else:
            # Its memory is read by whoever kept a view: lost memory is better than freed memory.
            self.report(ViewKept("The engine could not be freed, since deliveries were kept."))

    # Ending

    def depart(self) -> None:
        """Begins a clean departure; step on until the health is CLOSED, then `destroy`."""
        self._open_core()
        self.begin_departure(self._udp.now_ns)

    async def close(self, bound_s: float = CLOSE_BOUND_S) -> bool:
        """Departs cleanly within a bound, then destroys; whether the others were told in time."""
        if self._core is None:
            return True
        self.depart()
        until_s = self._clock() + bound_s
        while self._departure_goes_on(until_s):  # noqa: ASYNC110 - it steps the engine each time
            await asyncio.sleep(self._close_wait_s())
        return self._departed()

    def close_blocking(self, bound_s: float = CLOSE_BOUND_S) -> bool:
        """The same where no event loop runs (any more)."""
        if self._core is None:
            return True
        self.depart()
        until_s = self._clock() + bound_s
        while self._departure_goes_on(until_s):
            time.sleep(self._close_wait_s())
        return self._departed()

    def _departure_goes_on(self, until_s: float) -> bool:
        if self.health is not Health.CLOSED:
            self.step()
        return self.health is not Health.CLOSED and self._clock() < until_s

    def _close_wait_s(self) -> float:
        return min(max(self.deadline_s - self._clock(), 0.0), _CLOSE_WAIT_S_MAX)

    def _departed(self) -> bool:
        clean = self.health is Health.CLOSED
        self.destroy()
        return clean

    def destroy(self) -> None:
        """Closes sockets and frees everything at once; without `close` the others see a crash."""
        if self._core is None:
            return
        if self._depth:
            raise WrongMoment("A callback cannot destroy the engine that calls it: close it later.")
        if self.on_closing is not None:
            self.on_closing()
        self._last_node = self._core.node
        self._core = None
        self.end_groups(Closed("The engine has been closed: open a new one."))
        self._wake_health_waiters()
        self._free(self._udp, self._loans)
