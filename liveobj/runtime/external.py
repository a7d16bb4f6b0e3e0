"""Owns proxies of external references: the asking of a folder, and the proxy of what it has
named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from liveobj.observers import Subscription
from liveobj.references import External, Reference, fingerprint
from liveobj.runtime.connections import Connection, connect
from liveobj.runtime.endpoints import InternalEndpoint
from liveobj.runtime.life_cycle import ProxyState, Stimulus
from liveobj.runtime.proxy import Proxy, ProxyReference
from liveobj.types import ObjectType, is_object_subtype
from liveobj.types.objects import dual

if TYPE_CHECKING:
    from liveobj.declare.wrappers import PlainEvent
    from liveobj.runtime.runtime import Chain, Runtime

# How long a folder may take to answer before the person is told that it does not.
ANSWER_TIMEOUT_S = 30.0


class ExternalProxy(Proxy):
    """Asks, then stands for what it was given."""

    def __init__(
        self, runtime: Runtime, reference: External, type_: ObjectType, chain: Chain
    ) -> None:
        super().__init__(runtime, f"'{reference.name}'", type_)
        self._reference = reference
        self._chain = chain
        self._folder: ProxyReference | None = None
        self._inner: ProxyReference | None = None
        self._asking: InternalEndpoint | None = None
        self._connection: Connection | None = None
        self._waits: list[Subscription] = []

    def do_start(self) -> None:
        self.enter(Stimulus.CONNECT)
        known = self.runtime.repositories.find(self._reference)
        if known is not None:
            self._use(known)
            return
        self._folder = self.runtime.repositories.open_folder(self._reference.folder, self._chain)
        self._waits.append(self._folder.when_settled(self._on_folder))
        timer = self.runtime.host.scheduler.call_later(ANSWER_TIMEOUT_S, self._on_timeout)
        self._waits.append(Subscription(timer.cancel))

    def _on_folder(self, folder: Proxy) -> None:
        if not folder.state.alive:
            self.fail(f"The folder that {self.name} is asked from cannot be used. {folder.problem}")
            return
        endpoint = folder.endpoint("folder")
        self._asking = InternalEndpoint(self, "folder", dual(endpoint.type), self._on_answer)
        self._guarded(self._ask)

    def _ask(self) -> None:
        assert self._asking is not None, "made when the folder came"
        assert self._folder is not None, "held until the answer"
        self._connection = connect(self._asking.external, self._folder.endpoint("folder"))
        self._connection.on_disconnect(self._on_disconnect)
        self._asking.send("get", {"name": self._reference.name})

    def _on_answer(self, event: str, record: PlainEvent) -> None:
        if record["name"] != self._reference.name or self._inner is not None:
            return
        if event == "missing":
            self.fail(f"There is no {self.name} in the folder that it is asked from.")
            return
        self._use(record["reference"])

    def _on_disconnect(self, _connection: Connection) -> None:
        if self._inner is None and self.state is ProxyState.CONNECTING:
            self.fail(f"The folder that {self.name} is asked from has gone away.")

    def _on_timeout(self) -> None:
        if self.state is ProxyState.CONNECTING and self._inner is None:
            self.fail(f"The folder that {self.name} is asked from does not answer.")

    def _use(self, found: Reference) -> None:
        """Thesis 2.1.5 B: what was retrieved must be of a subtype of what was announced."""
        self._inner = self.runtime.make(found, self._chain.entered(fingerprint(found), self.name))
        self._let_go_of_folder()
        # Before anybody is told that it runs: they may ask what it is.
        self.runtime.repositories.remember(self._reference, found)
        self._waits.append(self._inner.when_settled(self._on_inner))

    def _on_inner(self, inner: Proxy) -> None:
        if not inner.state.alive:
            self.fail(f"{self.name} was found, but cannot be run. {inner.problem}")
            return
        verdict = is_object_subtype(inner.type, self.type)
        if not verdict:
            words = " ".join(verdict.sentences("what was found", "what was announced"))
            self.runtime.repositories.forget(self._reference)
            self.fail(f"{self.name} is not what it should be. {words}")
            return
        self.started()

    def internal_endpoint(self, name: str) -> InternalEndpoint | None:
        return None if self._inner is None else self._inner.proxy.internal_endpoint(name)

    def do_sleep(self) -> None:
        if self._inner is not None:
            self._inner.proxy.sleep()

    def do_hibernate(self) -> None:
        if self._inner is not None:
            self._inner.proxy.hibernate()

    def do_wake(self) -> None:
        if self._inner is not None:
            self._inner.proxy.wake()

    def _let_go_of_folder(self) -> None:
        for wait in self._waits:
            wait.close()
        self._waits.clear()
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.dispose()
        folder, self._folder = self._folder, None
        if folder is not None:
            folder.close()

    def do_stop(self) -> None:
        self._let_go_of_folder()
        inner, self._inner = self._inner, None
        if inner is not None:
            inner.close()
