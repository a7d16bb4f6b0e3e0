"""Owns the proxy of an object that runs elsewhere: its endpoints are here, its code is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from liveobj.references import Reference, write_reference
from liveobj.runtime.endpoints import InternalEndpoint
from liveobj.runtime.errors import Notice
from liveobj.runtime.life_cycle import Stimulus
from liveobj.runtime.proxy import Proxy
from liveobj.types import EndpointType, ObjectType

if TYPE_CHECKING:
    from liveobj.runtime.runtime import Runtime


class Elsewhere(Protocol):
    """Where objects run; `confinement.ConfinedProcess` is such a place."""

    def open(self, session: ForeignProxy, reference: bytes) -> int: ...

    def connected(self, number: int, endpoint: str, connected: bool) -> None: ...

    def send(self, number: int, endpoint: str, event: str, record: dict[str, Any]) -> None: ...

    def stop(self, number: int) -> None: ...


class ForeignProxy(Proxy):
    """Passes events on, both ways. What comes from there is checked against the endpoint's type, as
    anybody's events are; what does not conform is the end of this proxy."""

    def __init__(
        self, runtime: Runtime, name: str, type_: ObjectType, place: Elsewhere, of: Reference
    ) -> None:
        super().__init__(runtime, name, type_)
        self._place = place
        self._reference = of
        self._number = 0
        self._endpoints = {name: self._endpoint(name, e) for name, e in type_.endpoints.items()}

    def _endpoint(self, name: str, type_: EndpointType) -> InternalEndpoint:
        return InternalEndpoint(
            self,
            name,
            type_,
            lambda event, record: self._place.send(self._number, name, event, record),
            on_connected=lambda: self._place.connected(self._number, name, True),
            on_disconnected=lambda: self._place.connected(self._number, name, False),
        )

    def do_start(self) -> None:
        self.enter(Stimulus.CONNECT)
        # Without its secrets: a key is of no use where there is no network.
        self._number = self._place.open(self, write_reference(self._reference, secrets=False))

    def do_stop(self) -> None:
        self._place.stop(self._number)

    def internal_endpoint(self, name: str) -> InternalEndpoint | None:
        return self._endpoints.get(name)

    # What is said there

    def emitted(self, endpoint: str, event: str, record: dict[str, Any]) -> None:
        internal = self._endpoints.get(endpoint)
        if internal is None:
            self.fail(f"It spoke through an endpoint '{endpoint:.60}' that it does not have.")
        else:
            self._guarded(lambda: internal.send(event, record))

    def noticed(self, sentence: str) -> None:
        self.runtime.tell(Notice(self.name, sentence, serious=False))

    def failed(self, sentence: str) -> None:
        self.fail(sentence)
