"""Owns the making of proxies from references, their turns, and what they share on this node."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from liveobj.declare import (
    DECLARATIONS,
    DeclarationError,
    Declarations,
    ObjectDeclaration,
    reflect_endpoint,
    reflect_object,
)
from liveobj.declare.hints import apply, why_not_conforming
from liveobj.declare.objects import CONTEXT
from liveobj.declare.wrappers import Back, make_front
from liveobj.host import Host, TimerHandle
from liveobj.observers import Observers, Subscription
from liveobj.references import (
    Composite,
    External,
    Fingerprint,
    Parameterized,
    Reference,
    Value,
)
from liveobj.references.checking import Checked, check
from liveobj.runtime.composite import CompositeProxy
from liveobj.runtime.connections import Connection, connect
from liveobj.runtime.context import Context, Lease, Resources
from liveobj.runtime.endpoints import ExternalEndpoint, InternalEndpoint
from liveobj.runtime.errors import CannotDereference, Notice
from liveobj.runtime.external import ExternalProxy
from liveobj.runtime.foreign import ForeignProxy
from liveobj.runtime.proxy import ObjectProxy, Proxy, ProxyReference
from liveobj.runtime.repositories import Repositories
from liveobj.types import Named, ObjectType, is_object_subtype
from transport.sentences import worded

log = logging.getLogger(__name__)

TASKS_PER_TURN_MAX = 1000
# A proxy that nobody has looked at for this long leaves its groups (thesis 6.1.4).
HIBERNATE_AFTER_S = 300.0
CHAIN_LENGTH_MAX = 32

Face = TypeVar("Face")


@dataclass(frozen=True, slots=True)
class Chain:
    """What is being dereferenced at the moment, outermost first; by it a circle is noticed."""

    entries: tuple[Fingerprint, ...] = ()
    depth: int = 0

    def entered(self, identity: Fingerprint, name: str) -> Chain:
        if identity in self.entries:
            raise CannotDereference(
                worded(
                    "{name} refers to itself, over {count} steps.",
                    name=name,
                    count=len(self.entries),
                )
            )
        return Chain((*self.entries, identity), self.depth).deeper()

    def deeper(self) -> Chain:
        if self.depth >= CHAIN_LENGTH_MAX:
            raise CannotDereference(
                worded("More than {most} objects are inside each other.", most=CHAIN_LENGTH_MAX)
            )
        return Chain(self.entries, self.depth + 1)


class Client:
    """Owner of endpoints that were made by a user of proxies, such as a window."""

    def __init__(self, runtime: Runtime, name: str) -> None:
        self._runtime = runtime
        self.name = name

    def enqueue(self, task: Callable[[], None]) -> None:
        self._runtime.enqueue_for_client(task)


class Runtime:
    """One for each program. Everything happens in turns on the host's scheduler."""

    def __init__(self, host: Host, declarations: Declarations = DECLARATIONS) -> None:
        self.host = host
        self.declarations = declarations
        self.resources = Resources()
        # Leases whose proxies have ended before what they hold could be closed.
        self.kept: set[Lease] = set()
        self.repositories = Repositories(self)
        self._proxies: set[Proxy] = set()
        self._waiting: OrderedDict[Proxy, None] = OrderedDict()
        self._client_tasks: list[Callable[[], None]] = []
        self._turn: TimerHandle | None = None
        self._sleepers: dict[Proxy, TimerHandle] = {}
        self._notices: Observers[Notice] = Observers()

    # References

    def cast(self, reference: ProxyReference, cls: type) -> ProxyReference:
        """The same proxy seen as one of a declared type; raises CannotDereference with reasons."""
        wanted = reflect_object(cls).type
        verdict = is_object_subtype(reference.type, wanted)
        if not verdict:
            words = " ".join(verdict.sentences(reference.proxy.name, cls.__name__))
            raise CannotDereference(
                worded(
                    "{name} is not a {kind}. {words}",
                    name=reference.proxy.name,
                    kind=cls.__name__,
                    words=words,
                )
            )
        return reference.again()

    def dereference(self, reference: Reference) -> ProxyReference:
        """Starts a proxy. It runs when this returns, or is still CONNECTING if others have to be
        asked first; raises CannotDereference, and nothing has started, if the reference is
        wrong."""
        checked = check(reference, self.declarations)
        problems = checked.problems
        if problems:
            raise CannotDereference(" ".join(problem.sentence for problem in problems))
        return self.make(reference, Chain((checked.fingerprint,)))

    def make(self, reference: Reference, chain: Chain, *, name: str = "") -> ProxyReference:
        """Starts a proxy, for those who have checked already, or who contain failure themselves."""
        checked = check(reference, self.declarations)
        proxy = self._make_proxy(checked, chain)
        if name:
            proxy.name = name
        self._proxies.add(proxy)
        made = proxy.acquire()
        problems = checked.problems
        if problems:
            proxy.fail(" ".join(problem.sentence for problem in problems))
        else:
            proxy.start()
        return made

    def _make_proxy(self, checked: Checked, chain: Chain) -> Proxy:
        reference = checked.reference
        type_ = checked.type or ObjectType()
        match reference:
            case Composite():
                return CompositeProxy(self, reference, type_, chain)
            case External():
                return ExternalProxy(self, reference, type_, chain)
        declaration = checked.declaration
        name = f"'{_title(reference) or (declaration.title if declaration else 'an object')}'"
        if declaration is not None and declaration.elsewhere is not None:
            return ForeignProxy(self, name, type_, declaration.elsewhere, reference)

        def make(proxy: ObjectProxy) -> tuple[Any, Mapping[str, InternalEndpoint]]:
            if declaration is None:
                raise CannotDereference(worded("Its template is not known here."))
            return self._instantiate(proxy, declaration, reference, type_)

        return ObjectProxy(self, name, type_, make)

    def _instantiate(
        self,
        proxy: ObjectProxy,
        declaration: ObjectDeclaration,
        reference: Reference,
        type_: ObjectType,
    ) -> tuple[Any, Mapping[str, InternalEndpoint]]:
        """Makes the object with its endpoints in place before its constructor runs."""
        instance: Any = object.__new__(declaration.cls)
        context = Context(self, reference, lambda sentence: self._object_notice(proxy, sentence))
        setattr(instance, CONTEXT, context)
        endpoints: dict[str, InternalEndpoint] = {}
        for name, endpoint in declaration.endpoints.items():
            signatures = Named(
                {event: declaration.handlers[f"{name}.{event}"] for event in endpoint.type.incoming}
            )
            handlers = {
                event: getattr(instance, f"on_{name}_{event}") for event in endpoint.type.incoming
            }
            internal = InternalEndpoint(
                proxy,
                name,
                type_.endpoints.get(name, endpoint.type),
                Back(signatures, handlers),
                on_connected=getattr(instance, f"on_{name}_connected", None),
                on_disconnected=getattr(instance, f"on_{name}_disconnected", None),
            )
            endpoints[name] = internal
            setattr(instance, name, make_front(endpoint, internal.send))
        instance.__init__(**self._arguments(declaration, reference))
        return instance, endpoints

    def _arguments(self, declaration: ObjectDeclaration, reference: Reference) -> dict[str, Any]:
        if not isinstance(reference, Parameterized):
            return {}
        values: dict[str, Any] = {}
        for name, parameter in declaration.parameters.items():
            argument = reference.arguments.get(name)
            if argument is None:
                continue
            plain = argument.data if isinstance(argument, Value) else argument
            problem = why_not_conforming(plain, parameter.conversion.type)
            if problem is not None:
                raise CannotDereference(
                    worded(
                        "The parameter '{name}' does not fit: {reason}.", name=name, reason=problem
                    )
                )
            values[name] = apply(parameter.conversion.from_plain, plain)
        return values

    # Endpoints and connections

    def new_endpoint(self, cls: Any, handler: object, name: str = "a window") -> InternalEndpoint:
        """An endpoint of one's own: `handler` has a method for each incoming event of `cls`,
        spelled as there, and may have `connected` and `disconnected`. `Dual[Channel]` faces a
        Channel."""
        declaration = reflect_endpoint(cls)
        missing = [e for e in declaration.type.incoming if not hasattr(handler, e)]
        if missing:
            raise DeclarationError(f"{handler!r} has no method {', '.join(missing)}.")
        handlers = {event: getattr(handler, event) for event in declaration.type.incoming}
        return InternalEndpoint(
            Client(self, name),
            declaration.cls.__name__,
            declaration.type,
            Back(declaration.signatures, handlers),
            on_connected=getattr(handler, "connected", None),
            on_disconnected=getattr(handler, "disconnected", None),
        )

    def face(self, endpoint: InternalEndpoint, cls: type[Face]) -> Face:
        """The outgoing events of one's own endpoint, as methods of its class."""
        front: Face = make_front(reflect_endpoint(cls), endpoint.send)
        return front

    def connect(self, first: ExternalEndpoint, second: ExternalEndpoint) -> Connection:
        return connect(first, second)

    # Turns

    def wake_queue(self, proxy: Proxy) -> None:
        self._waiting[proxy] = None
        self._schedule()

    def enqueue_for_client(self, task: Callable[[], None]) -> None:
        self._client_tasks.append(task)
        self._schedule()

    def _schedule(self) -> None:
        if self._turn is None:
            self._turn = self.host.scheduler.call_later(0, self._on_turn)

    def _on_turn(self) -> None:
        self._turn = None
        self.run_pending()
        if self._waiting or self._client_tasks:
            self._schedule()

    def run_pending(self, tasks_max: int = TASKS_PER_TURN_MAX) -> int:
        """Handles queued events, each proxy in its turn; returns how many there were."""
        done = 0
        while (self._waiting or self._client_tasks) and done < tasks_max:
            tasks, self._client_tasks = self._client_tasks, []
            for task in tasks:
                done += 1
                _run_client_task(task)
            if self._waiting:
                proxy, _ = self._waiting.popitem(last=False)
                done += proxy.run_tasks(16)
                if proxy.has_tasks:
                    self._waiting[proxy] = None
        return done

    # Sleep

    def sleep(self, reference: ProxyReference) -> None:
        """Nobody looks at this object for now; after a while it also leaves its groups."""
        proxy = reference.proxy
        if proxy in self._sleepers:
            return
        proxy.sleep()
        timer = self.host.scheduler.call_later(HIBERNATE_AFTER_S, lambda: self._hibernate(proxy))
        self._sleepers[proxy] = timer

    def _hibernate(self, proxy: Proxy) -> None:
        self._sleepers.pop(proxy, None)
        proxy.hibernate()

    def wake(self, reference: ProxyReference) -> None:
        timer = self._sleepers.pop(reference.proxy, None)
        if timer is not None:
            timer.cancel()
        reference.proxy.wake()

    # The rest

    def on_notice(self, callback: Callable[[Notice], None]) -> Subscription:
        return self._notices.observe(callback)

    def tell(self, notice: Notice) -> None:
        self._notices.notify(notice)

    def _object_notice(self, proxy: Proxy, sentence: str) -> None:
        self.tell(Notice(proxy.name, sentence, serious=False))

    def forget(self, proxy: Proxy) -> None:
        self._proxies.discard(proxy)
        self._waiting.pop(proxy, None)
        timer = self._sleepers.pop(proxy, None)
        if timer is not None:
            timer.cancel()

    @property
    def proxies(self) -> frozenset[Proxy]:
        return frozenset(self._proxies)

    def close(self) -> None:
        """Ends everything that still runs."""
        self.repositories.close()
        for proxy in list(self._proxies):
            proxy.dispose()
        self._proxies.clear()
        while self.kept:
            self.kept.pop().close()
        self._waiting.clear()
        if self._turn is not None:
            self._turn.cancel()
            self._turn = None
        for timer in self._sleepers.values():
            timer.cancel()
        self._sleepers.clear()


def _title(reference: Reference) -> str:
    if isinstance(reference, Parameterized):
        title = reference.arguments.get("title")
        if isinstance(title, Value) and isinstance(title.data, str):
            return title.data[:60]
    return ""


def _run_client_task(task: Callable[[], None]) -> None:
    try:
        task()
    except Exception:
        log.exception("a user of objects failed on an event")
