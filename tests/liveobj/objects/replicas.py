"""Several replicas of one object in the simulator, each with a user who writes down what is
told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from liveobj.declare import reflect_endpoint
from liveobj.objects.catalogue import DECLARED
from liveobj.references import Reference
from liveobj.runtime import ProxyReference, Runtime
from liveobj.runtime.endpoints import InternalEndpoint
from tests.liveobj.simulated import SimulatedOffice
from transport.simulation import Link

assert DECLARED


class User:
    """Connected to one endpoint: keeps the events, sends by name."""

    def __init__(self, runtime: Runtime, proxy: ProxyReference, name: str, dual: Any) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        for event in reflect_endpoint(dual).type.incoming:
            setattr(self, event, self._keeper(event))
        self._endpoint: InternalEndpoint = runtime.new_endpoint(dual, self)
        runtime.connect(self._endpoint.external, proxy.endpoint(name))

    def _keeper(self, event: str) -> Any:
        def keep(**record: Any) -> None:
            self.events.append((event, record))

        return keep

    def send(self, event: str, **record: Any) -> None:
        self._endpoint.send(event, record)

    def last(self, event: str) -> dict[str, Any]:
        return next((record for name, record in reversed(self.events) if name == event), {})

    def all(self, event: str) -> list[dict[str, Any]]:
        return [record for name, record in self.events if name == event]


class Replicas(SimulatedOffice):
    """Opens one reference on every node."""

    def __init__(
        self, folder: Path, reference: Reference, nodes: int, seed: int = 1, loss: float = 0.0
    ) -> None:
        super().__init__(folder, nodes, seed, Link(loss=loss))
        self.reference = reference
        self.runtimes = [Runtime(host) for host in self.hosts]
        self.proxies = [runtime.dereference(reference) for runtime in self.runtimes]

    def join(self) -> int:
        """A node that comes late; returns its number."""
        self.runtimes.append(Runtime(self.add()))
        self.proxies.append(self.runtimes[-1].dereference(self.reference))
        return len(self.proxies) - 1

    def meet(self) -> None:
        """Until all replicas of an object that has a channel of messages are in one view."""

        def together() -> bool:
            views = [proxy.instance._channel.view for proxy in self.proxies]
            return all(view is not None and len(view.members) == len(views) for view in views)

        self.until(together)

    def user(self, number: int, name: str, dual: Any) -> User:
        return User(self.runtimes[number], self.proxies[number], name, dual)

    def users(self, name: str, dual: Any) -> list[User]:
        return [self.user(number, name, dual) for number in range(len(self.proxies))]
