"""Owns one showing of a live object of any kind: what runs, its type, how it is, and its end.

An object whose state is a document is shown by `opening.py`. This is for all others, such as
channels, sensors and composites, and for those that have to be asked for first.
"""

from __future__ import annotations

from collections.abc import Callable

from liveobj.observers import Subscription
from liveobj.references import External, Fingerprint, Reference, fingerprint
from liveobj.references.summary import title_of
from liveobj.runtime import ProxyState, Runtime
from liveobj.types import ObjectType


class Showing:
    """A proxy that runs, or is on its way to. Attributes: `reference`, `identity`."""

    def __init__(self, runtime: Runtime, reference: Reference) -> None:
        """Raises a Problem, and nothing stays open, if it cannot be run."""
        self.reference = reference
        self.identity: Fingerprint = fingerprint(reference)
        self._runtime = runtime
        self._proxy = runtime.dereference(reference)

    @property
    def title(self) -> str:
        return title_of(self.reference) or self._proxy.proxy.name.strip("'")

    @property
    def state(self) -> ProxyState:
        return self._proxy.state

    @property
    def problem(self) -> str:
        """Why it has stopped; empty while it runs."""
        return self._proxy.proxy.problem

    @property
    def type(self) -> ObjectType:
        return self._proxy.type

    @property
    def found(self) -> Reference | None:
        """What an external reference turned out to refer to, once that is known."""
        reference: Reference | None = self.reference
        seen = 0
        while isinstance(reference, External) and seen < 32:
            reference = self._runtime.repositories.find(reference)
            seen += 1
        return reference if seen else None

    def endpoint_connected(self, name: str) -> bool:
        """Whether something on this computer is connected to one of its endpoints."""
        return self.state.alive and self._proxy.endpoint(name).connected

    def observe(self, callback: Callable[[], None]) -> Subscription:
        """Calls back when its state has changed."""
        return self._proxy.proxy.observe(lambda _: callback())

    def close(self) -> None:
        """Harmless when done twice."""
        self._proxy.close()
