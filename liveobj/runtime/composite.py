"""Owns composite proxies: their parts, the connections between them, and the endpoints they
export."""

from __future__ import annotations

from typing import TYPE_CHECKING

from liveobj.references import Composite, Port
from liveobj.runtime.connections import Connection, connect
from liveobj.runtime.endpoints import ExternalEndpoint, InternalEndpoint
from liveobj.runtime.errors import CannotConnect
from liveobj.runtime.life_cycle import ProxyState, Stimulus
from liveobj.runtime.proxy import Proxy, ProxyReference
from liveobj.types import ObjectType

if TYPE_CHECKING:
    from liveobj.runtime.runtime import Chain, Runtime


class CompositeProxy(Proxy):
    """Runs its parts side by side. They live and die with it, like fields of an object; a part that
    fails later is missed by its neighbours, who are told, and the rest goes on."""

    def __init__(
        self, runtime: Runtime, reference: Composite, type_: ObjectType, chain: Chain
    ) -> None:
        super().__init__(runtime, "a composite object", type_)
        self._reference = reference
        self._chain = chain
        self._parts: dict[str, ProxyReference] = {}
        self._connections: list[Connection] = []
        self._exports = {export.name: export.port for export in reference.exports}

    def do_start(self) -> None:
        self.enter(Stimulus.CONNECT)
        for name, part in self._reference.components.items():
            self._parts[name] = self.runtime.make(part, self._chain.deeper(), name=f"'{name}'")
        if not self._reference.components:
            self.started()
        for reference in list(self._parts.values()):
            reference.when_settled(self._on_part)

    def _on_part(self, _part: Proxy) -> None:
        """When all parts have settled, connects them; if one could not begin, neither does this."""
        if self.state is not ProxyState.CONNECTING:
            return
        proxies = [reference.proxy for reference in self._parts.values()]
        if any(proxy.state in (ProxyState.CREATED, ProxyState.CONNECTING) for proxy in proxies):
            return
        lost = [proxy for proxy in proxies if not proxy.state.alive]
        if lost:
            words = " ".join(f"{proxy.name}: {proxy.problem}" for proxy in lost)
            self.fail(f"A part could not be started. {words}")
            return
        if self._guarded(self._connect):
            self.started()

    def _connect(self) -> None:
        for wanted in self._reference.connections:
            try:
                first, second = self._port(wanted.first), self._port(wanted.second)
                self._connections.append(connect(first, second))
            except CannotConnect as problem:
                raise CannotConnect(
                    f"The {wanted.first} and the {wanted.second} cannot be connected. {problem}"
                ) from None

    def _port(self, port: Port) -> ExternalEndpoint:
        return self._parts[port.component].endpoint(port.endpoint)

    def internal_endpoint(self, name: str) -> InternalEndpoint | None:
        port = self._exports.get(name)
        if port is None or port.component not in self._parts:
            return None
        return self._parts[port.component].proxy.internal_endpoint(port.endpoint)

    def part(self, name: str) -> ProxyReference:
        """The part of this name; for those who show it."""
        return self._parts[name]

    def do_sleep(self) -> None:
        for part in self._parts.values():
            part.proxy.sleep()

    def do_hibernate(self) -> None:
        for part in self._parts.values():
            part.proxy.hibernate()

    def do_wake(self) -> None:
        for part in self._parts.values():
            part.proxy.wake()

    def do_stop(self) -> None:
        for connection in self._connections:
            connection.dispose()
        self._connections.clear()
        for part in self._parts.values():
            part.close()
        self._parts.clear()
