"""Owns a proxy: one object's part on this node, with its endpoints, its event queue and its life.

A proxy that raises is stopped, and nothing else: its connections end, so its neighbours are told by
disconnect events, and the person gets a notice.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from liveobj.errors import told
from liveobj.observers import Observers, Subscription
from liveobj.runtime.endpoints import ExternalEndpoint, InternalEndpoint
from liveobj.runtime.errors import Notice, WrongMoment
from liveobj.runtime.life_cycle import ProxyState, Stimulus, next_state
from liveobj.types import ObjectType

if TYPE_CHECKING:
    from liveobj.runtime.runtime import Runtime

log = logging.getLogger(__name__)


class Proxy:
    """Common to all kinds; how one starts and stops is its subclass's business. Lives as long as
    there are references to it (`ProxyReference`)."""

    def __init__(self, runtime: Runtime, name: str, type_: ObjectType) -> None:
        self.name = name
        self.type = type_
        self.state = ProxyState.CREATED
        self.problem = ""
        self.runtime = runtime
        self._references = 0
        self._tasks: deque[Callable[[], None]] = deque()
        self._observers: Observers[Proxy] = Observers()

    # For subclasses

    def do_start(self) -> None:
        """Begins; calls `started` now or later."""
        raise NotImplementedError

    def do_stop(self) -> None:
        """Releases everything; called once, also after a failure."""

    def do_sleep(self) -> None:
        """Nobody looks."""

    def do_hibernate(self) -> None:
        """Nobody has looked for long: lets go of what costs others something."""

    def do_wake(self) -> None:
        """Somebody looks again."""

    def internal_endpoint(self, name: str) -> InternalEndpoint | None:
        raise NotImplementedError

    # Life

    def enter(self, stimulus: Stimulus) -> None:
        self.state = next_state(self.state, stimulus)
        self._observers.notify(self)

    def start(self) -> None:
        self._guarded(self.do_start)

    def started(self) -> None:
        self.enter(Stimulus.START)

    def sleep(self) -> None:
        if self.state is ProxyState.RUNNING:
            self.enter(Stimulus.SLEEP)
            self._guarded(self.do_sleep)

    def hibernate(self) -> None:
        if self.state is ProxyState.ASLEEP:
            self._guarded(self.do_hibernate)

    def wake(self) -> None:
        if self.state is ProxyState.ASLEEP:
            self.enter(Stimulus.WAKE)
            self._guarded(self.do_wake)

    def fail(self, problem: str, cause: BaseException | None = None) -> None:
        """Stops this proxy and tells the person; the others go on."""
        if self.state in (ProxyState.FAILED, ProxyState.DISPOSED):
            return
        log.error("%s has failed: %s", self.name, problem, exc_info=cause)
        self.problem = problem
        self.enter(Stimulus.FAIL)
        self._end()
        self.runtime.tell(Notice(self.name, problem, serious=True))

    def dispose(self) -> None:
        if self.state is ProxyState.DISPOSED:
            return
        had_ended = self.state is ProxyState.FAILED
        self.enter(Stimulus.DISPOSE)
        if not had_ended:
            self._end()

    def _end(self) -> None:
        self._tasks.clear()
        for name in self.type.endpoints:
            internal = self.internal_endpoint(name)
            if internal is not None and internal.connection is not None:
                internal.connection.dispose()
        self._tasks.clear()
        try:
            self.do_stop()
        except Exception:
            log.exception("%s did not stop cleanly", self.name)

    def _guarded(self, action: Callable[[], None]) -> bool:
        """Runs the object's own code; what it raises is its end and nobody else's."""
        try:
            action()
        except Exception as problem:
            self.fail(told(problem), problem)
            return False
        return True

    # Events

    def enqueue(self, task: Callable[[], None]) -> None:
        if self.state in (ProxyState.FAILED, ProxyState.DISPOSED):
            return
        self._tasks.append(task)
        self.runtime.wake_queue(self)

    def run_tasks(self, count_max: int) -> int:
        """Handles up to `count_max` events; returns how many."""
        done = 0
        while self._tasks and done < count_max:
            done += 1
            if not self._guarded(self._tasks.popleft()):
                break
        return done

    @property
    def has_tasks(self) -> bool:
        return bool(self._tasks)

    # For users

    def endpoint(self, name: str) -> ExternalEndpoint:
        if not self.state.alive:
            raise WrongMoment(f"{self.name} is {self.state.value}: it has no endpoints now.")
        type_ = self.type.endpoints.get(name)
        internal = self.internal_endpoint(name)
        if type_ is None or internal is None:
            known = ", ".join(f"'{n}'" for n in self.type.endpoints) or "none"
            raise WrongMoment(f"{self.name} has no endpoint '{name}'; it has {known}.")
        return internal.external.seen_as(type_)

    def observe(self, callback: Callable[[Proxy], None]) -> Subscription:
        """Calls back after the state has changed."""
        return self._observers.observe(callback)

    def acquire(self) -> ProxyReference:
        self._references += 1
        return ProxyReference(self)

    def release(self) -> None:
        self._references -= 1
        if self._references == 0:
            self.dispose()
            self.runtime.forget(self)


class ProxyReference:
    """Controls the life of a proxy: it is disposed with the last reference to it."""

    __slots__ = ("_closed", "proxy")

    def __init__(self, proxy: Proxy) -> None:
        self.proxy = proxy
        self._closed = False

    @property
    def state(self) -> ProxyState:
        return self.proxy.state

    @property
    def type(self) -> ObjectType:
        return self.proxy.type

    @property
    def instance(self) -> Any:
        """The instance of the declared class, where the proxy runs one; for those who show it."""
        return getattr(self.proxy, "instance", None)

    def endpoint(self, name: str) -> ExternalEndpoint:
        return self.proxy.endpoint(name)

    def again(self) -> ProxyReference:
        """Another reference to the same proxy."""
        if self._closed:
            raise WrongMoment("This reference is closed.")
        return self.proxy.acquire()

    def when_settled(self, callback: Callable[[Proxy], None]) -> Subscription:
        """Calls back once, when the proxy runs, has failed or is disposed: at once if it does."""
        waiting = (ProxyState.CREATED, ProxyState.CONNECTING)
        if self.proxy.state not in waiting:
            callback(self.proxy)
            return Subscription(lambda: None)

        def look(proxy: Proxy) -> None:
            if proxy.state not in waiting:
                subscription.close()
                callback(proxy)

        subscription = self.proxy.observe(look)
        return subscription

    def close(self) -> None:
        """Harmless when done twice."""
        if not self._closed:
            self._closed = True
            self.proxy.release()

    def __enter__(self) -> ProxyReference:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ObjectProxy(Proxy):
    """Runs an instance of a declared class."""

    def __init__(
        self,
        runtime: Runtime,
        name: str,
        type_: ObjectType,
        make: Callable[[ObjectProxy], tuple[Any, Mapping[str, InternalEndpoint]]],
    ) -> None:
        super().__init__(runtime, name, type_)
        self._make = make
        self._endpoints: Mapping[str, InternalEndpoint] = {}
        self._started = False
        self.instance: Any = None

    def do_start(self) -> None:
        self.instance, self._endpoints = self._make(self)
        self._call("on_start")
        self._started = True
        self.started()

    def do_stop(self) -> None:
        if self._started:
            self._started = False
            self._call("on_stop")

    def do_sleep(self) -> None:
        self._call("on_sleep")

    def do_hibernate(self) -> None:
        self._call("on_hibernate")

    def do_wake(self) -> None:
        self._call("on_wake")

    def _call(self, name: str) -> None:
        hook = getattr(self.instance, name, None)
        if hook is not None:
            hook()

    def internal_endpoint(self, name: str) -> InternalEndpoint | None:
        return self._endpoints.get(name)
